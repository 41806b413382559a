"""The possible joins of published values in one attribute."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from sfumato.algorithms.cuts.tree import Cut, Ints, Part, Tree
from sfumato.algorithms.cuts.worth import Floats, Gain

MOST_RANGES = 256  # of ordered values at the start
NOWHERE = -1


class Merges(ABC):
    """The joins in one attribute, each with a number.

    Parameters
    ----------
    column : the number of the attribute.
    cut : the parts that are published alike.
    measure : the worth of records.

    Attributes
    ----------
    cost : what every join takes from the worth of the table; infinite for impossible ones.
    targets : for every code, the join of its part; one array, or two if parts take part in two joins.
    """

    cost: Floats
    targets: list[Ints]

    def __init__(self, column: int, cut: Cut, measure: Gain) -> None:
        self.column = column
        self.cut = cut
        self.measure = measure

    @abstractmethod
    def parts(self, number: int) -> tuple[list[Part], Part]:
        """Return what a join joins, and the result."""

    @abstractmethod
    def make(self, number: int) -> list[int]:
        """Join, and return the joins that become possible or change."""


class SiblingMerges(Merges):
    """Join i merges the children of node i, once each of them is published as a whole."""

    def __init__(self, column: int, cut: Cut, measure: Gain) -> None:
        super().__init__(column, cut, measure)
        tree = cut.tree
        nodes = np.arange(len(tree.first))
        children = tree.below[tree.offsets[0] :]
        self._parent = np.full(len(nodes), NOWHERE)
        self._parent[children] = np.repeat(nodes, np.diff(tree.offsets))
        worth = measure.in_ranges(column, tree.first, tree.last)
        below = np.bincount(self._parent[children], worth[children], minlength=len(nodes))
        self._price = np.maximum(below - worth, 0.0)
        inner = children[tree.first[children] < tree.last[children]]
        self._unready = np.bincount(self._parent[inner], minlength=len(nodes))
        self.cost = np.full(len(nodes), np.inf)
        self.targets = [np.full(tree.codes, NOWHERE)]
        for node in nodes[tree.codes :][self._unready[tree.codes :] == 0].tolist():
            self._allow(node)

    def parts(self, number: int) -> tuple[list[Part], Part]:
        """Return what a join joins, and the result."""
        tree = self.cut.tree
        return [tree.whole(child) for child in tree.children(number).tolist()], tree.whole(number)

    def make(self, number: int) -> list[int]:
        """Join, and return the joins that become possible or change."""
        old, joined = self.parts(number)
        self.cut.replace(old, [joined])
        self.cost[number] = np.inf
        self.targets[0][joined.first : joined.last + 1] = NOWHERE
        parent = int(self._parent[number])
        if parent == NOWHERE:
            return []
        self._unready[parent] -= 1
        if self._unready[parent]:
            return []
        self._allow(parent)
        return [parent]

    def _allow(self, node: int) -> None:
        self.cost[node] = self._price[node]
        self.targets[0][self.cut.tree.first[node] : self.cut.tree.last[node] + 1] = node


class NeighborMerges(Merges):
    """Join i merges the range that ends at code i with the next one, or with missing values after the last join."""

    def __init__(self, column: int, cut: Cut, measure: Gain) -> None:
        super().__init__(column, cut, measure)
        self.cost = np.full(cut.tree.codes, np.inf)
        for part in cut.parts:
            self._allow(part.last)
        self._retarget()

    def parts(self, number: int) -> tuple[list[Part], Part]:
        """Return what a join joins, and the result."""
        tree = self.cut.tree
        low, high = (self.cut.parts[self.cut.number[code]] for code in (number, number + 1))
        return [low, high], tree.run(low.first, high.last)

    def make(self, number: int) -> list[int]:
        """Join, and return the joins that become possible or change."""
        old, joined = self.parts(number)
        self.cut.replace(old, [joined])
        self.cost[number] = np.inf
        changed = [end for end in (joined.first - 1, joined.last) if self._allow(end)]
        self._retarget()
        return changed

    def _allow(self, end: int) -> bool:
        """Compute the cost of joining the range that ends at a code, if it has a neighbor."""
        tree, known = self.cut.tree, len(self.cut.tree.domain) - 1
        if not 0 <= end < tree.codes - 1 or (end == known and self.cut.number[0] != self.cut.number[known]):
            return False
        old, joined = self.parts(end)
        low, high, both = self.measure.of(self.column, [*old, joined])
        self.cost[end] = max(low + high - both, 0.0)
        return True

    def _retarget(self) -> None:
        """Pair ranges with their neighbors: the first with the second and so on, then the second with the third."""
        lasts = np.flatnonzero(np.diff(self.cut.number, append=NOWHERE))
        lengths = np.diff(lasts, prepend=-1)
        self.targets = []
        for start in (0, 1):
            left = start + (np.arange(len(lasts)) - start) // 2 * 2
            join = lasts[np.maximum(left, 0)]
            possible = (left >= 0) & np.isfinite(self.cost[join])
            self.targets.append(np.repeat(np.where(possible, join, NOWHERE), lengths))


def possible_merges(column: int, cut: Cut, measure: Gain) -> Merges:
    """Return the joins that are possible in an attribute."""
    return (NeighborMerges if cut.tree.neighbors else SiblingMerges)(column, cut, measure)


def finest_cut(column: int, tree: Tree, measure: Gain) -> Cut:
    """Publish every value unchanged; if there are very many and they have an order, in ranges of about equal counts."""
    known = len(tree.domain)
    if not tree.neighbors or known <= MOST_RANGES:
        return Cut(tree, tree.bottom())
    codes = np.arange(known)
    counts = measure.records_in(column, np.zeros_like(codes), codes)
    share = np.minimum((counts - 1) * MOST_RANGES // max(int(counts[-1]), 1), MOST_RANGES - 1)
    lasts = np.flatnonzero(np.diff(share, append=MOST_RANGES)).tolist()
    ranges = [tree.run(first, last) for first, last in zip([0, *(end + 1 for end in lasts)], lasts, strict=False)]
    return Cut(tree, [*ranges, *([tree.whole(known)] if tree.missing else [])])
