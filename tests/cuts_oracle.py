"""Cuts through hierarchies by their definitions, slow and obvious: a part is a set of codes, a cut a list of parts."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from sfumato.schema.roles import SENSITIVE
from sfumato.tables.models._conjunction import find_valid_groups
from sfumato.tables.published.groups import Groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sfumato.tables.algorithms.base import TableRequest
    from sfumato.tables.published.solution import TableSolution

Part = frozenset[int]
Cuts = list[list[Part]]


class Attribute:
    """One quasi-identifier: its codes in the table, and all nodes above them as sets of codes."""

    def __init__(self, column) -> None:
        self.domain = column.domain
        self.rows = column.codes.tolist()
        self.known = frozenset(range(len(column.domain)))
        self.lost = frozenset({column.domain.missing} & set(self.rows))
        self.ordered = column.domain.hierarchy is None and column.domain.scale.ordered
        self.root = self.known | self.lost
        self.nodes = {self.root, *(frozenset({code}) for code in self.root)}
        for level in [] if column.domain.hierarchy is None else column.domain.hierarchy.levels[:-1]:
            self.nodes |= {frozenset(np.flatnonzero(level == node).tolist()) for node in set(level.tolist())}

    def children(self, node: Part) -> list[Part]:
        """Give the largest nodes inside a node, in the order of codes."""
        below = [other for other in self.nodes if other < node]
        return sorted((b for b in below if not any(b < other for other in below)), key=min)

    def members(self, part: Part) -> list[Part]:
        """Give the children that a part consists of."""
        above = min((node for node in self.nodes if part <= node), key=len)
        return [child for child in self.children(above) if child <= part]

    def can_be_shown(self, part: Part) -> bool:
        """Tell whether a label of bearable length says exactly which values a part has."""
        is_range = self.domain.scale.ordered and len(part) == max(part) - min(part) + 1
        return part in self.nodes or (part <= self.known and (is_range or len(part) <= 100))

    def partings(self, part: Part, scheme: str) -> list[list[Part]]:
        """List all that a part can be parted into, in the order in which equal ones are preferred."""
        if len(part) == 1:
            return []
        lost = [self.lost] if self.lost and self.lost <= part else []
        if self.ordered:
            known = sorted(part & self.known)
            found = [[frozenset(known[:i]), frozenset(known[i:]), *lost] for i in range(1, len(known))]
            return found + ([[frozenset(known), *lost]] if lost else [])
        members = self.members(part)
        found = [members]
        if scheme == "sibling" and len(members) > 2:
            alone = [[member, part - member] for member in members if not lost or member == lost[0]]
            found += [pieces for pieces in alone if self.can_be_shown(pieces[1])]
        return found

    def joins(self, cut: list[Part]) -> list[tuple[list[Part], Part]]:
        """List all joins of parts of a cut, in the order in which equal ones are preferred."""
        if not self.ordered:
            inner = sorted((node for node in self.nodes if len(node) > 1), key=lambda node: (len(node), min(node)))
            found = [(self.children(node), node) for node in inner if node not in cut]
            return [(children, node) for children, node in found if set(children) <= set(cut)]
        ranges = sorted((part for part in cut if part <= self.known), key=min)
        found = [([low, high], low | high) for low, high in pairwise(ranges)]
        return found or ([(cut, self.root)] if len(cut) == 2 else [])

    def all_cuts(self, part: Part) -> Iterator[list[Part]]:
        """List all subtree cuts of a part."""
        yield [part]
        for pieces in self.partings(part, "subtree"):
            for cuts in product(*(self.all_cuts(piece) for piece in pieces)):
                yield [each for cut in cuts for each in cut]


class Table:
    """A task, to be judged cut by cut."""

    def __init__(self, task: TableRequest, target: str | None = None) -> None:
        self.task = task
        self.rows = task.table.rows
        self.attributes = [Attribute(column) for column in task.table.quasi]
        self.classes = None if target is None else task.table.target_columns[target].codes.tolist()

    @property
    def top(self) -> Cuts:
        """Publish all values of every attribute alike."""
        return [[attribute.root] for attribute in self.attributes]

    @property
    def bottom(self) -> Cuts:
        """Publish every value as it is."""
        return [[frozenset({code}) for code in sorted(attribute.root)] for attribute in self.attributes]

    def labels(self, cuts: Cuts) -> list[tuple[Part, ...]]:
        """Give the parts that every row is published by."""
        place = [{code: part for part in cut for code in part} for cut in cuts]
        columns = [[where[code] for code in a.rows] for where, a in zip(place, self.attributes, strict=True)]
        return list(zip(*columns, strict=True))

    def kept(self, cuts: Cuts) -> list[bool]:
        """Tell for every row whether it is published."""
        labels = self.labels(cuts)
        number = {label: i for i, label in enumerate(dict.fromkeys(labels))}
        group = np.array([number[label] for label in labels], dtype=np.int32)
        groups = Groups.from_rows(group, len(number), self.task.table.sensitive, SENSITIVE)
        return find_valid_groups(groups, self.task.models)[group].tolist()

    def bad(self, cuts: Cuts) -> int:
        """Count the records that are not published."""
        return self.kept(cuts).count(False)

    def allows(self, cuts: Cuts) -> bool:
        """Tell whether few enough records, and not all, are suppressed."""
        return self.bad(cuts) <= self.task.max_suppressed and self.bad(cuts) < self.rows

    def anonymity(self, cuts: Cuts) -> int:
        """Give the size of the smallest group that is published."""
        published = [label for label, kept in zip(self.labels(cuts), self.kept(cuts), strict=True) if kept]
        return min(Counter(published).values(), default=0)

    def worth(self, cuts: Cuts, *, suppressing: bool = True) -> float:
        """Add up what all published records, or all records, are worth."""
        kept = self.kept(cuts) if suppressing else [True] * self.rows
        return sum(
            self._per_record(attribute, part)
            for label, is_kept in zip(self.labels(cuts), kept, strict=True)
            for attribute, part in zip(self.attributes, label, strict=True)
            if is_kept
        )

    def per(self, column: int, part: Part) -> float:
        """Give by what the gain from parting a part is divided."""
        if self.classes is None:
            return self.rows * len(self.attributes)
        return sum(code in part for code in self.attributes[column].rows)

    def _per_record(self, attribute: Attribute, part: Part) -> float:
        if self.classes is not None:
            inside = [c for c, code in zip(self.classes, attribute.rows, strict=True) if code in part]
            return divergence(Counter(inside), Counter(self.classes))
        values = len(attribute.known)
        return 1 - (max(len(part & attribute.known), 1) - 1) / (values - 1) if values > 1 else 0.0

    def partings(self, cuts: Cuts, scheme: str) -> Iterator[tuple[int, Part, list[Part], Cuts]]:
        """List all specializations: attribute, part, pieces, and the cuts after it."""
        for column, (attribute, cut) in enumerate(zip(self.attributes, cuts, strict=True)):
            for part in sorted(cut, key=min):
                for pieces in attribute.partings(part, scheme):
                    after = [*(other for other in cut if other != part), *pieces]
                    yield column, part, pieces, [*cuts[:column], after, *cuts[column + 1 :]]


def divergence(inside: Counter, everywhere: Counter) -> float:
    """Kullback and Leibler 1951: the sum of p log2(p / q)."""
    here, there = inside.total(), everywhere.total()
    return sum(n / here * math.log2(n / here / (everywhere[c] / there)) for c, n in inside.items())


def entropy(counts: Counter) -> float:
    """Shannon 1948, in bits."""
    return -sum(n / counts.total() * math.log2(n / counts.total()) for n in counts.values())


def information_gain(parts: list[Counter]) -> float:
    """Fung et al. 2005: the entropy of the classes of a node less the mean entropy below its children."""
    whole = sum(parts, Counter())
    return entropy(whole) - sum(part.total() / whole.total() * entropy(part) for part in parts)


def rounded(number: float) -> float:
    return float(f"{number:.9e}")


def top_down(table: Table, scheme: str) -> Cuts:
    """Fung et al. 2005: specialize what has the best score while all records can be published."""
    cuts = table.top
    while True:
        found: dict[tuple, tuple[float, float, Cuts]] = {}
        for number, (column, part, _, after) in enumerate(table.partings(cuts, scheme)):
            gain = (table.worth(after) - table.worth(cuts)) / max(table.per(column, part), 1)
            if gain > 1e-9 and table.bad(after) == 0:
                lost = max(table.anonymity(cuts) - table.anonymity(after), 0)
                place = (column, min(part)) if table.attributes[column].ordered else (column, min(part), number)
                if place not in found or rounded(gain) > rounded(found[place][1]):
                    found[place] = gain / (lost + 1), gain, after
        if not found:
            return cuts
        cuts = min(found.items(), key=lambda item: (-rounded(item[1][0]), item[0]))[1][2]


def bottom_up(table: Table) -> Cuts:
    """Wang et al. 2004, counting as privacy the records that leave bad groups: join what costs least per record."""
    cuts = table.bottom
    best, best_worth = cuts, -1.0
    while True:
        if table.allows(cuts) and table.worth(cuts) > best_worth + 1e-9:
            best, best_worth = cuts, table.worth(cuts)
        found = []
        for column, attribute in enumerate(table.attributes):
            for joined, part in attribute.joins(cuts[column]):
                after = [*cuts[:column], [*(p for p in cuts[column] if p not in joined), part], *cuts[column + 1 :]]
                cost = table.worth(cuts, suppressing=False) - table.worth(after, suppressing=False)
                gained = max(table.bad(cuts) - table.bad(after), 1)
                found.append((rounded(max(cost, 0.0) / gained) if cost > 1e-9 else 0.0, len(found), after))
        if table.bad(cuts) == 0 or not found or table.worth(cuts, suppressing=False) <= best_worth:
            return best
        cuts = min(found, key=lambda each: each[:2])[2]


def published_cuts(publication: TableSolution, table: Table) -> Cuts:
    """Read from a publication which values are published alike."""
    cuts = []
    for column, attribute in zip(table.task.table.quasi, table.attributes, strict=True):
        number = publication.by_value[column.name].by_group.tolist()
        cuts.append([frozenset(c for c in attribute.root if number[c] == n) for n in sorted(set(number))])
    return [[part for part in cut if part] for cut in cuts]


def same(cuts: Cuts, others: Cuts) -> bool:
    return [set(cut) for cut in cuts] == [set(cut) for cut in others]
