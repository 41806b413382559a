"""Full-domain recoding by its definitions: every node, on rows and dictionaries, slow and obvious."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from sfumato.tables.published.groups import Groups

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sfumato.encoding.domain import Domain
    from sfumato.tables.algorithms.base import TableRequest

Row = int
Levels = tuple[int, ...]
Cell = tuple[object, ...]
LOST, EVERYTHING = "missing", "*"


@dataclass(frozen=True, eq=False)
class Node:
    """The groups of one node by their cells, and those of them that may be published."""

    levels: Levels
    groups: Mapping[Cell, list[Row]]
    kept: frozenset[Cell]

    @cached_property
    def suppressed(self) -> list[Row]:
        """The rows of all groups that may not be published."""
        return [row for cell, rows in self.groups.items() if cell not in self.kept for row in rows]


@dataclass(frozen=True, eq=False)
class Oracle:
    """All nodes of a task, each by its definition."""

    task: TableRequest

    @cached_property
    def rows(self) -> list[Row]:
        """All rows."""
        return list(range(self.task.table.rows))

    @cached_property
    def shape(self) -> Levels:
        """How many levels every quasi-identifier has: those of its hierarchy, or values and `*`."""
        domains = [column.domain for column in self.task.table.quasi]
        return tuple(2 if d.hierarchy is None else len(d.hierarchy.levels) for d in domains)

    @cached_property
    def nodes(self) -> dict[Levels, Node]:
        """Every node, judged."""
        return {levels: self.judged(levels) for levels in product(*(range(height) for height in self.shape))}

    @cached_property
    def feasible(self) -> set[Levels]:
        """The nodes that suppress few enough records, and publish any."""
        return {levels for levels, node in self.nodes.items() if self.allows(node)}

    def allows(self, node: Node) -> bool:
        """Tell whether a node is a solution."""
        return len(node.suppressed) <= self.task.max_suppressed and bool(node.kept)

    @cached_property
    def cells(self) -> list[list[list[object]]]:
        """What every row's cell becomes, by quasi-identifier and level."""
        return [
            [
                [_node(column.domain, int(column.codes[row]), level, height - 1) for row in self.rows]
                for level in range(height)
            ]
            for column, height in zip(self.task.table.quasi, self.shape, strict=True)
        ]

    def judged(self, levels: Levels) -> Node:
        """Group the rows, and leave out bad groups until the rest is good."""
        groups: dict[Cell, list[Row]] = defaultdict(list)
        chosen = [by_level[level] for by_level, level in zip(self.cells, levels, strict=True)]
        for row in self.rows:
            groups[tuple(cells[row] for cells in chosen)].append(row)
        left = list(groups)
        while left:
            good = self.good([groups[cell] for cell in left])
            if all(good):
                break
            left = [cell for cell, is_good in zip(left, good, strict=True) if is_good]
        return Node(levels, groups, frozenset(left))

    def good(self, groups: list[list[Row]]) -> list[bool]:
        """Judge groups that make up the published table."""
        dense, lost, domains = {}, {}, {}
        for column in self.task.table.sensitive:
            counts = [Counter(int(column.codes[row]) for row in rows) for rows in groups]
            values = range(len(column.domain) + 1)
            missing = column.domain.missing
            dense[column.name] = [[0 if v == missing else c[v] for v in values] for c in counts]
            lost[column.name] = [c[missing] for c in counts]
            domains[column.name] = column.domain
        if dense:
            counted = Groups.from_counts(domains=domains, missing=lost, **dense)
        else:
            counted = Groups(np.array([len(rows) for rows in groups], dtype=np.int64))
        verdicts = [model.satisfied_by(counted).tolist() for model in self.task.models]
        return [all(verdict[g] for verdict in verdicts) for g in range(len(groups))]

    def loss(
        self,
        name: str,
        node: Node,
        *,
        weights: Mapping[str, float] | None = None,
        factor: float = 0.5,
        target: str | None = None,
    ) -> float:
        """Compute a loss of a node."""
        n, lost = len(self.rows), len(node.suppressed)
        kept = [node.groups[cell] for cell in node.kept]
        if name == "discernibility":
            return float(sum(len(rows) ** 2 for rows in kept) + n * lost)
        if name == "average-class-size":
            return float(Fraction(n, max(1, len(kept) + (lost > 0))))
        if name == "classification":
            classes = self.task.table.target_columns[target].codes.tolist()
            minorities = sum(len(rows) - max(Counter(classes[row] for row in rows).values()) for rows in kept)
            return float(Fraction(lost + minorities, n))
        generalizing, suppressing = min(Fraction(1), 2 - 2 * Fraction(factor)), min(Fraction(1), 2 * Fraction(factor))
        named = [Fraction((weights or {}).get(column.name, 1.0)) for column in self.task.table.quasi]
        gone = set(node.suppressed)
        total = 0.0
        for attribute, weight in enumerate(named):
            if name == "entropy":
                left_open, added = self._bits(attribute, node)
                total += float(weight / sum(named)) * (float(generalizing) * left_open + float(suppressing) * added)
                continue
            cost = self._leaf_cost if name == "loss" else self._height_cost
            level, top = node.levels[attribute], self.shape[attribute] - 1
            published = sum(cost(attribute, level, row) for row in self.rows if row not in gone)
            suppressed = sum(cost(attribute, top, row) for row in gone)
            total += float(
                weight / sum(named) * (published * Fraction(generalizing) + suppressed * Fraction(suppressing)) / n
            )
        return total

    def least(self, name: str, **setting: object) -> float:
        """Find the least loss of all solutions; infinite if there is none."""
        return min((self.loss(name, self.nodes[levels], **setting) for levels in self.feasible), default=math.inf)

    def _leaf_cost(self, attribute: int, level: int, row: Row) -> Fraction:
        domain, height = self.task.table.quasi[attribute].domain, self.shape[attribute] - 1
        leaves, node = len(domain), self.cells[attribute][level][row]
        if leaves <= 1:
            return Fraction(0)
        covered = sum(_node(domain, leaf, level, height) == node for leaf in range(leaves))
        share = Fraction(max(covered, 1), leaves)
        return (share - Fraction(1, leaves)) / (1 - Fraction(1, leaves))

    def _height_cost(self, attribute: int, level: int, row: Row) -> Fraction:
        del row
        return Fraction(level, self.shape[attribute] - 1)

    def _bits(self, attribute: int, node: Node) -> tuple[float, float]:
        """Give the bits that generalization leaves open, and those that suppression adds."""
        values = self.task.table.quasi[attribute].codes.tolist()
        nodes = self.cells[attribute][node.levels[attribute]]
        often, generalized = Counter(values), Counter(nodes)
        lost = Counter(nodes[row] for row in node.suppressed)
        return (
            math.fsum(math.log2(Fraction(generalized[nodes[row]], often[values[row]])) for row in self.rows),
            math.fsum(math.log2(Fraction(len(node.suppressed), lost[nodes[row]])) for row in node.suppressed),
        )


def _node(domain: Domain, code: int, level: int, height: int) -> object:
    if level == height:
        return EVERYTHING
    if code == domain.missing:
        return LOST
    return code if domain.hierarchy is None else int(domain.hierarchy.levels[level][code])


def partition(labels: Iterable[object]) -> frozenset[frozenset[int]]:
    """Give the sets of places that have equal labels."""
    places: dict[object, list[int]] = defaultdict(list)
    for place, label in enumerate(labels):
        places[label].append(place)
    return frozenset(frozenset(some) for some in places.values())
