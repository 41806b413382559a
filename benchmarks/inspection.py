"""Roles that `sfumato.inspect` proposes, against those that a reviewer gives: precision, recall, and what is at stake.

Every proposed recipe is carried out as it stands (counting rows, which only the owner of a table can allow): it must
run, publish no identifier, name every sensitive column in a model, and leave no record unique in what is published of
quasi-identifiers and insensitive columns.

Run `python benchmarks/inspection.py`. The columns are in `labeled_columns.txt`; cells are made up from their
summaries. Tables that are held out have the honest figures: rules were mended by looking at the others. Goal: 0.95 for
identifiers and sensitive columns, and no identifier that would be published unchanged.
`--mistakes` lists the mistakes in the tables that are not held out.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import sfumato as sf

COLUMNS = Path(__file__).with_name("labeled_columns.txt")
MOST_ROWS = 2000
KNOWN = {"words", "missing", "same", "uuid"}
FEW = 100  # so many distinct values are all seen in fewer rows, too
LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))
MOMENTS = {"date": pa.date32(), "moment": pa.timestamp("us")}


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column as its documentation describes it, and the role that a reviewer gives it."""

    name: str
    kind: str
    distinct: int
    role: str
    length: int = 0
    label: str = ""
    words: tuple[str, ...] = ()
    missing: float = 0.0
    same: str = ""
    uuid: bool = False

    def cells(self, rows: int, of: int, seed: int) -> pa.Array:
        """Make up cells: as many distinct ones as the table would have if it had fewer rows."""
        rng = np.random.default_rng([seed, *(self.same or self.name).encode()])
        filled = rows - round(self.missing * rows)
        distinct = max(min(max(min(self.distinct, FEW), round(min(self.distinct / of, 1.0) * rows)), filled), 1)
        codes = np.append(np.arange(distinct), rng.integers(distinct, size=rows - distinct))
        cells = self._cells(codes, distinct, rng)
        kept = pc.if_else(pa.array(np.arange(rows) < filled), cells, pa.scalar(None, cells.type))
        return kept.take(pa.array(rng.permutation(rows)))

    def _cells(self, codes: np.ndarray, distinct: int, rng: np.random.Generator) -> pa.Array:
        if self.words:
            more = [f"{self.words[code % len(self.words)]} {_digits(code, distinct)}" for code in range(distinct)]
            words = [*self.words, *more[len(self.words) :]]
            return pa.array([words[code] for code in codes])
        if self.uuid:
            return pa.array(
                [str(UUID(int=(int(code) * 0x9E3779B97F4A7C15F39CC0605CEDC835) % 2**128)) for code in codes]
            )
        if self.kind == "text":
            words = rng.choice(LETTERS, size=(distinct, max(self.length - 3, 0)))
            return pa.array([f"{''.join(words[code])}{_digits(code, distinct)}" for code in codes])
        if self.kind == "boolean":
            return pa.array(codes % 2 == 0)
        if self.kind in MOMENTS:
            step = 86_400_000_000 if self.kind == "date" else 5_400_000_000
            return pa.array(codes * step, pa.timestamp("us")).cast(MOMENTS[self.kind])
        return pa.array(codes + 1 if self.kind == "whole" else codes / 8 + 0.1)


def _digits(code: int, distinct: int) -> str:
    """Write a code in letters, so that no text looks like a number by chance."""
    return "".join(LETTERS[int(digit)] for digit in f"{code:0{len(str(distinct))}d}")


@dataclass(frozen=True)
class Labeled:
    """A table whose columns have roles by a reviewer."""

    name: str
    rows: int
    held_out: bool
    columns: list[Column]


def read_tables() -> list[Labeled]:
    """Read the labeled columns."""
    tables: list[Labeled] = []
    for line in COLUMNS.read_text(encoding="utf-8").splitlines():
        words = shlex.split(line, comments=line.startswith("#"))
        if line.startswith("@"):
            tables.append(Labeled(f"{words[1]} ({words[2]})", int(words[3]), words[-1] == "held", []))
        elif words:
            tables[-1].columns.append(_column(words, tables[-1].rows))
    return tables


def _column(words: list[str], rows: int) -> Column:
    name, kind, distinct, role, *more = words
    known = {key: value for key, equals, value in (each.partition("=") for each in more) if equals and key in KNOWN}
    plain = [each for each in more if each.partition("=")[0] not in KNOWN]
    length = int(plain.pop(0)) if kind == "text" and plain and plain[0].isdecimal() else 0
    return Column(
        name=name,
        kind=kind,
        distinct=rows if distinct == "*" else int(distinct),
        role=role,
        length=length,
        label="".join(plain),
        words=tuple(filter(None, known.get("words", "").split("|"))),
        missing=float(known.get("missing", 0)),
        same=known.get("same", ""),
        uuid="uuid" in known,
    )


