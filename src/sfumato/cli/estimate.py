"""`sfumato estimate`: answer a question from a published table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sfumato.cli.options import Json, ReadingOptions, RoleOptions, Source, expand_option_groups, format_examples
from sfumato.cli.printing import print_json, printable, show_progress_bar
from sfumato.exceptions import InvalidParameterError, SchemaError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.queries.estimates.estimation import Estimate
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
    from sfumato.cli.asking import split_names
    from sfumato.queries.estimates.estimation import estimate as answer

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
        from sfumato.queries.estimates.workload import Workload, relative_errors

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
    from sfumato.cli.asking import split_names
    from sfumato.queries.estimates.estimation import estimate as answer

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
    from sfumato.cli.asking import split_names

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
