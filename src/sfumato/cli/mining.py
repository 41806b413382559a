"""`sfumato rules`: find association rules, hide the sensitive ones, and recover them from flipped baskets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato._neighbors import BASKET, describe_epsilon
from sfumato.cli._options import (
    Force,
    Json,
    ReadingOptions,
    Source,
    command_group,
    expand_option_groups,
    format_examples,
)
from sfumato.cli._output import align_columns, check_overwrite, print_json, printable, show_progress_bar
from sfumato.errors import InvalidParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.mining.association_rules import Rule
    from sfumato.mining.mask import MASK
    from sfumato.mining.transaction_matrix import ItemSet, TransactionMatrix

EXAMPLES = format_examples(
    "sfumato rules mine baskets.csv --support 0.05 --confidence 0.6",
    'sfumato rules hide baskets.csv --rule "syringe => insulin" --support 0.05 --confidence 0.6 --out hidden.csv',
    'sfumato rules hide baskets.csv --items "syringe, insulin" --support 20 --method border --out hidden.csv',
    "sfumato rules flip baskets.csv --present 0.9 --domain bread,milk,beer --out flipped.csv",
    "sfumato rules estimate flipped.csv --present 0.9 --support 0.05 --confidence 0.6",
)

app = command_group("Find association rules, hide the sensitive ones, and recover them from flipped baskets.")


Columns = Annotated[
    str | None, typer.Option(metavar="A,B", help="The transaction and item columns, if the table has more columns.")
]


@dataclass(frozen=True, kw_only=True)
class MiningOptions:
    """What is mined, from which columns."""

    support: Annotated[
        str,
        typer.Option(metavar="N", help="A number of transactions (20) or a share of them (0.05).", show_default=False),
    ]
    confidence: Annotated[float, typer.Option(metavar="SHARE", help="The minimum confidence of a rule.")] = 0.5
    columns: Columns = None

    def min_support(self) -> float:
        """Read the support: whole numbers count transactions, others are shares."""
        try:
            return int(self.support) if self.support.strip().isdigit() else float(self.support)
        except ValueError:
            raise InvalidParameterError("--support must be a number.") from None

    def transactions(self, source: str, reading: ReadingOptions) -> TransactionMatrix:
        """Read the transactions."""
        return _transactions(source, reading, self.columns)


def _transactions(source: str, reading: ReadingOptions, columns: str | None) -> TransactionMatrix:
    from sfumato.mining.transaction_matrix import TransactionMatrix

    return TransactionMatrix.from_data(_table(source, reading, columns))


def _table(source: str, reading: ReadingOptions, columns: str | None) -> pa.Table:
    from sfumato.tables.risk._record_groups import check_columns

    table = reading.read(source)
    if columns is not None:
        names = [name.strip() for name in columns.split(",")]
        check_columns(table.column_names, names)
        table = table.select(names)
    return table


@app.command("mine", epilog=format_examples("sfumato rules mine baskets.csv --support 0.05 --confidence 0.6"))
@expand_option_groups
def find_rules(*, file: Source, reading: ReadingOptions, mining: MiningOptions, json: Json = False) -> None:
    """Find the rules with a minimum support and confidence, and print them with both.

    The output shows what the data says: keep it private.
    """
    from sfumato.mining.association_rules import mine_rules

    transactions = mining.transactions(file, reading)
    with show_progress_bar("Mining"):
        found = mine_rules(transactions, support=mining.min_support(), confidence=mining.confidence)
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
        typer.echo(align_columns([head, *([str(rule), f"{count:,}", f"{share:.4g}"] for rule, count, share in rows)]))


@dataclass(frozen=True, kw_only=True)
class HidingOptions:
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
        from sfumato.mining.association_rules import Rule, parse_itemset

        if not self.rule and not self.items:
            raise InvalidParameterError("There is nothing to hide; give --rule or --items.")
        return [*map(Rule.parse, self.rule), *map(parse_itemset, self.items)]


@app.command(
    "hide",
    epilog=format_examples(
        'sfumato rules hide baskets.csv --rule "syringe => insulin" --support 0.05 --confidence 0.6 --out hidden.csv'
    ),
)
@expand_option_groups
def hide_rules(
    *,
    file: Source,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the changed table.", show_default=False)],
    reading: ReadingOptions,
    mining: MiningOptions,
    sensitive: HidingOptions,
    force: Force = False,
    json: Json = False,
) -> None:
    """Change transactions so that sensitive rules or item sets are not found, and report what that costs.

    The table keeps its form: transaction and item, or one boolean column per item. After blocking it always has the
    second form, with empty cells for unknown values. Exit codes: 0 all are hidden, 1 some are not, or are found by a
    reader who takes unknown cells for absent or for present items, 2 bad request.
    """
    from sfumato.cli._errors import DOES_NOT_HOLD
    from sfumato.io._writing import write
    from sfumato.mining.hiding import hide_patterns

    check_overwrite(out, force=force)
    patterns = sensitive.patterns()
    transactions = mining.transactions(file, reading)
    with show_progress_bar("Hiding"):
        hidden = hide_patterns(
            transactions,
            patterns,
            support=mining.min_support(),
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


@dataclass(frozen=True, kw_only=True)
class MaskOptions:
    """How baskets are flipped."""

    present: Annotated[
        float,
        typer.Option(metavar="CHANCE", help="The chance that an item that is there is reported.", show_default=False),
    ]
    absent: Annotated[
        float | None,
        typer.Option(
            metavar="CHANCE", help="The chance that one that is not stays unreported; as --present if omitted."
        ),
    ] = None
    domain: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...", help="All items there can be; by default the columns of a table with one for each."
        ),
    ] = None

    def randomizer(self, table: pa.Table) -> MASK:
        """Return what flips these baskets, or has flipped them."""
        import pyarrow as pa

        from sfumato.mining.mask import MASK

        flags = all(pa.types.is_boolean(column.type) for column in table.columns)
        if self.domain is None and not flags:
            raise InvalidParameterError(
                "The items that there can be must not come from the baskets; list all of them by --domain."
            )
        items = table.column_names if self.domain is None else [item.strip() for item in self.domain.split(",")]
        return MASK(items=items, present=self.present, absent=self.absent)


@app.command(
    "flip",
    epilog=format_examples("sfumato rules flip baskets.csv --present 0.9 --domain bread,milk,beer --out flipped.csv"),
)
@expand_option_groups
def perturb_transactions(
    *,
    file: Source,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the reports.", show_default=False)],
    reading: ReadingOptions,
    flipping: MaskOptions,
    columns: Columns = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Flip the items of every basket with public chances, before they leave their owner.

    The reports have one boolean column per item. What a single basket held is blurred; the epsilon of all items of a
    basket together is printed, and is large.
    """
    from sfumato.core._formatting import json_number
    from sfumato.io._writing import write

    check_overwrite(out, force=force)
    table = _table(file, reading, columns)
    how = flipping.randomizer(table)
    with show_progress_bar("Flipping"):
        baskets = how.perturb(table)
        write(baskets.to_frame(), out)
    if json:
        cost = {"epsilon": json_number(how.epsilon), "neighbors": BASKET}
        print_json({"baskets": len(baskets), "items": len(how.items), **cost, "out": str(out)})
        return
    typer.echo(printable(f"{len(baskets):,} flipped baskets are in {out}"))
    typer.echo(f"{describe_epsilon(how.epsilon, BASKET)}, of {len(how.items):,} items together")


