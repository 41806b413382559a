"""The start of local recoding: merge rows under the cheapest nodes that enough of them share."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.local.judging import GroupEvaluator
from sfumato.algorithms.local.trees import UNIT, HierarchyForest
from sfumato.coding.grouping import group_columns
from sfumato.coding.regrouping.rows import Gathering, Ints, LevelVisits, Nodes, Regrouper, RowGroups
from sfumato.threads import count_workers

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
