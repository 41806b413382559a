"""`sfumato query`: ask a table with differential privacy and a budget, or exactly with an audit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli._errors import DOES_NOT_HOLD, exit_with_error
from sfumato.cli._options import Json, ReadingOptions, Source, command_group, expand_option_groups, format_examples
from sfumato.cli._output import align_columns, check_overwrite, print_json, write_text_atomically
from sfumato.errors import InfeasibleError, InvalidParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.dp.accountant import Accountant, BudgetUsage
    from sfumato.dp.answers import PrivateAnswer, PrivateCounts
    from sfumato.dp.store import PrivateStore
    from sfumato.queries.auditor import QueryAuditor


# Options of commands that pay for counts with differential privacy, and what they tell of the budget.


AnotherBudget = Annotated[
    bool, typer.Option("--another-budget", help="Grant another budget for data that have one; both add up.")
]


@contextmanager
def in_words_of_options() -> Iterator[None]:
    """Name the option that asks for another budget as it is called here."""
    from sfumato.dp.accountant import AnotherBudgetError

    try:
        yield
    except AnotherBudgetError as error:
        said = str(error).replace("another_budget=True", "--another-budget")
        raise InvalidParameterError(said) from None


@dataclass(frozen=True, kw_only=True)
class BudgetOptions:
    """What it costs, and who pays from which budget."""

    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="The epsilon to spend.", show_default=False)]
    analyst: Annotated[str, typer.Option(metavar="NAME", help="The name of the analyst.", show_default=False)]
    budget: Annotated[
        Path, typer.Option(metavar="FILE", help="The budget; made if --total is given.", show_default=False)
    ]
    total: Annotated[str | None, typer.Option(metavar="EPSILON", help="A new budget: the epsilon of all.")] = None
    per_analyst: Annotated[
        str | None, typer.Option(metavar="EPSILON", help="A new budget: the epsilon of each analyst.")
    ] = None
    another_budget: AnotherBudget = False

    @contextmanager
    def open(self, **more: Any) -> Iterator[dict[str, Any]]:
        """Give what every question needs to be paid; a budget that does not allow it ends the command."""
        from sfumato.dp.accountant import Accountant

        granted = {"total": self.total, "per_analyst": self.per_analyst, "another_budget": self.another_budget, **more}
        try:
            with in_words_of_options():
                accountant = Accountant(self.budget, **granted)
                yield {"epsilon": self.epsilon, "accountant": accountant, "analyst": self.analyst}
        except InfeasibleError as error:
            raise exit_with_error(str(error), DOES_NOT_HOLD) from None


def print_spent(accountant: Accountant, epsilon: str) -> None:
    """Print what was spent and what is left."""
    from sfumato._neighbors import describe_epsilon

    balance = accountant.balance()
    spent = describe_epsilon(epsilon, balance.neighbors)
    typer.echo(f"{spent} was spent, {balance.total.left} of {balance.total.budget} is left")


EXAMPLES = format_examples(
    "sfumato query init patients.csv --store study.toml --bounds age=0,120 --categories sex=F,M --total 2",
    'sfumato query ask study.toml "count where age >= 60" --epsilon 0.1 --analyst ann',
    "sfumato query budget study.toml",
)
PAIR = 2
DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
EXACT = re.compile(r"\s*(?P<kind>count|sum|avg|max|min)\s+of\s+(?P<column>.+?)(?:\s+where\s+(?P<where>.+?))?\s*")

StoreFile = Annotated[
    Path, typer.Argument(metavar="STORE", help="The settings file that init wrote.", show_default=False)
]

app = command_group("Ask a table with differential privacy and pay from a budget, or exactly and audited.")


@dataclass(frozen=True, kw_only=True)
class DeclaredFactOptions:
    """What is stated about the table without looking at it."""

    bounds: Annotated[
        list[str],
        typer.Option(metavar="COLUMN=LOW,HIGH", help="The range of a column of numbers or dates. Repeatable."),
    ] = field(default_factory=list)
    categories: Annotated[
        list[str], typer.Option(metavar="COLUMN=A,B,...", help="The values a column of text can have. Repeatable.")
    ] = field(default_factory=list)
    person: Annotated[str | None, typer.Option(metavar="NAME", help="The column that identifies people.")] = None
    max_rows: Annotated[
        int | None, typer.Option(metavar="N", help="The most rows to use per person, with --person.")
    ] = None


@app.command(
    "init",
    epilog=format_examples(
        "sfumato query init patients.csv --store study.toml --bounds age=0,120 --total 2",
        "sfumato query init visits.csv --store study.toml --person patient --max-rows 5 --total 2 --per-analyst 0.5",
    ),
)
@expand_option_groups
def init_store(
    *,
    file: Source,
    store: Annotated[Path, typer.Option(metavar="FILE", help="Write the settings to this file.", show_default=False)],
    total: Annotated[str, typer.Option(metavar="EPSILON", help="The budget of all analysts.", show_default=False)],
    per_analyst: Annotated[str | None, typer.Option(metavar="EPSILON", help="The budget of each analyst.")] = None,
    another_budget: AnotherBudget = False,
    stated: DeclaredFactOptions,
    reading: ReadingOptions,
) -> None:
    """Set up private queries on a table: state what is known without looking at it, and grant a budget.

    Writes the settings and, next to them, the budget file (.sqlite). Keep both and the table away from analysts. How
    the table is read is settled here: separator, encoding, and what every column holds. A table has one budget, unless
    another one is asked for.
    """
    from sfumato.dp.accountant import Accountant
    from sfumato.dp.private_table import PrivateTable
    from sfumato.dp.store import PrivateStore, path_from_folder

    check_overwrite(store, force=None)
    if store.suffix == ".sqlite":
        raise InvalidParameterError("--store names the settings, not the budget; name a .toml file.")
    budget = store.with_suffix(".sqlite")
    check_overwrite(budget, force=None)
    made = PrivateStore(
        source=path_from_folder(file, store.parent),
        accountant=budget.name,
        reading=_reading_for_all_queries(file, reading),
        bounds={name: (ends[0], ends[1]) for name, ends in _parse_edges("--bounds", stated.bounds).items()},
        categories=_parse_named("--categories", stated.categories),
        person=stated.person,
        max_rows=stated.max_rows,
    )
    table = _read_source(file, made)
    if Path(file).suffix.lower() == ".xlsx" and "header" not in made.reading:
        made = replace(made, reading={**made.reading, "header": True})  # seen once, so that no row decides it again
    with _remove_on_failure(budget), in_words_of_options():
        accountant = Accountant(budget, total=total, per_analyst=per_analyst, another_budget=another_budget)
        private = PrivateTable(table, accountant=accountant, analyst="init", **made.declared_columns)
        write_text_atomically(store, made.text())
    typer.echo(store)
    for name, cells in private.unreadable_counts.items():
        if cells:
            typer.echo(f"sfumato: {cells} of {table.num_rows} cells of {name} are missing or not as stated.", err=True)


@app.command(
    "ask",
    epilog=format_examples(
        'sfumato query ask study.toml "mean of cost where age from 30 to 39 and sex = F" --epsilon 0.2 --analyst ann',
        'sfumato query ask study.toml "histogram of age" --edges age=0,20,40,60,120 --epsilon 0.1 --analyst ann',
    ),
)
def query_store(
    *,
    store: StoreFile,
    question: Annotated[
        str,
        typer.Argument(
            metavar="QUESTION",
            help="count, sum of A, mean of A, median of A, quantile 0.9 of A, histogram of A, table of A, B or "
            'grid of A, B; optionally with conditions, as in "where age >= 60 and sex = F".',
            show_default=False,
        ),
    ],
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="The epsilon to spend.", show_default=False)],
    analyst: Annotated[str, typer.Option(metavar="NAME", help="The name of the analyst.", show_default=False)],
    edges: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN=A,B,...", help="The edges of the bins of a column. Repeatable.")
    ] = None,
    confidence: Annotated[float, typer.Option(metavar="SHARE", help="The confidence of the interval.")] = 0.95,
    json: Json = False,
) -> None:
    """Ask one question; its cost is spent before it is answered.

    Exit codes: 0 answered, 1 the budget does not allow it, 2 bad request.
    """
    from sfumato.dp.accountant import Accountant
    from sfumato.dp.private_table import PrivateTable
    from sfumato.dp.question import Question
    from sfumato.dp.store import PrivateStore, path_in_folder

    asked = Question.parse(question)
    bins = _parse_edges("--edges", edges or [])
    known = PrivateStore.read(store)
    accountant = Accountant(store.parent / known.accountant)
    rows = _read_source(path_in_folder(known.source, store.parent), known)
    table = PrivateTable(rows, accountant=accountant, analyst=analyst, **known.declared_columns)
    try:
        answer = asked.ask(table, epsilon=epsilon, confidence=confidence, edges=bins)
    except InfeasibleError as error:
        raise exit_with_error(str(error), DOES_NOT_HOLD) from None
    _print_answer(answer, json=json)


@dataclass(frozen=True, kw_only=True)
class QueryAuditOptions:
    """What questions may use, and what else is denied."""

    public: Annotated[
        list[str], typer.Option(metavar="A,B,...", help="Columns that conditions may use.", show_default=False)
    ]
    tolerance: Annotated[
        float | None, typer.Option(metavar="WIDTH", help="Also deny answers that narrow a value down this far.")
    ] = None
    bounds: Annotated[
        str | None, typer.Option(metavar="LOW,HIGH", help="Known bounds of all values, with --tolerance.")
    ] = None
    skew: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="How near averages may lie to a bound, with --tolerance; 0.5: evenly spread."
        ),
    ] = 0.1

    def auditor(self, table: pa.Table, column: str, history: Path) -> QueryAuditor:
        """Begin to audit questions about a column."""
        from sfumato.cli._recipe_options import split_names
        from sfumato.queries.auditor import QueryAuditor

        limits = None if self.bounds is None else _parse_numbers("--bounds", [f"values={self.bounds}"])["values"]
        return QueryAuditor(
            table,
            column,
            history,
            public=[name for names in self.public for name in split_names(names)],
            tolerance=self.tolerance,
            bounds=None if limits is None else (limits[0], limits[1]),
            skew=self.skew,
        )


@app.command(
    "exact",
    epilog=format_examples(
        'sfumato query exact staff.csv "sum of salary where team = A" --history h.sqlite --public team --user ann',
        'sfumato query exact staff.csv "max of salary" --history h.sqlite --public age --tolerance 50 --bounds 0,900',
    ),
)
@expand_option_groups
def query_exactly(
    *,
    file: Source,
    question: Annotated[
        str,
        typer.Argument(
            metavar="QUESTION",
            help='count, sum, avg, max or min of A; optionally with conditions, as in "where age >= 60 and sex = F".',
            show_default=False,
        ),
    ],
    history: Annotated[
        Path,
        typer.Option(metavar="FILE", help="The history of all questions; created if missing.", show_default=False),
    ],
    auditing: QueryAuditOptions,
    user: Annotated[str, typer.Option(metavar="NAME", help="The name of the user, for the history.")] = "",
    json: Json = False,
    reading: ReadingOptions,
) -> None:
    """Ask one question exactly; it is denied if the answers so far would reveal somebody's value.

    Give the same --tolerance, --bounds and --skew every time. Exit codes: 0 answered, 1 denied, 2 bad request.
    """
    from sfumato.dp.question import parse_conditions
    from sfumato.queries.auditor import DeniedAnswer

    read = _exact_question(question)
    auditor = auditing.auditor(reading.read(file), read["column"], history)
    answer = auditor.ask(read["kind"], parse_conditions(read["where"]), user=user)  # type: ignore[arg-type]  # by EXACT
    if json:
        print_json({**asdict(answer), "denied": answer.denied})
    if isinstance(answer, DeniedAnswer):
        raise exit_with_error(answer.reason, DOES_NOT_HOLD)
    if not json:
        typer.echo(answer.value)


def _exact_question(question: str) -> re.Match[str]:
    read = EXACT.fullmatch(question)
    if read is None:
        raise InvalidParameterError("The question is not understood; write count, sum, avg, max or min of a column.")
    return read


@app.command(
    "budget", epilog=format_examples("sfumato query budget study.toml", "sfumato query budget study.toml --json")
)
def show_budget(*, store: StoreFile, json: Json = False) -> None:
    """Show how much of the budget is spent, and by whom."""
    from sfumato.dp.accountant import Accountant
    from sfumato.dp.store import PrivateStore

    balance = Accountant(store.parent / PrivateStore.read(store).accountant).balance()
    if json:
        print_json({**asdict(balance), "analysts": {name: asdict(each) for name, each in balance.analysts.items()}})
        return
    rows = [["", "spent", "of", "left"], _budget_row("all", balance.total)]
    rows += [_budget_row(name, each) for name, each in balance.analysts.items()]
    typer.echo(f"epsilon for {balance.neighbors}")
    typer.echo(
        align_columns(rows if balance.delta.budget == "0" else [*rows, _budget_row("delta of all", balance.delta)])
    )


@app.command(epilog=format_examples("sfumato query repair study.toml", "sfumato query repair ways.budget"))
def repair(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The settings, or a budget file.", show_default=False)],
) -> None:
    """Go on with a budget that was made on another computer or by another user; be sure that it is the newest copy.

    How much is spent is remembered in the state folder of the user (XDG_STATE_HOME, by default ~/.local/state), so an
    older copy of a budget is refused. This remembers a budget that the folder does not know.
    """
    from sfumato.dp.accountant import Accountant
    from sfumato.dp.store import PrivateStore

    path = file.parent / PrivateStore.read(file).accountant if file.suffix == ".toml" else file
    typer.echo(Accountant.repair(path))


def _reading_for_all_queries(file: str, reading: ReadingOptions) -> dict[str, str | int]:
    """Settle how a table is read, once and for all questions."""
    from sfumato.dp.store import READING
    from sfumato.io._csv import detect_text_layout
    from sfumato.io._header_detection import Header
    from sfumato.io.formats import FORMATS, is_url, stated

    texts = FORMATS.built_in["csv"].suffixes
    if file.lower().endswith(texts) and not is_url(file) and Path(file).is_file():
        tabs = ".tsv" in Path(file).name.lower() and reading.separator is None
        separator = "\t" if tabs else reading.separator
        about = Header(given=reading.header, names=reading.options().get("names", ()))  # type: ignore[arg-type]  # as it is told
        separator, encoding = detect_text_layout(
            Path(file), separator=separator, encoding=reading.encoding, skip_rows=reading.skip_rows, header=about
        )
        reading = replace(reading, separator=separator, encoding=encoding)
    given = reading.options() | {"separator": reading.separator, "encoding": reading.encoding}
    other = next((name for name, value in given.items() if name not in READING and value), None)
    if other:
        option = "column-type" if other == "column_types" else other.replace("_", "-")
        raise InvalidParameterError(
            f"--{option} cannot be used with sfumato query, which reads every cell as"
            " it is written; convert the table first."
        )
    return stated(given)  # type: ignore[return-value]  # as READING says


def _read_source(source: str, store: PrivateStore) -> pa.Table:
    from sfumato.cli._output import show_progress_bar
    from sfumato.io._reading import read

    with show_progress_bar("Reading"):
        return read(source, as_text=True, **store.reading)  # type: ignore[arg-type]  # as Store.read saw


def _budget_row(name: str, spending: BudgetUsage) -> list[str]:
    return [name, spending.spent, spending.budget, spending.left]


def _print_answer(answer: PrivateAnswer | PrivateCounts, *, json: bool) -> None:
    from sfumato._neighbors import describe_epsilon
    from sfumato.dp.answers import PrivateAnswer

    facts = {
        name: getattr(answer, name)
        for name in ("question", "confidence", "mechanism", "scale", "epsilon", "neighbors", "steps")
    }
    if isinstance(answer, PrivateAnswer):
        if json:
            print_json({"value": answer.value, "lower": answer.lower, "upper": answer.upper, **facts})
            return
        typer.echo(f"{answer.value:.10g}")
        typer.echo(f"between {answer.lower:.10g} and {answer.upper:.10g} with confidence {answer.confidence:g}")
    else:
        ends = zip(answer.cells, answer.counts.tolist(), answer.lower.tolist(), answer.upper.tolist(), strict=True)
        rows = [[*cell, *(f"{number:.10g}" for number in numbers)] for cell, *numbers in ends]
        if json:
            counts = {"counts": answer.counts.tolist(), "lower": answer.lower.tolist(), "upper": answer.upper.tolist()}
            print_json({"columns": answer.columns, "cells": answer.cells, **counts, **facts})
            return
        typer.echo(align_columns([[*answer.columns, "count", "from", "to"], *rows]))
    typer.echo(
        f"{answer.mechanism} of scale {answer.scale:.6g}; "
        f"{describe_epsilon(answer.epsilon, answer.neighbors)} was spent"
    )


def _parse_named(option: str, given: Sequence[str]) -> dict[str, list[str]]:
    from sfumato.cli._recipe_options import split_names

    found: dict[str, list[str]] = {}
    for each in given:
        name, sign, texts = each.partition("=")
        if not sign or not name or not texts or name in found:
            raise InvalidParameterError(f"Write {option} once per column, as in age=0,120.")
        found[name] = split_names(texts)
    return found


def _parse_edges(option: str, given: Sequence[str]) -> dict[str, list[float | date]]:
    """Read numbers, or dates."""
    found: dict[str, list[float | date]] = {}
    for name, texts in _parse_named(option, given).items():
        try:
            found[name] = [date.fromisoformat(text) if DAY.fullmatch(text) else float(text) for text in texts]
        except ValueError:
            raise InvalidParameterError(f"{option} {name} takes numbers, as in age=0,120, or dates.") from None
        if len({type(each) for each in found[name]}) > 1:
            raise InvalidParameterError(f"{option} {name} takes numbers or dates, not both.")
        if option == "--bounds" and len(texts) != PAIR:
            raise InvalidParameterError(f"{option} {name} takes two numbers, as in age=0,120.")
    return found


def _parse_numbers(option: str, given: Sequence[str]) -> dict[str, list[float]]:
    found = {
        name: [each for each in ends if isinstance(each, float)] for name, ends in _parse_edges(option, given).items()
    }
    if not all(found.values()):
        raise InvalidParameterError(f"{option} takes numbers, as in 0,120.")
    return found


@contextmanager
def _remove_on_failure(path: Path) -> Iterator[None]:
    """Remove a newly created budget if the next step fails, so that a mistake can be corrected."""
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise
