"""The guided start of local recoding: open the boxes that rows which are hard to group need most."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sfumato.algorithms.local.judging import GroupEvaluator
from sfumato.algorithms.local.trees import UNIT, HierarchyForest
from sfumato.algorithms.local.worths import raise_dual_prices
from sfumato.coding.covering.boxes import BoxSearch, OpenedGroups, WeightedPoints, choose_cost_unit
from sfumato.coding.grouping import group_columns, representative_rows
from sfumato.coding.regrouping.rows import Ints, Nodes

PAIRS, FEWEST_PAIRS = 40, 4_500_000  # most pairs of a box and a point per row, and how many are always allowed
CAPS = ((40, 20), (30, 10), (26, 6), (23, 3), (21, 1))  # of bounds and of a cell, in twentieths, until boxes are few
TWENTIETHS = 20
VISITS, MIN_ENUMERATION_LIMITS = (
    4000,
    200_000_000,
)  # most visits of a point, on average, and how many are always allowed
MAX_NODE_COMBINATIONS = 1 << 16  # of levels: more are not walked through
MOST_POINTS = 100_000  # whose boxes are listed


@dataclass(frozen=True, eq=False)
class CoveringProblem:
    """The points of a table, the point of every row, and how many rows a group must have."""

    points: WeightedPoints
    of_row: Ints
    least: int

    @classmethod
    def of(cls, trees: HierarchyForest, leaves: Nodes, least: int) -> CoveringProblem:
        """Find the distinct rows of a table."""
        columns = leaves - trees.leaves
        grouped = group_columns(list(columns.T), [len(ladder.levels[0]) for ladder in trees.ladders])
        leaf = columns[representative_rows(grouped)].T
        order = np.lexsort(leaf)
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.arange(len(order))
        distinct = np.ascontiguousarray(leaf[:, order], dtype=np.int32)
        return cls(WeightedPoints(distinct, grouped.counts[order], trees.lookup), number[grouped.labels], least)

    @cached_property
    def grain(self) -> int:
        """The unit of worths, in units of costs."""
        return choose_cost_unit(self.points, self.least)

    @property
    def max_visits(self) -> int:
        """After how many visits of points a walk gives up."""
        return max(VISITS * len(self.points), MIN_ENUMERATION_LIMITS)

    @property
    def small(self) -> bool:
        """Whether there are few enough points, and combinations of levels, to list boxes."""
        return len(self.points) <= MOST_POINTS and self.is_enumerable(MAX_NODE_COMBINATIONS) == len(self.points.leaf)

    def is_enumerable(self, most: int) -> int:
        """Count the leading trees that have together at most so many combinations of levels."""
        _, _, heights, _ = self.points.trees
        return int(np.count_nonzero(np.cumprod(heights.astype(np.float64)) <= most))

    def rows_of(self, opened: OpenedGroups) -> Ints:
        """Return the group of every row, -1 if it is in none; rows of a point enter groups in their order."""
        rows = np.argsort(self.of_row, kind="stable")
        begin = np.cumsum(self.points.weight) - self.points.weight
        order = np.argsort(opened.point, kind="stable")
        point, group, count = opened.point[order], opened.group[order], opened.rows[order]
        before = np.cumsum(count) - count
        first = begin[point] + before - before[np.searchsorted(point, point)]
        label = np.full(len(rows), -1, dtype=np.int64)
        label[rows[np.repeat(first - before, count) + np.arange(count.sum())]] = np.repeat(group, count)
        return label


class GuidedStart(NamedTuple):
    """Worths of all points, and the groups that were opened by them."""

    worths: Ints
    opened: OpenedGroups


def find_guided_start(coverer: BoxSearch, cover: CoveringProblem, cheapest: Ints) -> GuidedStart | None:
    """Raise worths and open boxes; nothing if there are too many boxes, or if nobody loses anything.

    `cheapest` has what every point costs at least, in its cheapest box.
    """
    points, least, start = cover.points.coarser(cover.grain), cover.least, cheapest // cover.grain
    most, cell = max(PAIRS * len(cover.of_row), FEWEST_PAIRS), UNIT // cover.grain
    for share, more in CAPS if start.any() else ():
        caps = (start * share + cell * more) // TWENTIETHS
        boxes = coverer.closed(points, least, caps, most)
        if boxes is not None:
            worths = raise_dual_prices(coverer, points, boxes, least, start=start, caps=np.where(start > 0, caps, 0))
            worths = coverer.lowered(points, boxes, least, worths)
            return GuidedStart(worths, coverer.opened(points, boxes, least, worths))
    return None


def groups_of_opened_boxes(cover: CoveringProblem, opened: OpenedGroups, judge: GroupEvaluator) -> Ints:
    """Return the group of every row, -1 if it is in none or in one that breaks a model."""
    label = cover.rows_of(opened)
    if judge.size_suffices or not opened.groups:
        return label
    rows = np.flatnonzero(label >= 0)
    good = judge.valid(rows, label[rows], opened.groups)
    label[rows] = np.where(good, np.cumsum(good) - 1, -1)[label[rows]]
    return label
