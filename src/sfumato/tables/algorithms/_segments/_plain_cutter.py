"""Cuts found with NumPy: for tables small enough that compiling would cost more than it saves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.encoding._counts import sparse_counts
from sfumato.tables.algorithms._segments.cuts import Axes, Cuts, CuttingRule, Ints, Ranges, Records
from sfumato.tables.algorithms._segments.streamed import SegmentCodeCounts, propose_cuts


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
        total = np.add.reduceat(records.weight, records.offsets[:-1], dtype=np.int64)[segments]

        def count(places: Ints, axis: Ints) -> SegmentCodeCounts:
            rows, segment = records.list_rows(segments[places])
            codes = records.codes[axis[segment], rows].astype(np.int64)
            order = np.argsort(segment * (int(axes.leaves.max()) + 1) + codes, kind="stable")
            return SegmentCodeCounts(segment[order], codes[order], records.weight[rows[order]])

        return propose_cuts(count, total, axes, rule, ranges.select(segments), first_rank)

    def sides(self, records: Records, segments: Ints, cuts: Cuts) -> npt.NDArray[np.bool_]:
        """Return for every record of the named segments, in order, whether it goes left."""
        rows, segment = records.list_rows(segments)
        codes = records.codes[cuts.axis[segment], rows]
        below, tied = codes < cuts.code[segment], codes == cuts.code[segment]
        before = np.cumsum(tied) - tied
        starts = np.searchsorted(segment, np.arange(len(segments)))
        tie_number = before - before[starts][segment]
        return np.asarray(below | (tied & (tie_number < cuts.ties[segment])))

    def halves(self, records: Records, segments: Ints, left: npt.NDArray[np.bool_], values: int) -> tuple[Ints, Ints]:
        """Count the records of both halves of the named segments, and how often the first extra column repeats one."""
        rows, segment = records.list_rows(segments)
        half, many = 2 * segment + ~left, 2 * len(segments)
        offsets, _, counts = sparse_counts(half, many, records.extra[0][rows], values)
        largest = np.maximum.reduceat(np.append(counts, 0), offsets[:-1])
        sizes = np.bincount(half, minlength=many)
        return sizes.reshape(-1, 2), np.where(sizes > 0, largest, 0).reshape(-1, 2)

    def split(self, records: Records, segments: Ints, left: npt.NDArray[np.bool_]) -> Records:
        """Cut the named segments in two; all other segments are dropped."""
        rows, segment = records.list_rows(segments)
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
        rows, place = records.list_rows(segments)
        result[records.origin[rows]] = place + first
