"""The best cuts of segments whose codes are counted: one rule for records in memory and for histograms of streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.coding.cutting.axes import Axes
from sfumato.coding.cutting.partition import ALL_TIES, NO_CUT, Cuts, CuttingRule, Ints, Ranges, measure_widths


class SegmentCodeCounts(NamedTuple):
    """Weights of codes in segments, by segment and then by code; a code may stand there several times."""

    segment: Ints
    codes: Ints
    weight: npt.NDArray[np.integer]


Count: TypeAlias = Callable[[Ints, Ints], SegmentCodeCounts]


def propose_cuts(count: Count, total: Ints, axes: Axes, rule: CuttingRule, ranges: Ranges, first_rank: Ints) -> Cuts:
    """Propose a cut for each of some segments, trying ways to cut from `first_rank`, widest first.

    Parameters
    ----------
    count : gives the entries of some of the segments, each on one axis; their segments are numbered from 0.
    total, ranges : the weight and the ranges of every segment.
    axes, rule : what can be cut, and how.
    first_rank : the first way of each segment to be tried.
    """
    width = measure_widths(ranges, axes)
    order = np.argsort(-width, axis=1, kind="stable")
    segments = len(total)
    axis, code = np.full(segments, NO_CUT), np.zeros(segments, dtype=np.int64)
    ties, left = np.zeros(segments, dtype=np.int64), np.zeros(segments, dtype=np.int64)
    rank = np.where(total < 2 * rule.smallest, 2 * len(axes), first_rank)
    pending = np.arange(segments)
    while len(pending):
        pending = pending[rank[pending] < 2 * len(axes)]
        tried = order[pending, rank[pending]]
        cuttable = width[pending, tried] > 0
        pending, tried = pending[cuttable], tried[cuttable]
        if not len(pending):
            break
        entries = count(pending, tried % len(axes))
        code[pending], ties[pending], left[pending], balance = _choose_best_cuts(
            entries, axes, rule, ranges.select(pending), tried
        )
        good = balance >= rule.smallest
        axis[pending[good]] = tried[good] % len(axes)
        rank[pending[~good]] += 1
        pending = pending[~good]
    return Cuts(axis, code, ties, left, total, rank)


def _choose_best_cuts(
    entries: SegmentCodeCounts, axes: Axes, rule: CuttingRule, ranges: Ranges, way: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """Find the most balanced cut of one way for every segment: code, ties, weight of the left side, smaller side."""
    axis, parting, everything = way % len(axes), way < len(axes), np.arange(len(way))
    segment, codes = entries.segment, entries.codes
    until = np.cumsum(entries.weight, dtype=np.int64)
    starts = np.searchsorted(segment, everything)
    ends = np.append(starts[1:], len(segment)) - 1
    base = np.where(starts > 0, until[starts - 1], 0)
    total = until[ends] - base
    last = np.append((segment[1:] != segment[:-1]) | (codes[1:] != codes[:-1]), True)
    place = np.flatnonzero(last)
    high = ranges.high[everything, axis].astype(np.int64)
    place = place[codes[place] < np.where(parting, axes.leaves[axis], high)[segment[place]]]
    allowed = _separates_siblings(axes, ranges, axis, segment[place], codes[place], codes[place + 1])
    place = place[np.where(parting[segment[place]], codes[place] == high[segment[place]], allowed)]
    left = until[place] - base[segment[place]]
    balance = np.minimum(left, total[segment[place]] - left)
    best = place[_choose_first_best(segment[place], balance, len(way))]
    code, left = codes[best], until[best] - base
    ties = np.full(len(way), ALL_TIES)
    if rule.relaxed:
        relaxed, half = _may_separate_ties(axes, ranges, axis), total // 2
        span = int(axes.leaves.max()) + 1
        middle = np.searchsorted(until, base + half)
        below = np.searchsorted(segment * span + codes, everything * span + codes[middle])
        before = np.where(below > 0, until[below - 1], 0) - base
        code, left = np.where(relaxed, codes[middle], code), np.where(relaxed, half, left)
        ties = np.where(relaxed, half - before, ties)
    return code, ties, left, np.minimum(left, total - left)


def _may_separate_ties(axes: Axes, ranges: Ranges, axis: Ints) -> npt.NDArray[np.bool_]:
    """Return where equal codes may be separated: on ordered axes without missing values."""
    return np.asarray((axes.heights[axis] == 0) & ~ranges.missing[np.arange(len(axis)), axis])


def _separates_siblings(
    axes: Axes, ranges: Ranges, axis: Ints, segment: Ints, code: Ints, following: Ints
) -> npt.NDArray[np.bool_]:
    """Return which cuts separate children of the segment's lowest common ancestor; on axes without a tree all do."""
    everything = np.arange(len(axis))
    low, high = ranges.low[everything, axis].astype(np.int64), ranges.high[everything, axis].astype(np.int64)
    allowed = np.ones(len(code), dtype=np.bool_)
    for j in np.flatnonzero(axes.heights):
        on_axis = np.flatnonzero((axis == j) & (high > low))
        level = np.zeros(len(axis), dtype=np.int64)
        for h in range(int(axes.heights[j])):
            start = axes.trees[j] + h * axes.leaves[j]
            apart = axes.nodes[start + low[on_axis]] != axes.nodes[start + high[on_axis]]
            level[on_axis[apart]] = h
        mine = np.flatnonzero((axis[segment] == j) & (following < axes.leaves[j]))
        start = axes.trees[j] + level[segment[mine]] * axes.leaves[j]
        allowed[mine] = axes.nodes[start + code[mine]] != axes.nodes[start + following[mine]]
    return allowed


def _choose_first_best(segment: Ints, balance: Ints, count: int) -> Ints:
    order = np.lexsort((-balance, segment))
    return order[np.searchsorted(segment[order], np.arange(count))]
