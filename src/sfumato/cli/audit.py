"""`sfumato audit`: audit a published table, whichever tool made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.audit_series import InSeries, audit_in_series
from sfumato.cli.counterfeits import stated_counterfeits
from sfumato.cli.options import EngineOptions, Json, Reading, RecipeOptions, examples, spread
from sfumato.cli.printing import print_json, progress
from sfumato.cli.refusals import DOES_NOT_HOLD
from sfumato.cli.summary import audit_lines, exposure_lines, level_lines
from sfumato.exceptions import InvalidParameterError, ReadError, SchemaError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from sfumato.cli.asking import Promise
    from sfumato.judging.audit.audit import Audit
    from sfumato.judging.evidence import Evidence
    from sfumato.judging.exposure import Exposure
    from sfumato.models.base import PrivacyModel
    from sfumato.sources.engines import Resources
    from sfumato.table.formats.base import Option

EXAMPLES = examples(
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
class Comparing:
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
            return Reading(table=self.original_table).read(self.original, remembered)
        if self.correspondence is not None or self.original_table is not None:
            raise InvalidParameterError("--correspondence and --original-table also need --original.")
        return None

    def everybody(self) -> pa.Table | None:
        """Read the population, if there is one."""
        if self.population is not None:
            return Reading(table=self.population_table).read(self.population)
        if self.population_table is not None:
            raise InvalidParameterError("--population-table also needs --population.")
        return None

    def rows(self) -> npt.NDArray[np.int64] | None:
        """Read the original row numbers: the only column of whole numbers in a file."""
        import pyarrow as pa

        from sfumato.table.read import read

        if self.correspondence is None:
            return None
        columns = [column for column in read(self.correspondence).columns if pa.types.is_integer(column.type)]
        if len(columns) != 1 or columns[0].null_count:
            raise ReadError(f"{self.correspondence} must have exactly one column of whole numbers, the original rows.")
        rows: npt.NDArray[np.int64] = columns[0].to_numpy()
        return rows


@dataclass(frozen=True, kw_only=True)
class Taken:
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

    def masked(self, promise: Promise) -> tuple[str, ...]:
        """Name the columns that were masked."""
        from sfumato.cli.asking import listed

        named = [name for text in self.perturbed for name in listed(text)]
        for name in named:
            promise.schema.role(name)
        return tuple(dict.fromkeys([*promise.perturbed, *named]))


@spread
def audit(
    *,
    files: Sources = None,
    reading: Reading,
    asked: RecipeOptions,
    comparing: Comparing,
    taken: Taken,
    series: InSeries,
    exposure: Annotated[
        bool,
        typer.Option(
            "--exposure",
            help="Also report how exposed records are to an adversary who knows the quasi-identifiers of one person "
            "(with --original) or of everybody (without).",
        ),
    ] = False,
    engines: EngineOptions,
    json: Json = False,
) -> None:
    """Audit a published table, whichever tool made it.

    A file, a folder of Parquet files or a pattern of some may be larger than memory. The table is audited on its
    own and, with --original, compared with the original. Without models the command reports the levels that the
    table reaches, such as the largest k. With --series several releases are audited together. Exit codes: 0 every
    promise holds, 1 a promise does not hold or a cell is not true, 2 bad request.
    """
    from sfumato.cli.asking import ask_promise
    from sfumato.table.parts_list import refuse_other_parts

    if series.series:
        _refuse_beside_series(comparing, taken, exposure=exposure)
        audit_in_series(files or [], series, asked, reading, json=json)
        return
    file = series.only_file(files or [])
    promise, resources = ask_promise(asked), engines.resources()
    refuse_other_parts(file)
    if resources.chosen(file, (*promise.schema.quasi, *promise.schema.sensitive)) == "memory":
        _audit_in_memory(file, promise, reading, comparing, taken, exposure=exposure, json=json)
    else:
        _audit_files(file, promise, reading, comparing, taken, resources=resources, exposure=exposure, json=json)


def _refuse_beside_series(comparing: Comparing, taken: Taken, *, exposure: bool) -> None:
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
    promise: Promise,
    reading: Reading,
    comparing: Comparing,
    taken: Taken,
    *,
    resources: Resources,
    exposure: bool,
    json: bool,
) -> None:
    """Audit a table that does not fit into memory."""
    from sfumato.judging.audit.auditing import audit_files, refuse_compared

    refuse_compared(
        **{
            "--original": comparing.original,
            "--correspondence": comparing.correspondence,
            "--centers": taken.centers,
            "--perturbed": taken.perturbed or None,
            "--counterfeits": taken.counterfeits,
            "--exposure": exposure,
        }
    )
    with progress("Judging") as tell:
        found = audit_files(
            resources,
            file,
            promise.schema,
            promise.models,
            reading=reading.options_for(file, promise.conventions),
            population=comparing.everybody(),
            ignore_suppressed=taken.ignore_suppressed,
            progress=tell,
        )
    _tell(found, None, json=json)
    if not found.holds:
        raise typer.Exit(DOES_NOT_HOLD)


def _audit_in_memory(
    file: str,
    promise: Promise,
    reading: Reading,
    comparing: Comparing,
    taken: Taken,
    *,
    exposure: bool,
    json: bool,
) -> None:
    """Audit a table that fits into memory."""
    from sfumato.judging.audit.audit import audit_evidence, without_starred
    from sfumato.judging.counterfeits import refuse_unstated
    from sfumato.judging.evidence import Evidence
    from sfumato.masking.masking import Masking
    from sfumato.table.read import as_written

    schema, models = promise.schema, promise.models
    original, rows, population = comparing.table(promise.reading), comparing.rows(), comparing.everybody()
    shown = as_written(reading.load(file, promise.conventions), file, schema.quasi)
    centers = taken.centers or promise.publishes == "centers"
    with progress("Judging"):
        masking, nobody = Masking(perturbed=taken.masked(promise)), stated_counterfeits(file, taken.counterfeits)
        refuse_unstated(shown, rows, nobody)
        evidence = Evidence(shown, schema, original, rows, centers, masking, stated=nobody)
        found = audit_evidence(evidence, models, population=population, ignore_suppressed=taken.ignore_suppressed)
        exposed = _exposed(without_starred(evidence) if taken.ignore_suppressed else evidence) if exposure else None
    _tell(found, exposed, json=json)
    if not found.holds:
        if not taken.ignore_suppressed:
            _hint(found, Evidence(shown, schema, stated=nobody), models, population)
        raise typer.Exit(DOES_NOT_HOLD)


def _tell(found: Audit, exposed: Exposure | None, *, json: bool) -> None:
    if json:
        print_json({**found.to_dict(), **({} if exposed is None else {"exposure": exposed.to_dict()})})
        return
    lines = [*audit_lines(found), *([] if found.verdicts else level_lines(found))]
    typer.echo("\n".join([*lines, *([] if exposed is None else exposure_lines(exposed))]))


def _exposed(evidence: Evidence) -> Exposure:
    """Measure the exposure of what was judged; where centers or masked cells cover nobody, everybody is known."""
    from sfumato.judging.exposure import exposure_of

    masked = set(evidence.masking.perturbed) & set(evidence.schema.quasi)
    original = None if evidence.centers or masked else evidence.original
    return exposure_of(replace(evidence, original=original, correspondence=None))


def _hint(found: Audit, evidence: Evidence, models: tuple[PrivacyModel, ...], population: pa.Table | None) -> None:
    """Print a hint if only records that are suppressed in every quasi-identifier break the promise."""
    from sfumato.judging.audit.audit import audit_evidence

    try:
        apart = audit_evidence(evidence, models, population=population, ignore_suppressed=True)
    except SchemaError:  # nothing is left without the suppressed records
        return
    if sum(verdict.holds for verdict in apart.verdicts) > sum(verdict.holds for verdict in found.verdicts):
        typer.echo(
            f"sfumato: The rows that are * in every quasi-identifier ({apart.set_aside:,}) break a promise as a group; "
            "if they are suppressed records, give --ignore-suppressed.",
            err=True,
        )
