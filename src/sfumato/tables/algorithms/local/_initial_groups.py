"""The start of local recoding: merge rows under the cheapest nodes that enough of them share."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato._threads import count_workers
from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.schema.roles import SENSITIVE
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.local._covering import (
    BoxSearch,
    ClosedBoxList,
    OpenedGroups,
    WeightedPoints,
    choose_cost_unit,
)
from sfumato.tables.algorithms.local._forest import UNIT, HierarchyForest
from sfumato.tables.algorithms.local._regrouping import Gathering, Ints, LevelVisits, Nodes, Regrouper, RowGroups
from sfumato.tables.models._conjunction import satisfy_all
from sfumato.tables.published.groups import Groups

Flags = npt.NDArray[np.bool_]


# Worths: how much every row must lose at least if all are to be recoded well, raised step by step.
#
# A row that is hard to group is worth much. The sum of worths, less what the boxes' best choices of rows are worth
# beyond
# their prices, is a lower bound for the loss; worths that raise it say which rows need which box. Worths follow its
# subgradient: a row gains where no box wants it, and loses where several do. All numbers are whole and all sums exact,
# so
# worths are the same on every machine.

STEPS, FULL = 80, 5  # every so many steps all boxes are looked at, otherwise those that are nearly worth their price
FEWER_STEPS, MANY_PAIRS = 40, 4_000_000
AIM, SLACK = 108, 1  # the bound to step toward, in percent of the best, and how far it is at least
PACE, SLOWER = 600, 700  # the length of a step, in thousandths, and how much of it is left when the bound does not rise
ONE, FASTEST = 1 << 10, 1 << 16  # the speed of a row that no box wants, and the largest speed
RATE_BITS, LARGEST_RATE = 20, 1 << 36


def raise_dual_prices(
    coverer: BoxSearch, points: WeightedPoints, boxes: ClosedBoxList, least: int, *, start: Ints, caps: Ints
) -> Ints:
    """Raise worths, none above its cap, as long as the bound for the given boxes rises, or nearly so."""
    worths, best, highest, pace = start, start, 0, PACE
    speed, everything = np.zeros(len(points), dtype=np.int64), np.arange(len(boxes))
    near = everything
    for step in range((STEPS if len(boxes.members) < MANY_PAIRS else FEWER_STEPS) + 1):
        full = step % FULL == 0
        beyond, taken, close = coverer.look(points, boxes, least, worths, everything if full else near)
        bound = int((worths * points.weight).sum()) - beyond
        if full:
            near = everything[close]
            pace = pace if bound > highest else pace * SLOWER // 1000
            best, highest = (worths, bound) if bound > highest else (best, highest)
        slope = (points.weight - taken) * ONE // points.weight
        speed = np.clip((speed + slope) // 2, -FASTEST, FASTEST)
        worths = np.clip(worths + _step_size(speed, points.weight, pace, highest, bound), 0, caps)
    return best


def _step_size(speed: Ints, weight: Ints, pace: int, highest: int, bound: int) -> Ints:
    """Return how far every worth goes: so far that the bound would reach the aim if it rose on as steeply."""
    steep = int((weight * speed * speed).sum())
    way = max(highest * AIM // 100 - bound, highest * SLACK // 100)
    rate = min((pace * way * ONE << RATE_BITS) // (1000 * max(steep, 1)), LARGEST_RATE)
    return np.asarray(rate * speed >> RATE_BITS)


# Judge many groups at once while rows are regrouped.


# Judge many groups at once while rows are regrouped.


class GroupEvaluator:
    """Decide which groups of rows keep all models of a task.

    `least` is a size below which no group is valid; `size_suffices` says that all groups of that size are valid.
    """

    def __init__(self, task: TableRequest) -> None:
        self._models = task.models
        self._watched, self._totals = task.model_columns, task.as_one_group().totals
        self._marks = np.random.default_rng(0).integers(0, 2**64, task.table.rows, dtype=np.uint64)
        self._refused: set[int] = set()
        self.least = task.min_group_size
        smallest = Groups(np.array([self.least]))
        self.size_suffices = all(
            not model.sensitive_attributes and model.extendable and model.satisfied_by(smallest)[0]
            for model in task.models
        )

    def valid(self, rows: Ints, group: Ints, groups: int) -> Flags:
        """Return for groups of some rows whether they keep all models."""
        if not self._watched:
            return self._evaluate(Groups(np.bincount(group, minlength=groups)))
        watched = [column.take(rows) for column in self._watched]
        return self._evaluate(Groups.from_rows(group, groups, watched, SENSITIVE, totals=self._totals))

    def valid_finally(self, rows: Ints, group: Ints, groups: int) -> Flags:
        """Return for groups of some rows whether they keep all models; a group refused before is not judged again.

        A group is remembered by the sum of its rows' random marks.
        """
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(groups))
        sums = np.add.reduceat(self._marks[rows[order]], starts).tolist()
        fresh = np.array([mark not in self._refused for mark in sums])
        number, judged = np.cumsum(fresh) - 1, fresh[group]
        good = np.zeros(groups, dtype=np.bool_)
        if fresh.any():
            good[fresh] = self.valid(rows[judged], number[group[judged]], int(fresh.sum()))
            self._refused.update(mark for mark, kept in zip(sums, good.tolist(), strict=True) if not kept)
        return good

    def _evaluate(self, groups: Groups) -> Flags:
        return np.asarray((groups.sizes >= self.least) & satisfy_all(groups, self._models))


# The guided start of local recoding: open the boxes that rows which are hard to group need most.

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


MAX_LEVEL_COMBINATIONS = 1 << 14
MOST_WORK, MIN_MERGE_LIMITS = 5 * 10**9, 30_000  # work is rows times visits
STEP = UNIT // 20  # of costs: what is cheaper by a step comes first
STAGES = 10  # between progress reports


class LevelCombinations(NamedTuple):
    """Combinations of one level per tree, and the average, smallest and largest cost of their nodes for a row."""

    levels: Ints
    average: Ints
    lowest: Ints
    highest: Ints


def level_combinations(trees: HierarchyForest, leaves: Nodes, most: int) -> LevelCombinations:
    """Return combinations of levels, by increasing average cost; no more than `most`.

    Levels that merge no values are left out. If there are too many combinations, trees lose the levels that are
    hardly cheaper than the next, and then the most expensive combinations are left out.
    """
    choices = _thin_levels([_useful_levels(trees, j, leaves[:, j]) for j in range(len(trees))], most)
    nothing = np.zeros(1, dtype=np.int64)
    listed = LevelCombinations(np.zeros((1, 0), dtype=np.int64), nothing, nothing, nothing)
    for choice in choices:
        average = (listed.average[:, None] + choice.average).ravel()
        kept = np.argsort(average, kind="stable")[:most]
        old, new = np.divmod(kept, len(choice.average))
        listed = LevelCombinations(
            np.column_stack([listed.levels[old], choice.levels[new]]),
            average[kept],
            listed.lowest[old] + choice.lowest[new],
            listed.highest[old] + choice.highest[new],
        )
    return listed


def _useful_levels(trees: HierarchyForest, j: int, leaves: Nodes) -> LevelCombinations:
    """Return the levels of one tree that merge values which occur and which the level below distinguishes."""
    present, counts = np.unique(leaves - trees.leaves[j], return_counts=True)
    found, distinct = [], len(present) + 1
    for level, nodes in enumerate(trees.ladders[j].levels):
        united = nodes[present]
        if len(np.unique(united)) < distinct:
            distinct = len(np.unique(united))
            cost = trees.cost[trees.levels[j][level] + united]
            found.append((level, (cost * counts).sum() // counts.sum(), cost.min(), cost.max()))
    return LevelCombinations(*np.array(found, dtype=np.int64).T)


def _thin_levels(choices: list[LevelCombinations], most: int) -> list[LevelCombinations]:
    """Remove levels from the trees with the most, except the first and the last, until few combinations are left."""
    while math.prod(len(choice.levels) for choice in choices) > most:
        j = max(range(len(choices)), key=lambda j: len(choices[j].levels))
        if len(choices[j].levels) <= 2:  # noqa: PLR2004 - the first and the last
            break
        drop = 1 + int(np.argmin(np.diff(choices[j].average)[1:]))
        choices[j] = LevelCombinations(*(np.delete(each, drop) for each in choices[j]))
    return choices


def merge_schedule(trees: HierarchyForest, listed: LevelCombinations, most: int) -> LevelVisits:
    """Visit combinations in the order of what their nodes cost: for every step of costs, all with such nodes.

    Steps are so large that there are not many more visits than `most`.
    """
    marks, costs, starts = _spread(trees)
    slots = np.column_stack([starts[j][listed.levels[:, j]] - trees.leaves[j] for j in range(len(trees))])
    order, top = np.lexsort(listed.levels.T[::-1]), int(listed.highest.max())
    step = STEP
    while step < top and np.sum((listed.highest - listed.lowest) // step + 1) > most:
        step *= 2
    steps = np.append(np.arange(0, top, step), top).tolist()
    pairs = [
        order[(listed.lowest[order] <= limit) & (listed.highest[order] > before)]
        for before, limit in zip((-1, *steps), steps, strict=False)
    ]
    return LevelVisits(marks, costs, slots, np.concatenate(pairs), np.repeat(steps, [len(pair) for pair in pairs]))


def _spread(trees: HierarchyForest) -> tuple[npt.NDArray[np.uint64], Ints, list[Ints]]:
    """Draw a mark for every node, and spread marks and costs over the leaves below, level by level and tree by tree."""
    drawn = np.random.default_rng(0).integers(0, 2**64, len(trees.cost), dtype=np.uint64)
    pieces, starts, place = [], [], 0
    for j, ladder in enumerate(trees.ladders):
        starts.append(place + len(ladder.levels[0]) * np.arange(len(ladder.levels)))
        pieces += [trees.levels[j][level] + nodes for level, nodes in enumerate(ladder.levels)]
        place += len(ladder.levels[0]) * len(ladder.levels)
    nodes = np.concatenate(pieces)
    return drawn[nodes], trees.cost[nodes], starts


def merge_under_nodes(
    regrouper: Regrouper,
    trees: HierarchyForest,
    leaves: Nodes,
    judge: GroupEvaluator,
    progress: Callable[[float], None],
    *,
    label: Ints | None = None,
) -> Ints:
    """Merge rows under the first nodes that enough of them share; return the group of every row.

    Rows that have a `label` already stay in their groups, all others have -1. Rows that wait until the end become
    groups of one; all other groups are valid.
    """
    listed = level_combinations(trees, leaves, MAX_LEVEL_COMBINATIONS)
    found = merge_schedule(trees, listed, max(MIN_MERGE_LIMITS, MOST_WORK // len(leaves)))
    label = np.full(len(leaves), -1, dtype=np.int64) if label is None else label.copy()
    groups, begin = int(label.max()) + 1, 0
    turned = np.ascontiguousarray(leaves.T)
    if judge.size_suffices:
        apart, edge = _separate_expensive(listed)
        begin = int(np.searchsorted(found.limit, edge))
        gather = partial(regrouper.gather, turned, found.between(0, begin), label=label, least=judge.least)
        groups = _merge_visited_parts(gather, leaves[:, apart], label, groups)
    edges = np.linspace(begin, len(found.limit), STAGES + 1).astype(int).tolist()
    for stage in range(STAGES):
        progress(stage / STAGES)
        some, waiting = found.between(edges[stage], edges[stage + 1]), np.flatnonzero(label < 0)
        groups = _merge_visited(regrouper.gather(turned, some, waiting, label, judge.least), judge, label, groups)
    alone = np.flatnonzero(label < 0)
    label[alone] = groups + np.arange(len(alone))
    return label


def _merge_visited(gathering: Gathering, judge: GroupEvaluator, label: Ints, groups: int) -> int:
    """Merge waiting rows into valid groups; return the next number of a group."""
    if judge.size_suffices:
        return gathering.finish(groups)
    while (step := gathering.step()) is not None:
        rows, bucket = step
        good = judge.valid_finally(rows, bucket, int(bucket.max()) + 1)
        label[rows] = np.where(good, np.cumsum(good) - 1 + groups, -1)[bucket]
        groups += int(good.sum())
    return groups


def _separate_expensive(listed: LevelCombinations) -> tuple[npt.NDArray[np.intp], int]:
    """Find the trees with the most expensive values, and the cost below which none of them is merged."""
    top = int(listed.highest.max())
    edges = np.array([listed.lowest[levels > 0].min(initial=top) for levels in listed.levels.T])
    return np.flatnonzero(edges == edges.max()), int(edges.max())


def _merge_visited_parts(gather: Callable[..., Gathering], leaves: Nodes, label: Ints, groups: int) -> int:
    """Collect waiting rows with equal leaves, each part separately: none of the visits merges other leaves."""
    waiting = np.flatnonzero(label < 0)
    if not len(waiting):
        return groups
    columns = leaves[waiting] - leaves.min(axis=0)
    parts = group_columns(list(columns.T), (columns.max(axis=0) + 1).tolist())
    rows = np.split(waiting[np.argsort(parts.labels, kind="stable")], np.cumsum(parts.counts)[:-1])
    with ThreadPoolExecutor(count_workers()) as pool:
        sizes = pool.map(lambda some: gather(rows=some).finish(0), rows)
        for some, size in zip(rows, sizes, strict=True):
            label[some[label[some] >= 0]] += groups
            groups += size
    return groups


def merge_invalid_groups(regrouper: Regrouper, grouping: RowGroups, judge: GroupEvaluator) -> RowGroups:
    """Merge groups that break a model with their nearest neighbors, until all are valid or one is left."""
    while True:
        groups = len(grouping.sizes)
        filled = np.flatnonzero(grouping.sizes)
        good = judge.valid(np.arange(len(grouping.label)), grouping.label, groups)
        bad = filled[~good[filled]]
        if not len(bad) or len(filled) == 1:
            return grouping
        found, rise = regrouper.partners(grouping, bad)
        rank = np.empty(len(bad), dtype=np.int64)
        rank[np.lexsort([bad, rise])] = np.arange(len(bad))
        owner = np.full(groups, len(bad), dtype=np.int64)
        np.minimum.at(owner, bad, rank)
        np.minimum.at(owner, found, rank)
        chosen = np.flatnonzero((owner[bad] == rank) & (owner[found] == rank))
        into = np.arange(groups)
        into[bad[chosen]] = found[chosen]
        grouping = grouping.with_label(into[grouping.label])
