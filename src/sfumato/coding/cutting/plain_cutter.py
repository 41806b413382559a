"""Cuts found with NumPy: for tables small enough that compiling would cost more than it saves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.coding.cutting.axes import Axes
from sfumato.coding.cutting.partition import ALL_TIES, NO_CUT, Cuts, CuttingRule, Ints, Ranges, Records, widths


class PlainCutter:
    """Find and make cuts for all segments at once with sorted arrays."""

    def ranges(self, records: Records, axes: Axes) -> Ranges:
        """Find the ranges of all segments."""
        starts = records.offsets[:-1]
        low, high, missing = [], [], []
        for j in range(len(axes)):
            codes = records.codes[j].astype(np.int32)
            lost = codes == axes.leaves[j]
            low.append(np.minimum.reduceat(codes, starts))
            high.append(np.maximum.reduceat(np.where(lost, -1, codes), starts))
            missing.append(np.logical_or.reduceat(lost, starts))
        return Ranges(np.column_stack(low), np.column_stack(high), np.column_stack(missing))

    def propose(
        self, records: Records, axes: Axes, rule: CuttingRule, ranges: Ranges, segments: Ints, first_rank: Ints
    ) -> Cuts:
        """Propose a cut for each of the named segments, trying ways to cut from `first_rank`, widest first."""
        width = widths(Ranges(ranges.low[segments], ranges.high[segments], ranges.missing[segments]), axes, rule)
        order = np.argsort(-width, axis=1, kind="stable")
        count = len(segments)
        axis, code = np.full(count, NO_CUT), np.zeros(count, dtype=np.int64)
        ties, left = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        total = np.add.reduceat(records.weight, records.offsets[:-1], dtype=np.int64)[segments]
        rank = np.where(total < 2 * rule.smallest, 2 * len(axes), first_rank)
        pending = np.arange(count)
        while len(pending):
            pending = pending[rank[pending] < 2 * len(axes)]
            tried = order[pending, rank[pending]]
            cuttable = width[pending, tried] > 0
            pending, tried = pending[cuttable], tried[cuttable]
            if not len(pending):
                break
            found = _best_cuts(records, axes, rule, ranges, segments[pending], tried)
            code[pending], ties[pending], left[pending], balance = found
            good = balance >= rule.smallest
            axis[pending[good]] = tried[good] % len(axes)
            rank[pending[~good]] += 1
            pending = pending[~good]
        return Cuts(axis, code, ties, left, total, rank)

    def sides(self, records: Records, segments: Ints, cuts: Cuts) -> npt.NDArray[np.bool_]:
        """Return for every record of the named segments, in order, whether it goes left."""
        rows, segment = records.rows_of(segments)
        codes = records.codes[cuts.axis[segment], rows]
        below, tied = codes < cuts.code[segment], codes == cuts.code[segment]
        before = np.cumsum(tied) - tied
        starts = np.searchsorted(segment, np.arange(len(segments)))
        tie_number = before - before[starts][segment]
        return np.asarray(below | (tied & (tie_number < cuts.ties[segment])))

    def split(self, records: Records, segments: Ints, left: npt.NDArray[np.bool_]) -> Records:
        """Cut the named segments in two; all other segments are dropped."""
        rows, segment = records.rows_of(segments)
        half = 2 * segment + ~left
        order = rows[np.argsort(half, kind="stable")]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(half, minlength=2 * len(segments)))])
        return Records(
            records.codes[:, order],
            records.extra[:, order],
            records.weight[order],
            records.origin[order],
            offsets,
        )

    def number(self, records: Records, segments: Ints, first: int, result: npt.NDArray[np.int32]) -> None:
        """Write at every record's origin the number of its segment, counted from `first` over those named."""
        rows, place = records.rows_of(segments)
        result[records.origin[rows]] = place + first


def _best_cuts(
    records: Records, axes: Axes, rule: CuttingRule, ranges: Ranges, segments: Ints, way: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """Find the most balanced cut of one way for every segment: code, ties, weight of the left side, smaller side."""
    axis, parting = way % len(axes), way < len(axes)
    rows, segment = records.rows_of(segments)
    codes = records.codes[axis[segment], rows].astype(np.int64)
    span = int(axes.leaves.max()) + 1
    order = np.argsort(segment * span + codes, kind="stable")
    segment, codes = segment[order], codes[order]
    until = np.cumsum(records.weight[rows[order]], dtype=np.int64)
    starts = np.searchsorted(segment, np.arange(len(segments)))
    ends = np.append(starts[1:], len(segment)) - 1
    base = np.where(starts > 0, until[starts - 1], 0)
    total = until[ends] - base
    if rule.relaxed:
        relaxed = _halves(axes, ranges, segments, axis)
    last = np.append((segment[1:] != segment[:-1]) | (codes[1:] != codes[:-1]), True)
    place = np.flatnonzero(last)
    high = ranges.high[segments, axis].astype(np.int64)
    place = place[codes[place] < np.where(parting, axes.leaves[axis], high)[segment[place]]]
    allowed = _between_siblings(axes, ranges, segments, axis, segment[place], codes[place], codes[place + 1])
    place = place[np.where(parting[segment[place]], codes[place] == high[segment[place]], allowed)]
    left = until[place] - base[segment[place]]
    balance = np.minimum(left, total[segment[place]] - left)
    best = place[_first_best(segment[place], balance, len(segments))]
    code, left = codes[best], until[best] - base
    ties = np.full(len(segments), ALL_TIES)
    if rule.relaxed:
        half = total // 2
        middle = np.searchsorted(until, base + half)
        below = np.searchsorted(segment * span + codes, np.arange(len(segments)) * span + codes[middle])
        before = np.where(below > 0, until[below - 1], 0) - base
        code, left = np.where(relaxed, codes[middle], code), np.where(relaxed, half, left)
        ties = np.where(relaxed, half - before, ties)
    return code, ties, left, np.minimum(left, total - left)


def _halves(axes: Axes, ranges: Ranges, segments: Ints, axis: Ints) -> npt.NDArray[np.bool_]:
    """Return where equal codes may be separated: on ordered axes without missing values."""
    return np.asarray((axes.heights[axis] == 0) & ~ranges.missing[segments, axis])


def _between_siblings(
    axes: Axes, ranges: Ranges, segments: Ints, axis: Ints, segment: Ints, code: Ints, following: Ints
) -> npt.NDArray[np.bool_]:
    """Return which cuts separate children of the segment's lowest common ancestor; on axes without a tree all do."""
    low, high = ranges.low[segments, axis].astype(np.int64), ranges.high[segments, axis].astype(np.int64)
    allowed = np.ones(len(code), dtype=np.bool_)
    for j in np.flatnonzero(axes.heights):
        on_axis = np.flatnonzero((axis == j) & (high > low))
        level = np.zeros(len(segments), dtype=np.int64)
        for h in range(int(axes.heights[j])):
            start = axes.trees[j] + h * axes.leaves[j]
            apart = axes.nodes[start + low[on_axis]] != axes.nodes[start + high[on_axis]]
            level[on_axis[apart]] = h
        mine = np.flatnonzero((axis[segment] == j) & (following < axes.leaves[j]))
        start = axes.trees[j] + level[segment[mine]] * axes.leaves[j]
        allowed[mine] = axes.nodes[start + code[mine]] != axes.nodes[start + following[mine]]
    return allowed


def _first_best(segment: Ints, balance: Ints, count: int) -> Ints:
    order = np.lexsort((-balance, segment))
    return order[np.searchsorted(segment[order], np.arange(count))]
