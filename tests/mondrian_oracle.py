"""Mondrian copied from its paper (LeFevre, DeWitt, Ramakrishnan 2006): recursive, on lists, slow and obvious."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import oracles
from sfumato.schema.roles import Scale

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sfumato.encoding.coded_table import CodedColumn
    from sfumato.encoding.domain import Domain

Rows = list[int]
Good = "Callable[[Rows], bool]"


@dataclass(frozen=True)
class Search:
    """One run: the columns, what makes a group good, and how cuts are made."""

    columns: Sequence[CodedColumn]
    good: Callable[[Rows], bool]
    strict: bool = True

    def partition(self, rows: Rows) -> list[Rows]:
        """Cut rows in the widest way that leaves two good halves, and again; else they are a group."""
        ways = [(column, parting) for parting in (True, False) for column in self.columns]
        for column, parting in sorted(ways, key=lambda way: -self.width(*way, rows)):
            if self.width(column, parting, rows) > 0:
                left, right = self.parted(column, rows) if parting else self.halves(column, rows)
                if self.good(left) and self.good(right):
                    return self.partition(left) + self.partition(right)
        return [rows]

    def width(self, column: CodedColumn, parting: bool, rows: Rows) -> float:
        """Give the range of values over the domain's, or the share of leaves under their common ancestor."""
        domain, known = column.domain, self.known(column, rows)
        mixed = 0 < len(known) < len(rows)
        if parting:
            return 3.0 if mixed else 0.0
        if not known or min(known) == max(known):
            return 0.0
        low, high = min(known), max(known)
        if mixed:
            return 2.0
        if is_tree(domain):
            level = common_level(domain, known)
            nodes = domain.hierarchy.levels[level].tolist()
            return nodes.count(nodes[low]) / len(domain)
        first, last = domain.positions[0], domain.positions[-1]
        return (domain.positions[high] - first) / (last - first) - (domain.positions[low] - first) / (last - first)

    def parted(self, column: CodedColumn, rows: Rows) -> tuple[Rows, Rows]:
        """Part the rows that have a value from those that miss it."""
        lost = [row for row in rows if column.codes[row] == column.domain.missing]
        return [row for row in rows if row not in lost], lost

    def halves(self, column: CodedColumn, rows: Rows) -> tuple[Rows, Rows]:
        """Cut where the smaller half is largest, at the lower code if several cuts are equally good."""
        domain, known = column.domain, self.known(column, rows)
        if not self.strict and len(known) == len(rows) and not is_tree(domain):
            ordered = sorted(rows, key=lambda row: column.codes[row])
            left = set(ordered[: len(rows) // 2])
            return [row for row in rows if row in left], [row for row in rows if row not in left]
        best: tuple[Rows, Rows] = ([], rows)
        for code in sorted(set(known))[:-1]:
            if is_tree(domain) and not self.parts_siblings(domain, known, code):
                continue
            left_half = [row for row in rows if column.codes[row] <= code]
            right_half = [row for row in rows if column.codes[row] > code]
            if min(len(left_half), len(right_half)) > min(map(len, best)):
                best = left_half, right_half
        return best

    @staticmethod
    def parts_siblings(domain: Domain, known: Rows, code: int) -> bool:
        """Tell whether all values up to a code are under other children of the common ancestor than the rest."""
        below = domain.hierarchy.levels[common_level(domain, known) - 1].tolist()
        return not {below[c] for c in known if c <= code} & {below[c] for c in known if c > code}

    @staticmethod
    def known(column: CodedColumn, rows: Rows) -> Rows:
        """Give the codes of rows that have a value."""
        return [int(column.codes[row]) for row in rows if column.codes[row] != column.domain.missing]

    def published(self, rows: Rows, *, sets: bool = False) -> list[tuple[str | None, ...]]:
        """Give the texts that are published about every row."""
        texts: list[list[str | None]] = [[] for _ in rows]
        for group in self.partition(rows):
            for column in self.columns:
                shown = self.text(column, group, sets=sets)
                for row in group:
                    texts[row].append(shown)
        return [tuple(row) for row in texts]

    def text(self, column: CodedColumn, rows: Rows, *, sets: bool) -> str | None:
        """Write what a group is published as in one column."""
        domain, known = column.domain, self.known(column, rows)
        if not known:
            return None
        if len(known) < len(rows):
            return "*"
        values = sorted(set(known))
        if len(values) == 1:
            return domain.texts[values[0]]
        if domain.scale is Scale.NOMINAL or (is_tree(domain) and sets):
            return "*" if len(values) == len(domain) else "{" + ", ".join(domain.texts[v] for v in values) + "}"
        if is_tree(domain):
            level = common_level(domain, known)
            return domain.hierarchy.labels[level][domain.hierarchy.levels[level][values[0]]]
        return f"[{domain.texts[values[0]]}, {domain.texts[values[-1]]}]"


def is_tree(domain: Domain) -> bool:
    """Tell whether values are related by a taxonomy."""
    return domain.scale is Scale.CATEGORICAL


def common_level(domain: Domain, codes: Rows) -> int:
    """Find the lowest level on which all codes have one node."""
    return next(h for h, nodes in enumerate(domain.hierarchy.levels) if len({nodes[c] for c in codes}) == 1)


def size_at_least(k: int) -> Callable[[Rows], bool]:
    """Promise k-anonymity."""
    return lambda rows: len(rows) >= k


def distinct_at_least(l: int, sensitive: Sequence[object]) -> Callable[[Rows], bool]:
    """Promise distinct l-diversity."""
    return lambda rows: len({sensitive[row] for row in rows}) >= l


def close_within(t: float, sensitive: Sequence[object]) -> Callable[[Rows], bool]:
    """Promise t-closeness with equal distances."""
    values = sorted(set(sensitive), key=str)
    totals = [list(sensitive).count(value) for value in values]

    def good(rows: Rows) -> bool:
        counts = Counter(sensitive[row] for row in rows)
        return bool(rows) and oracles.equal_distance([counts[value] for value in values], totals) <= t

    return good


def all_of(*promises: Callable[[Rows], bool]) -> Callable[[Rows], bool]:
    """Promise several things at once."""
    return lambda rows: all(promise(rows) for promise in promises)
