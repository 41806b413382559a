"""`sfumato rules`: find association rules, and hide the sensitive ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import Force, Json, Reading, Source, examples, family, spread
from sfumato.cli.printing import aligned, print_json, printable, progress
from sfumato.cli.writing import refuse_existing
from sfumato.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.mining.patterns import Rule
    from sfumato.mining.transactions import ItemSet, Transactions

EXAMPLES = examples(
    "sfumato rules mine baskets.csv --support 0.05 --confidence 0.6",
    'sfumato rules hide baskets.csv --rule "syringe => insulin" --support 0.05 --confidence 0.6 --out hidden.csv',
    'sfumato rules hide baskets.csv --items "syringe, insulin" --support 20 --method border --out hidden.csv',
)

app = family("Find association rules, and hide the sensitive ones.")


@dataclass(frozen=True, kw_only=True)
class Mining:
    """What is mined, from which columns."""

    support: Annotated[
        str,
        typer.Option(metavar="N", help="A number of transactions (20) or a share of them (0.05).", show_default=False),
    ]
    confidence: Annotated[float, typer.Option(metavar="SHARE", help="The minimum confidence of a rule.")] = 0.5
    columns: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="The transaction and item columns, if the table has more columns."),
    ] = None

    def least(self) -> float:
        """Read the support: whole numbers count transactions, others are shares."""
        try:
            return int(self.support) if self.support.strip().isdigit() else float(self.support)
        except ValueError:
            raise InvalidParameterError("--support must be a number.") from None

    def transactions(self, source: str, reading: Reading) -> Transactions:
        """Read the transactions."""
        from sfumato.judging.risk.record_groups import refuse_columns
        from sfumato.mining.transactions import Transactions

        table = reading.read(source)
        if self.columns is not None:
            names = [name.strip() for name in self.columns.split(",")]
            refuse_columns(table, names)
            table = table.select(names)
        return Transactions.of(table)


@app.command(epilog=examples("sfumato rules mine baskets.csv --support 0.05 --confidence 0.6"))
@spread
def mine(*, file: Source, reading: Reading, mining: Mining, json: Json = False) -> None:
    """Find the rules with a minimum support and confidence, and print them with both.

    The output shows what the data says: keep it private.
    """
    from sfumato.mining.patterns import mine_rules

    transactions = mining.transactions(file, reading)
    with progress("Mining"):
        found = mine_rules(transactions, support=mining.least(), confidence=mining.confidence)
    rows = [(rule, transactions.support(rule.items), float(share)) for rule, share in found.items()]
    rows.sort(key=lambda row: (-row[2], -row[1], str(row[0])))
    if json:
        print_json(
            [
                {"left": sorted(rule.left), "right": sorted(rule.right), "support": count, "confidence": share}
                for rule, count, share in rows
            ]
        )
        return
    typer.echo(printable(f"{len(rows):,} rules in {len(transactions):,} transactions"))
    if rows:
        head = ["rule", "support", "confidence"]
        typer.echo(aligned([head, *([str(rule), f"{count:,}", f"{share:.4g}"] for rule, count, share in rows)]))


@dataclass(frozen=True, kw_only=True)
class Sensitive:
    """What is to be hidden, and how."""

    rule: Annotated[
        list[str], typer.Option(metavar='"A, B => C"', help="A rule that must not be found. Repeatable.")
    ] = field(default_factory=list)
    items: Annotated[
        list[str], typer.Option(metavar='"A, B"', help="Or an item set that must not be frequent. Repeatable.")
    ] = field(default_factory=list)
    method: Annotated[
        str, typer.Option(metavar="NAME", help="1.a, 1.b, 2.a or blocking for rules; border or exact for both.")
    ] = "exact"

    def patterns(self) -> list[Rule | ItemSet]:
        """Read the patterns."""
        from sfumato.mining.patterns import Rule, item_set

        if not self.rule and not self.items:
            raise InvalidParameterError("There is nothing to hide; give --rule or --items.")
        return [*map(Rule.parse, self.rule), *map(item_set, self.items)]


@app.command(
    epilog=examples(
        'sfumato rules hide baskets.csv --rule "syringe => insulin" --support 0.05 --confidence 0.6 --out hidden.csv'
    )
)
@spread
def hide(
    *,
    file: Source,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the changed table.", show_default=False)],
    reading: Reading,
    mining: Mining,
    sensitive: Sensitive,
    force: Force = False,
    json: Json = False,
) -> None:
    """Change transactions so that sensitive rules or item sets are not found, and report what that costs.

    The table keeps its form: transaction and item, or one boolean column per item. After blocking it always has the
    second form, with empty cells for unknown values. Exit codes: 0 all are hidden, 1 some are not, or are found by a
    reader who takes unknown cells for absent or for present items, 2 bad request.
    """
    from sfumato.cli.refusals import DOES_NOT_HOLD
    from sfumato.mining.hiding import hide_patterns
    from sfumato.table.write import write

    refuse_existing(out, force=force)
    patterns = sensitive.patterns()
    transactions = mining.transactions(file, reading)
    with progress("Hiding"):
        hidden = hide_patterns(
            transactions,
            patterns,
            support=mining.least(),
            confidence=mining.confidence,
            method=sensitive.method,  # type: ignore[arg-type]  # an unknown method is refused there
        )
    made = hidden.transactions
    write(made.to_pairs() if made.names is not None and not hidden.blocked else made.to_frame(), out)
    if json:
        print_json({**hidden.to_dict(), "out": str(out)})
    else:
        typer.echo("\n".join(map(printable, [*repr(hidden).splitlines(), f"The changed table is in {out}"])))
    if not hidden.hidden:
        raise typer.Exit(DOES_NOT_HOLD)
