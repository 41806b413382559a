"""`sfumato baskets log`: count the persons behind queries or clicks with differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import Json, Source, expand_option_groups, format_examples
from sfumato.cli.paying import BudgetOptions, print_spent
from sfumato.cli.printing import print_json, show_progress_bar
from sfumato.cli.reading_ways import read_told
from sfumato.cli.writing import check_overwrite

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.baskets.logs import PrivateItemCounts
    from sfumato.queries.private.accountant import Accountant

LOG_EXAMPLES = format_examples(
    "sfumato baskets log searches.csv --person user --item query --max-items 5 --epsilon 1 --delta 1e-6 \\",
    "    --budget searches.sqlite --total 2 --total-delta 1e-5 --analyst ann --out queries.csv",
    "sfumato baskets log searches.csv --person user --item query --item clicked --max-items 5 --epsilon 0.5 \\",
    "    --delta 1e-6 --budget searches.sqlite --analyst ann --out clicks.csv",
)


@dataclass(frozen=True, kw_only=True)
class LogColumnOptions:
    """What is counted."""

    person: Annotated[str, typer.Option(metavar="COLUMN", help="Whose rows these are.", show_default=False)]
    item: Annotated[
        list[str],
        typer.Option(metavar="COLUMN", help="What is counted; repeat it to count pairs.", show_default=False),
    ]
    max_items: Annotated[
        int, typer.Option(metavar="N", help="For how many items a person counts at most.", show_default=False)
    ]
    keep: Annotated[
        str, typer.Option(metavar="WHICH", help="Which items a person with too many keeps: random or frequent.")
    ] = "random"
    separator: Annotated[str, typer.Option(metavar="CHAR", help="The separator of a text file.")] = ","
    encoding: Annotated[str, typer.Option(metavar="NAME", help="The encoding of a text file.")] = "utf-8"

    def read(self, file: str) -> pa.Table:
        """Read a log as it is told, so that nobody's rows change how others are read."""
        return read_told(file, separator=self.separator, encoding=self.encoding)


@dataclass(frozen=True, kw_only=True)
class LogBudgetOptions(BudgetOptions):
    """What it costs, also of delta, and who pays from which budget."""

    delta: Annotated[str, typer.Option(metavar="NUMBER", help="The delta to spend.", show_default=False)]
    total_delta: Annotated[str | None, typer.Option(metavar="DELTA", help="A new budget: the delta of all.")] = None


@expand_option_groups
def log_counts(
    *,
    file: Source,
    counted: LogColumnOptions,
    paid: LogBudgetOptions,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the counts go.", show_default=False)],
    json: Json = False,
) -> None:
    """Count the persons behind every query of a log, or every pair of query and click, with differential privacy.

    Items that few persons have are left out, and nothing is told about them. The cost is spent before anything is
    counted. Separator and encoding are told, not detected, so that nobody's rows change how others are read.

    Exit codes: 0 counted, 1 the budget does not allow it, 2 bad request.
    """
    from sfumato.baskets.logs import private_item_counts
    from sfumato.table.write import write

    check_overwrite(out, force=None)
    with show_progress_bar("Reading"):
        table = counted.read(file)
    with paid.open(total_delta=paid.total_delta) as payment:
        found = private_item_counts(
            table,
            person=counted.person,
            item=counted.item,
            max_items=counted.max_items,
            delta=paid.delta,
            keep=counted.keep,  # type: ignore[arg-type]  # which is checked
            **payment,
        )
    write(found.to_frame(), out)
    _print_log_counts(found, payment["accountant"], out, json=json)


def _print_log_counts(found: PrivateItemCounts, accountant: Accountant, out: Path, *, json: bool) -> None:
    balance = accountant.balance()
    if json:
        facts = {"items": len(found.items), "threshold": found.threshold, "scale": found.scale}
        left = {"epsilon_left": balance.total.left, "delta_left": balance.delta.left}
        cost = {"epsilon": found.epsilon, "delta": found.delta, "neighbors": found.neighbors}
        print_json({**facts, **cost, **left})
        return
    typer.echo(out)
    typer.echo(f"{len(found.items):,} items, each with at least {found.threshold:,} persons after the noise")
    print_spent(accountant, found.epsilon)
    typer.echo(f"delta {found.delta} was spent, {balance.delta.left} of {balance.delta.budget} is left")
