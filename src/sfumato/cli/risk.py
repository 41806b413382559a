"""`sfumato risk`: how easily the records of a table can be matched with people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sfumato.cli._errors import DOES_NOT_HOLD
from sfumato.cli._options import (
    EngineArguments,
    Identifiers,
    Json,
    ReadingOptions,
    RoleOptions,
    Source,
    expand_option_groups,
    format_examples,
)
from sfumato.cli._output import color_verdict, print_json, printable, show_progress_bar
from sfumato.errors import InvalidParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.schema.schema import Schema
    from sfumato.tables.risk.assessment import RiskAssessment
    from sfumato.tables.risk.compliance import ComplianceReport

EXAMPLES = format_examples(
    "sfumato risk patients.csv --quasi age,zip,job",
    "sfumato risk patients.csv --recipe recipe.toml --population-size 80000 --json",
    "sfumato risk release/public/table.csv --recipe recipe.toml --population citizens.csv",
    "sfumato risk release/public/table.csv --recipe recipe.toml --preset ema",
    "sfumato risk 'census/*.parquet' --quasi age,zip,job --memory 4GB",
    "sfumato risk survey.csv --quasi age,region --weights weight --household house --threshold 0.05",
)
AMBIGUOUS = 0.09


@dataclass(frozen=True, kw_only=True)
class PopulationOptions:
    """What is known about the population that the records come from."""

    population: Annotated[
        str | None, typer.Option(metavar="FILE", help="The table of the whole population, with the same columns.")
    ] = None
    population_table: Annotated[
        str | None, typer.Option(metavar="NAME", help="The table of the population, if it is in a database.")
    ] = None
    population_size: Annotated[
        int | None, typer.Option(metavar="N", help="Or only the number of people in the population.")
    ] = None
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Or how many people each record stands for.")
    ] = None
    household: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that identifies households.")] = (
        None
    )

    def read_population(self) -> Any:
        """Return the population's table or its size."""
        if self.population is not None and self.population_size is not None:
            raise InvalidParameterError("Give --population or --population-size, not both.")
        if self.population is None:
            return self.population_size
        return ReadingOptions(table=self.population_table).read(self.population)

    def check_grouped(self) -> None:
        """Refuse columns that are looked up row by row."""
        from sfumato.tables.risk._record_groups import reject_row_options

        reject_row_options(**{"--weights": self.weights, "--household": self.household})


@expand_option_groups
def risk(
    *,
    file: Source,
    reading: ReadingOptions,
    described: RoleOptions,
    identifier: Identifiers = [],  # noqa: B006 - Typer copies it
    everybody: PopulationOptions,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="CHANCE",
            help="Fail if a record's risk exceeds this probability. Taken literally, 0.09 requires groups of 12; EMA "
            "and Health Canada mean 1/11: give --preset ema.",
        ),
    ] = None,
    preset: Annotated[
        Literal["ema", "hipaa", "wp216"] | None, typer.Option(help="Fail if this rule finds a problem.")
    ] = None,
    max_subset: Annotated[
        int, typer.Option(metavar="N", help="How many columns to combine for special uniques and separation.")
    ] = 3,
    engines: EngineArguments,
    json: Json = False,
) -> None:
    """Measure how easily the records of a table, raw or published, can be matched with people.

    A folder of Parquet files, or a pattern of some, may be larger than memory. Without --threshold or --preset nothing
    is judged, and the records with a risk above 1/11 are counted. Exit codes: 0 nothing fails, 1 the
    threshold or the preset fails, 2 bad request.
    """
    from sfumato.cli._recipe_options import split_names
    from sfumato.io._reading import as_written
    from sfumato.tables.risk._record_groups import count_records_in_engine
    from sfumato.tables.risk.assessment import risk_of_context

    promise = described.audit_request()
    published = "public" in Path(file).parts[-3:-1]
    remembered, resources = promise.conventions if published else promise.reading, engines.resources()
    named = [name for text in identifier for name in split_names(text)]
    schema = replace(promise.schema, identifiers=named) if named else promise.schema
    if resources.choose_engine(file, promise.schema.quasi_identifiers) == "memory":
        table = as_written(reading.load(file, remembered), file, schema.quasi_identifiers)
        found = _assess(table, schema, everybody, threshold, max_subset)
    else:
        everybody.check_grouped()
        evidence, rows = count_records_in_engine(resources, file, schema, reading.options_for(file, remembered))
        limit, people = _parse_threshold(threshold), everybody.read_population()
        found = risk_of_context(evidence, population=people, threshold=limit, max_subset=max_subset, rows_counted=rows)
    judgment = None if preset is None else found.check_compliance(preset)
    fails = (threshold is not None and not found.holds) or (judgment is not None and bool(judgment.failed))
    if json:
        print_json({"holds": not fails, "risk": found.to_dict(), "judgment": judgment and judgment.to_dict()})
    else:
        typer.echo("\n".join(_risk_lines(found, judgment, threshold)))
    if fails:
        raise typer.Exit(DOES_NOT_HOLD)


def _assess(
    table: pa.Table, schema: Schema, everybody: PopulationOptions, threshold: float | None, max_subset: int
) -> RiskAssessment:
    from sfumato.tables.risk.assessment import assess_risk

    population = everybody.read_population()
    with show_progress_bar("Assessing"):
        return assess_risk(
            table,
            schema,
            population=population,
            weights=everybody.weights,
            household=everybody.household,
            threshold=_parse_threshold(threshold),
            max_subset=max_subset,
        )


def _parse_threshold(threshold: float | None) -> float:
    from sfumato.tables.risk._attacker_models import DEFAULT_THRESHOLD

    return DEFAULT_THRESHOLD if threshold is None else threshold


def _risk_lines(found: RiskAssessment, judgment: ComplianceReport | None, threshold: float | None) -> Iterator[str]:
    yield from map(printable, repr(found).splitlines())
    if threshold is not None:
        said = color_verdict("holds" if found.holds else "DOES NOT HOLD", good=found.holds)
        by = "journalist" if found.basis == "counted" else "prosecutor"
        yield f"\nThreshold {threshold:g} (groups of at least {found.least_group}), by the {by}: {said}"
        if threshold == AMBIGUOUS:
            yield "EMA and Health Canada write 0.09 and mean 1/11, groups of at least 11: give --preset ema."
    if judgment is not None:
        yield ""
        yield from map(printable, repr(judgment).splitlines())