def made_up(labeled: Labeled) -> pa.Table:
    """Make up a table, of at most 2,000 rows."""
    fewer = min(labeled.rows, MOST_ROWS)
    return pa.table({column.name: column.cells(fewer, labeled.rows, 1) for column in labeled.columns})


def proposed(labeled: Labeled) -> tuple[dict[str, str], list[str]]:
    """Return the role that is proposed for every column, and what is wrong with a release by the proposed recipe."""
    table = made_up(labeled)
    labels = {column.name: column.label for column in labeled.columns}
    found = sf.inspect(table, labels=labels)
    return {each.name: each.role.value for each in found.proposals}, list(_wrong(labeled, table, found))


def _wrong(labeled: Labeled, table: pa.Table, found: sf.tables.inspection.Inspection) -> Iterator[str]:
    recipe = replace(sf.propose_recipe(found, table), count_rows=True)
    try:
        release = sf.run_recipe(recipe, table)
    except sf.errors.SfumatoError as error:
        yield f"is refused: {error}"
        return
    schema, published = recipe.schema, release.published
    for column in labeled.columns:
        if column.role == "identifier" and column.name in {*schema.sensitive, *schema.insensitive}:
            yield f"publishes the identifier {column.name} as it is"
    protected = {name for model in recipe.models for name in model.sensitive_attributes}
    several = {each.name for each in found.proposals if each.distinct > 1}
    yield from (f"promises nothing about {name}" for name in several.intersection(schema.sensitive) - protected)
    shown = [*schema.quasi_identifiers, *schema.insensitive]
    sizes = published.select(shown).group_by(shown).aggregate([([], "count_all")])["count_all"]
    if shown and pc.min(sizes).as_py() == 1:
        yield f"leaves {pc.sum(pc.equal(sizes, 1)).as_py():,} records unique"


def precision_and_recall(pairs: Counter[tuple[str, str]], role: str) -> tuple[float, float]:
    """Return how often a role is right where it is proposed, and proposed where it is right."""
    said = sum(count for (_, given), count in pairs.items() if given == role)
    meant = sum(count for (label, _), count in pairs.items() if label == role)
    return pairs[role, role] / max(said, 1), pairs[role, role] / max(meant, 1)


def figures(pairs: Counter[tuple[str, str]]) -> str:
    """Write precision and recall of every role, given how often each is meant and proposed."""
    lines = []
    for role in ("identifier", "sensitive", "quasi", "insensitive"):
        meant = sum(count for (label, _), count in pairs.items() if label == role)
        precision, recall = precision_and_recall(pairs, role)
        lines.append(f"  {role:<12} {meant:>4} columns  precision {precision:.3f}  recall {recall:.3f}")
    shown = {role: pairs["identifier", role] for role in ("insensitive", "quasi", "sensitive")}
    lines.append("  identifiers proposed as " + ", ".join(f"{role}: {count}" for role, count in shown.items()))
    return "\n".join(lines)


def main(*, mistakes: bool) -> None:
    """Print the figures of the tables that rules were made with, and of those that were held out."""
    tables = read_tables()
    pairs: dict[bool, Counter[tuple[str, str]]] = {False: Counter(), True: Counter()}
    unsafe: list[str] = []
    for table in tables:
        found, wrong = proposed(table)
        unsafe += [f"{table.name} {each}" for each in wrong]
        pairs[table.held_out].update((column.role, found[column.name]) for column in table.columns)
        for column in table.columns:
            if mistakes and not table.held_out and column.role != found[column.name]:
                print(f"{table.name}: {column.name} is {column.role}, proposed as {found[column.name]}")
    total = sum(len(table.columns) for table in tables)
    print(f"{total} columns of {len(tables)} tables")
    for held, title in ((False, "tables that rules were made with"), (True, "tables held out")):
        print(f"{title}:\n{figures(pairs[held])}")
    print(f"recipes that do not run, or are not safe: {len(unsafe)} of {len(tables)}", *unsafe, sep="\n  ")
    said = [
        f"{role} {precision:.3f} and {recall:.3f}"
        for role in ("identifier", "sensitive")
        for precision, recall in [precision_and_recall(pairs[True], role)]
    ]
    published = sum(each["identifier", "insensitive"] for each in pairs.values())
    print(f"held out, precision and recall: {', '.join(said)}; identifiers published unchanged: {published}")


if __name__ == "__main__":
    main(mistakes="--mistakes" in sys.argv)
