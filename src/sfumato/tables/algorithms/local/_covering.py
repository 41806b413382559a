"""Boxes that cover enough rows, and what rows are worth: the bounds and the guide of local recoding.

Rows with equal leaves are one *point*, which has a weight. A *box* has one node of every tree; its price is the sum of
its nodes' costs. It is *closed* if no lower nodes lie above the points that it covers. Every group of rows is published
as a closed box, and loses its price for every row.

Let *worths* of rows be such that in every box the most valuable rows, as many as a group must have, are worth no more
than as many times its price. Then no group of enough rows is worth more than it loses, and so all rows together are
worth no more than the loss of any grouping. For any worths at all, the same holds of their sum less what every box's
best choice of rows is worth beyond its price.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sfumato.tables.algorithms.local._regrouping import COMPILED_ROWS, Ints, Nodes

Flags = npt.NDArray[np.bool_]
Trees = tuple[Nodes, Ints, Ints, Ints]
FIT = 1 << 62  # products of worths and prices stay below


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """Distinct rows: the leaf of every point in every tree, how many rows it stands for, and the trees.

    Leaves are numbered from 0 in each tree. `trees` is (nodes, start, heights, cost): `nodes[start[j, h] + leaf]` is
    the node above a leaf of tree j on level h, `heights[j]` the number of levels, and `cost` that of every node.
    Points are in the order of their leaves in the last tree, then in the one before, and so on.
    """

    leaf: Nodes
    weight: Ints
    trees: Trees

    def __len__(self) -> int:
        return len(self.weight)

    def above(self, tree: int, level: int) -> Nodes:
        """Return the nodes of one level of a tree, leaf by leaf."""
        nodes, start, _, _ = self.trees
        begin = int(start[tree, level])
        return nodes[begin : begin + int(self.leaf[tree].max()) + 1]

    def select_trees(self, count: int) -> WeightedPoints:
        """Look at the first trees alone; several points may then be equal."""
        nodes, start, heights, cost = self.trees
        return replace(self, leaf=self.leaf[:count], trees=(nodes, start[:count], heights[:count], cost))

    def coarser(self, grain: int) -> WeightedPoints:
        """Count costs in units of `grain`, rounded down."""
        nodes, start, heights, cost = self.trees
        return replace(self, trees=(nodes, start, heights, cost // grain))

    @property
    def highest(self) -> int:
        """A price that no box exceeds."""
        _, _, _, cost = self.trees
        return int(cost.max()) * len(self.leaf)


@dataclass(frozen=True, eq=False)
class ClosedBoxList:
    """Boxes in lexical order of their nodes: box b has the points `members[offsets[b]:offsets[b + 1]]` and a price."""

    offsets: Ints
    members: Nodes
    prices: Ints

    def __len__(self) -> int:
        return len(self.prices)


@dataclass(frozen=True, eq=False)
class OpenedGroups:
    """Groups that were opened: entry i brings so many rows of a point into a group."""

    group: Ints
    point: Ints
    rows: Ints

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.group[-1]) + 1 if len(self.group) else 0


class BoxSearch(Protocol):
    """The two implementations, compiled and plain, of the same walks and looks.

    A group has at least `least` rows; worths are whole numbers, one per point, for each of its rows.
    """

    def cheapest(self, points: WeightedPoints, least: int, most: int) -> Ints | None:
        """Find for every point the price of the cheapest box with enough rows; nothing after `most` visits."""

    def closed(self, points: WeightedPoints, least: int, caps: Ints, most: int) -> ClosedBoxList | None:
        """List closed boxes that have a price; nothing if they have more than `most` points together, or many visits.

        A point counts only for boxes whose price its cap reaches: enough rows must do so, and the box is the lowest
        above them.
        """

    def feasible(self, points: WeightedPoints, least: int, worths: Ints, most: int) -> Ints | None:
        """Lower worths until they are feasible for all boxes that there are; nothing after `most` visits."""

    def lowered(self, points: WeightedPoints, boxes: ClosedBoxList, least: int, worths: Ints) -> Ints:
        """Lower worths until they are feasible for the given boxes."""

    def look(
        self, points: WeightedPoints, boxes: ClosedBoxList, least: int, worths: Ints, todo: Ints
    ) -> tuple[int, Ints, Flags]:
        """Look at some boxes: what their best choices of rows are worth beyond their prices, and whose these are.

        Of every point, chosen rows are counted. Also says which boxes' most valuable rows are nearly worth their price.
        """

    def opened(self, points: WeightedPoints, boxes: ClosedBoxList, least: int, worths: Ints) -> OpenedGroups:
        """Open boxes, again and again the one whose most valuable free rows are worth most beyond its price."""


def choose_cost_unit(points: WeightedPoints, least: int) -> int:
    """Find in which units to count costs so that worths of a few boxes times prices are not too large."""
    grain = 100
    while 4 * least * (points.highest // grain + 1) ** 2 >= FIT:
        grain *= 10
    return grain


def choose_box_search(rows: int) -> BoxSearch:
    """Choose compiled loops for many rows, and NumPy if compiling would cost more than it saves."""
    if rows >= COMPILED_ROWS:
        from sfumato.tables.algorithms.local._compiled_covering import CompiledBoxSearch

        return CompiledBoxSearch()
    from sfumato.tables.algorithms.local._plain_covering import NumpyBoxSearch

    return NumpyBoxSearch()