@app.command(
    "estimate",
    epilog=format_examples("sfumato rules estimate flipped.csv --present 0.9 --support 0.05 --confidence 0.6 --most 3"),
)
@expand_option_groups
def estimate_rules(
    *,
    file: Source,
    reading: ReadingOptions,
    mining: MiningOptions,
    flipping: MaskOptions,
    most: Annotated[int, typer.Option(metavar="N", help="The most items of a rule; errors grow with every item.")] = 3,
    json: Json = False,
) -> None:
    """Find rules in flipped baskets: estimated supports and confidences, each with its standard error."""
    from sfumato.mining.transaction_matrix import TransactionMatrix

    table = _table(file, reading, mining.columns)
    how, reports = flipping.randomizer(table), TransactionMatrix.from_data(table)
    with show_progress_bar("Mining"):
        found = how.rules(reports, support=mining.min_support(), confidence=mining.confidence, most_items=most)
    rows = sorted(found.items(), key=lambda each: (-each[1].confidence.value, -each[1].support.value, str(each[0])))
    if json:
        print_json(
            [{"left": sorted(rule.left), "right": sorted(rule.right), **asdict(estimated)} for rule, estimated in rows]
        )
        return
    typer.echo(printable(f"{len(rows):,} rules in {len(reports):,} flipped baskets"))
    if rows:
        lines = [["rule", "support", "+-", "confidence", "+-"]]
        for rule, each in rows:
            numbers = [f"{each.support.value:,.0f}", f"{each.support.error:,.0f}"]
            lines.append([str(rule), *numbers, f"{each.confidence.value:.4g}", f"{each.confidence.error:.2g}"])
        typer.echo(align_columns(lines))
