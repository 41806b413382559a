"""`sfumato estimate`: answer a question from a published table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sfumato.cli._options import (
    Force,
    Json,
    ReadingOptions,
    RoleOptions,
    Source,
    command_group,
    expand_option_groups,
    format_examples,
)
from sfumato.cli._output import check_overwrite, print_json, printable, show_progress_bar
from sfumato.errors import InvalidParameterError, ReadError, SchemaError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.queries.estimation import Estimate
    from sfumato.queries.query import Query
    from sfumato.schema.schema import Schema


ESTIMATE_EXAMPLES = format_examples(
    'sfumato estimate release/public/table.csv --recipe recipe.toml --where "age >= 60" --where "sex = F"',
    'sfumato estimate release/public/table.csv --recipe recipe.toml --sum cost --where "job in clerk,lawyer"',
    "sfumato estimate release/public/table.csv --recipe recipe.toml --sum cost --errors 1000 --original patients.csv",
)
CONDITION = re.compile(r"\s*(?P<name>.*?)\s*(?P<sign>!=|>=|<=|=|<|>|\sin\s)\s*(?P<value>.*?)\s*")


@dataclass(frozen=True, kw_only=True)
class QueryOptions:
    """What is asked of the table."""

    total: Annotated[str | None, typer.Option("--sum", metavar="NAME", help="Sum this column.")] = None
    average: Annotated[str | None, typer.Option("--avg", metavar="NAME", help="Average this column.")] = None
    where: Annotated[
        list[str],
        typer.Option(metavar="CONDITION", help='Such as "age >= 60", "sex = F", "job in clerk,lawyer"; all must hold.'),
    ] = field(default_factory=list)
    whole: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Columns of whole numbers or days only: [0, 2) is 0 or 1, so that bounds are narrower.",
            show_default=False,
        ),
    ] = ""

    @property
    def aggregate(self) -> tuple[Literal["count", "sum", "avg"], str | None]:
        """What to compute, and over which column."""
        if self.total is not None and self.average is not None:
            raise InvalidParameterError("Give --sum or --avg, not both.")
        if self.total is not None:
            return "sum", self.total
        return ("count", None) if self.average is None else ("avg", self.average)

    def query(self) -> Query:
        """Make the query."""
        from sfumato.queries.query import Query

        kind, over = self.aggregate
        return Query(kind=kind, over=over, where=_conditions(self.where))


@expand_option_groups
def query_release(
    *,
    file: Source,
    reading: ReadingOptions,
    described: RoleOptions,
    question: QueryOptions,
    errors: Annotated[
        int | None,
        typer.Option(metavar="N", help="Instead, ask N random questions and report how far off the answers are."),
    ] = None,
    original: Annotated[str | None, typer.Option(metavar="FILE", help="The original, for --errors.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed draws other random questions.")] = 0,
    json: Json = False,
) -> None:
    """Answer a question from a published table: the expected answer, and bounds on the true one.

    Counts records unless --sum or --avg is given. Values are assumed to be spread evenly over generalized cells, and
    dealt at random within buckets. Suppressed records are not guessed.
    """
    from sfumato.cli._recipe_options import split_names
    from sfumato.queries.estimation import estimate as answer

    promise = described.audit_request()
    schema = promise.schema
    if (errors is None) != (original is None):
        raise InvalidParameterError("Give --errors and --original together.")
    table = reading.read(file, promise.conventions)
    if errors is None or original is None:
        with show_progress_bar("Estimating"):
            found = answer(table, schema, question.query(), whole=split_names(question.whole))
        _suggest_whole(table, schema, question, found)
        said = {"expected": found.expected, "lower": found.lower, "upper": found.upper}
        lines = [f"{found.expected:.6g} expected", f"between {found.lower:.6g} and {found.upper:.6g}"]
    else:
        from sfumato.queries.workload import Workload, relative_errors

        if question.where or question.whole:
            raise InvalidParameterError("--errors draws its own questions; drop --where and --whole.")
        kind, over = question.aggregate
        most = min(Workload.attributes, len(schema.quasi_identifiers))
        workload = Workload(queries=errors, attributes=most, kind=kind, over=over, seed=seed)
        with show_progress_bar("Estimating"):
            off = relative_errors(table, ReadingOptions().read(original, promise.reading), schema, workload)
        said, lines = off.summary(), [repr(off)]
    if json:
        print_json(said)
    else:
        typer.echo("\n".join(lines))


def _suggest_whole(table: pa.Table, schema: Schema, question: QueryOptions, found: Estimate) -> None:
    """Suggest --whole if it would narrow the bounds: whole ends of intervals do not exclude fractions in between."""
    from sfumato.cli._recipe_options import split_names
    from sfumato.queries.estimation import estimate as answer

    _, over = question.aggregate
    if over is None:
        return
    try:
        narrower = answer(table, schema, question.query(), whole=[*split_names(question.whole), over])
    except SchemaError:  # the column shows fractions, or no numbers
        return
    if narrower.lower > found.lower or narrower.upper < found.upper:
        typer.echo(f"If {printable(over)} holds whole numbers only, give --whole for narrower bounds.", err=True)


def _conditions(texts: Sequence[str]) -> dict[str, object]:
    """Read conditions, at most one per column.

    >>> _conditions(["age >= 60", "job in clerk, lawyer", "sex=F"])
    {'age': ('>=', '60'), 'job': ['clerk', 'lawyer'], 'sex': ('=', 'F')}
    """
    from sfumato.cli._recipe_options import split_names

    found: dict[str, object] = {}
    for number, text in enumerate(texts, 1):
        read = CONDITION.fullmatch(text)
        if read is None or not read["name"] or not read["value"]:
            raise InvalidParameterError(
                f'Condition {number} is not understood; write a column, an operator and a value, such as "age >= 60".'
            )
        if read["name"] in found:
            raise InvalidParameterError(f"Two conditions name {read['name']!r}; give one per column.")
        sign = read["sign"].strip()
        found[read["name"]] = split_names(read["value"]) if sign == "in" else (sign, read["value"])
    return found


# `sfumato buckets`: split, join or expand a bucketized table.

BUCKET_EXAMPLES = format_examples(
    "sfumato buckets split release/public/table.csv --recipe recipe.toml --out parts",
    "sfumato buckets join parts --out table.csv",
    "sfumato buckets spell-out release/public/table.csv --recipe recipe.toml --out long.parquet",
)
RECORDS, VALUES = "records.csv", "values "
NewFile = Annotated[Path, typer.Option(metavar="FILE", help="CSV, Parquet or XLSX, by its suffix.", show_default=False)]

app = command_group("Split, join or expand a bucketized table.")


@app.command(
    "split", epilog=format_examples("sfumato buckets split release/public/table.csv --recipe recipe.toml --out parts")
)
@expand_option_groups
def split_buckets(
    *,
    file: Source,
    reading: ReadingOptions,
    described: RoleOptions,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to create.", show_default=False)],
) -> None:
    """Split a bucketized table into records with bucket numbers and the values of every bucket.

    Writes records.csv and, for every column in buckets, a file "values NAME.csv" with bucket, value and count.
    """
    from sfumato.core._atomic_writes import atomic_folder, check_target_free
    from sfumato.io._writing import write
    from sfumato.tables.bucketized_tables import split_bucketized

    schema = described.schema()
    check_target_free(out, replace=False)
    with show_progress_bar("Parting"):
        records, values = split_bucketized(reading.read(file), schema)
        with atomic_folder(out, replace=False) as made:
            write(records, made / RECORDS)
            for name, counted in values.items():
                write(counted, made / f"{VALUES}{name}.csv")
    typer.echo(out)


@app.command("join", epilog=format_examples("sfumato buckets join parts --out table.csv"))
@expand_option_groups
def join_buckets(
    *,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that split wrote.", show_default=False)],
    out: NewFile,
    force: Force = False,
) -> None:
    """Join the two parts into one table again, with the values of each bucket in random order."""
    from sfumato.io._reading import read
    from sfumato.io._writing import write
    from sfumato.tables.bucketized_tables import join_bucketized

    check_overwrite(out, force=force)
    parts = {path.stem.removeprefix(VALUES): path for path in sorted(folder.glob(f"{VALUES}*.csv"))}
    if not parts or not (folder / RECORDS).is_file():
        raise ReadError(f"{folder} has no {RECORDS} or no file of values; give the folder that split wrote.")
    with show_progress_bar("Joining"):
        write(join_bucketized(read(folder / RECORDS), {name: read(path) for name, path in parts.items()}), out)
    typer.echo(out)


@app.command(
    "spell-out",
    epilog=format_examples(
        "sfumato buckets spell-out release/public/table.csv --recipe recipe.toml --out long.parquet"
    ),
)
@expand_option_groups
def expand_buckets(
    *, file: Source, reading: ReadingOptions, described: RoleOptions, out: NewFile, force: Force = False
) -> None:
    """Expand a bucketized table: one row for every record and every value it may have, with its probability."""
    from sfumato.io._writing import write
    from sfumato.queries._long_form import long_form

    schema = described.schema()
    check_overwrite(out, force=force)
    with show_progress_bar("Expanding"):
        write(long_form(reading.read(file), schema), out)
    typer.echo(out)
