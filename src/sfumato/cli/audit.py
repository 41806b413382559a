"""`sfumato audit`: audit a published table, whichever tool made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli._errors import DOES_NOT_HOLD
from sfumato.cli._options import (
    EngineArguments,
    Json,
    ReadingOptions,
    RecipeOptions,
    expand_option_groups,
    format_examples,
    stated_counterfeits,
)
from sfumato.cli._output import audit_lines, disclosure_risk_lines, level_lines, print_json, show_progress_bar
from sfumato.cli.series import SeriesAuditOptions, audit_series_files
from sfumato.errors import InvalidParameterError, ReadError, SchemaError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from sfumato.cli._recipe_options import AuditRequest
    from sfumato.io.formats import Option
    from sfumato.tables.audit._context import AuditContext
    from sfumato.tables.audit.audit import Audit
    from sfumato.tables.engines.options import EngineSelector
    from sfumato.tables.models.base import GroupModel
    from sfumato.tables.risk.disclosure import DisclosureRisk

EXAMPLES = format_examples(
    "sfumato audit release/public/table.csv --recipe recipe.toml",
    "sfumato audit release/public/table.csv --recipe recipe.toml --original patients.csv \\",
    "    --correspondence release/internal/correspondence.parquet",
    "sfumato audit theirs.csv --quasi age,zip --sensitive disease",
    "sfumato audit theirs.csv --quasi age,zip --k 10 --ignore-suppressed --json",
    "sfumato audit release/public/table.csv --recipe recipe.toml --original patients.csv --exposure",
    "sfumato audit 'release/public/table/*.parquet' --recipe recipe.toml --memory 4GB",
    "sfumato audit sample.csv --quasi age,zip --model k-map:k=5 --population citizens.csv",
    "sfumato audit 2026-q1 2026-q2 --series --originals patients-q1.csv patients-q2.csv \\",
    "    --recipe recipe.toml --model m-invariance:m=3,sensitive=disease",
    "sfumato audit --series --ledger hospital.ledger",
    "sfumato audit theirs.csv --quasi age,zip --sensitive disease \\",
    "    --model hpk-anonymity:h=2,p=2,k=3,sensitive=disease,levels=levels.csv",
)

Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE...",
        help="The table: a file or a database URL. With --series the releases, in order; the --ledger knows its own.",
        show_default=False,
    ),
]


@dataclass(frozen=True, kw_only=True)
class ReferenceOptions:
    """The tables that the published one is compared with."""

    original: Annotated[
        str | None, typer.Option(metavar="FILE", help="The original table, to check that every published cell is true.")
    ] = None
    original_table: Annotated[
        str | None, typer.Option(metavar="NAME", help="The table of the original, if it is in a database.")
    ] = None
    correspondence: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The original row of each published row; without it any match of the rows will do."
        ),
    ] = None
    population: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The population the records come from, for k-map and delta-presence."),
    ] = None
    population_table: Annotated[
        str | None, typer.Option(metavar="NAME", help="The table of the population, if it is in a database.")
    ] = None

    def table(self, remembered: Mapping[str, Option]) -> pa.Table | None:
        """Read the original, if there is one, as a recipe remembers it."""
        if self.original is not None:
            return ReadingOptions(table=self.original_table).read(self.original, remembered)
        if self.correspondence is not None or self.original_table is not None:
            raise InvalidParameterError("--correspondence and --original-table also need --original.")
        return None

    def read_population(self) -> pa.Table | None:
        """Read the population, if there is one."""
        if self.population is not None:
            return ReadingOptions(table=self.population_table).read(self.population)
        if self.population_table is not None:
            raise InvalidParameterError("--population-table also needs --population.")
        return None

    def rows(self) -> npt.NDArray[np.int64] | None:
        """Read the original row numbers: the only column of whole numbers in a file."""
        import pyarrow as pa

        from sfumato.io._reading import read

        if self.correspondence is None:
            return None
        columns = [column for column in read(self.correspondence).columns if pa.types.is_integer(column.type)]
        if len(columns) != 1 or columns[0].null_count:
            raise ReadError(f"{self.correspondence} must have exactly one column of whole numbers, the original rows.")
        rows: npt.NDArray[np.int64] = columns[0].to_numpy()
        return rows


@dataclass(frozen=True, kw_only=True)
class InterpretationOptions:
    """How to read the published cells."""

    ignore_suppressed: Annotated[
        bool, typer.Option("--ignore-suppressed", help="Treat rows that are * in every quasi-identifier as left out.")
    ] = False
    perturbed: Annotated[
        list[str],
        typer.Option(
            metavar="A,B,...",
            help="Columns that were masked, whose cells are not compared with the original; implied if --recipe masks.",
        ),
    ] = field(default_factory=list)
    centers: Annotated[
        bool,
        typer.Option(
            "--centers",
            help="Quasi-identifiers are centers of groups, such as means, and cover no values; implied if --recipe "
            "names an algorithm that publishes centers.",
        ),
    ] = False
    counterfeits: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="How many rows belong to nobody; implied by promise.json beside the table.",
        ),
    ] = None

    def masked(self, promise: AuditRequest) -> tuple[str, ...]:
        """Name the columns that were masked."""
        from sfumato.cli._recipe_options import split_names

        named = [name for text in self.perturbed for name in split_names(text)]
        for name in named:
            promise.schema.role(name)
        return tuple(dict.fromkeys([*promise.perturbed, *named]))


@expand_option_groups
def audit(
    *,
    files: Sources = None,
    reading: ReadingOptions,
    asked: RecipeOptions,
    comparing: ReferenceOptions,
    taken: InterpretationOptions,
    series: SeriesAuditOptions,
    exposure: Annotated[
        bool,
        typer.Option(
            "--exposure",
            help="Also report how exposed records are to an adversary who knows the quasi-identifiers of one person "
            "(with --original) or of everybody (without).",
        ),
    ] = False,
    engines: EngineArguments,
    json: Json = False,
) -> None:
    """Audit a published table, whichever tool made it.

    A file, a folder of Parquet files or a pattern of some may be larger than memory. The table is audited on its
    own and, with --original, compared with the original. Without models the command reports the levels that the
    table reaches, such as the largest k. With --series several releases are audited together. Exit codes: 0 every
    promise holds, 1 a promise does not hold or a cell is not true, 2 bad request.
    """
    from sfumato.cli._recipe_options import build_audit_request
    from sfumato.io._parquet_parts import check_parts_manifest

    if series.series:
        _check_no_single_table_options(comparing, taken, exposure=exposure)
        audit_series_files(files or [], series, asked, reading, json=json)
        return
    file = series.only_file(files or [])
    promise, resources = build_audit_request(asked), engines.resources()
    check_parts_manifest(file)
    if resources.choose_engine(file, (*promise.schema.quasi_identifiers, *promise.schema.sensitive)) == "memory":
        _audit_in_memory(file, promise, reading, comparing, taken, exposure=exposure, json=json)
    else:
        _audit_files(file, promise, reading, comparing, taken, resources=resources, exposure=exposure, json=json)


def _check_no_single_table_options(
    comparing: ReferenceOptions, taken: InterpretationOptions, *, exposure: bool
) -> None:
    """Refuse options about single tables, which an audit of a series would ignore."""
    given = [
        f"--{each.name.replace('_', '-')}"
        for group in (comparing, taken)
        for each in fields(group)
        if getattr(group, each.name) not in (None, False, [])
    ]
    given += ["--exposure"] if exposure else []
    if given:
        raise InvalidParameterError(f"{given[0]} is about one table; leave it out with --series.")


def _audit_files(
    file: str,
    promise: AuditRequest,
    reading: ReadingOptions,
    comparing: ReferenceOptions,
    taken: InterpretationOptions,
    *,
    resources: EngineSelector,
    exposure: bool,
    json: bool,
) -> None:
    """Audit a table that does not fit into memory."""
    from sfumato.tables.audit._audit_table import audit_files, reject_comparison_options

    reject_comparison_options(
        **{
            "--original": comparing.original,
            "--correspondence": comparing.correspondence,
            "--centers": taken.centers,
            "--perturbed": taken.perturbed or None,
            "--counterfeits": taken.counterfeits,
            "--exposure": exposure,
        }
    )
    with show_progress_bar("Judging") as tell:
        found = audit_files(
            resources,
            file,
            promise.schema,
            promise.models,
            reading=reading.options_for(file, promise.conventions),
            population=comparing.read_population(),
            ignore_suppressed=taken.ignore_suppressed,
            progress=tell,
        )
    _print_audit(found, None, json=json)
    if not found.holds:
        raise typer.Exit(DOES_NOT_HOLD)


def _audit_in_memory(
    file: str,
    promise: AuditRequest,
    reading: ReadingOptions,
    comparing: ReferenceOptions,
    taken: InterpretationOptions,
    *,
    exposure: bool,
    json: bool,
) -> None:
    """Audit a table that fits into memory."""
    from sfumato.io._reading import as_written
    from sfumato.tables.audit._context import AuditContext
    from sfumato.tables.audit._counterfeits import check_counterfeits
    from sfumato.tables.audit.audit import audit_context, without_suppressed_rows
    from sfumato.tables.masking._apply import MaskingRecord

    schema, models = promise.schema, promise.models
    original, rows, population = comparing.table(promise.reading), comparing.rows(), comparing.read_population()
    shown = as_written(reading.load(file, promise.conventions), file, schema.quasi_identifiers)
    centers = taken.centers or promise.publishes == "centers"
    with show_progress_bar("Judging"):
        masking, nobody = MaskingRecord(perturbed=taken.masked(promise)), stated_counterfeits(file, taken.counterfeits)
        check_counterfeits(shown, rows, nobody)
        evidence = AuditContext(shown, schema, original, rows, centers, masking, stated=nobody)
        found = audit_context(evidence, models, population=population, ignore_suppressed=taken.ignore_suppressed)
        exposed = (
            _disclosure_risk(without_suppressed_rows(evidence) if taken.ignore_suppressed else evidence)
            if exposure
            else None
        )
    _print_audit(found, exposed, json=json)
    if not found.holds:
        if not taken.ignore_suppressed:
            _suppression_hint(found, AuditContext(shown, schema, stated=nobody), models, population)
        raise typer.Exit(DOES_NOT_HOLD)


def _print_audit(found: Audit, exposed: DisclosureRisk | None, *, json: bool) -> None:
    if json:
        print_json({**found.to_dict(), **({} if exposed is None else {"exposure": exposed.to_dict()})})
        return
    lines = [*audit_lines(found), *([] if found.verdicts else level_lines(found))]
    typer.echo("\n".join([*lines, *([] if exposed is None else disclosure_risk_lines(exposed))]))


def _disclosure_risk(evidence: AuditContext) -> DisclosureRisk:
    """Measure the exposure of what was judged; where centers or masked cells cover nobody, everybody is known."""
    from sfumato.tables.risk.disclosure import disclosure_risk_of

    masked = set(evidence.masking.perturbed) & set(evidence.schema.quasi_identifiers)
    original = None if evidence.centers or masked else evidence.original
    return disclosure_risk_of(replace(evidence, original=original, correspondence=None))


def _suppression_hint(
    found: Audit, evidence: AuditContext, models: tuple[GroupModel, ...], population: pa.Table | None
) -> None:
    """Print a hint if only records that are suppressed in every quasi-identifier break the promise."""
    from sfumato.tables.audit.audit import audit_context

    try:
        apart = audit_context(evidence, models, population=population, ignore_suppressed=True)
    except SchemaError:  # nothing is left without the suppressed records
        return
    if sum(verdict.holds for verdict in apart.verdicts) > sum(verdict.holds for verdict in found.verdicts):
        typer.echo(
            f"sfumato: The rows that are * in every quasi-identifier ({apart.set_aside:,}) break a promise as a group; "
            "if they are suppressed records, give --ignore-suppressed.",
            err=True,
        )
