"""Cuts found by compiled loops on all processors: large segments are processed in pieces."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato._threads import count_workers
from sfumato.tables.algorithms._segments import _kernels as kernel
from sfumato.tables.algorithms._segments.cuts import ALL_TIES, Axes, Cuts, CuttingRule, Ints, Ranges, Records

PIECE_ROWS = 1 << 15
Memory = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class SegmentPieces:
    """Runs of records, none longer than `PIECE_ROWS`, each within one of some named segments."""

    segment: Ints
    starts: Ints
    stops: Ints
    first_of: Ints

    @classmethod
    def from_segments(cls, starts: Ints, stops: Ints) -> SegmentPieces:
        """Cut segments into pieces."""
        per_segment = np.maximum(1, -(-(stops - starts) // PIECE_ROWS))
        first_of = np.cumsum(per_segment) - per_segment
        segment = np.repeat(np.arange(len(starts)), per_segment)
        begin = starts[segment] + (np.arange(len(segment)) - first_of[segment]) * PIECE_ROWS
        return cls(segment, begin, np.minimum(begin + PIECE_ROWS, stops[segment]), first_of)

    @property
    def sizes(self) -> Ints:
        """The number of records of each piece."""
        return self.stops - self.starts

    @property
    def targets(self) -> Ints:
        """Where each piece begins when all pieces are concatenated."""
        return np.cumsum(self.sizes) - self.sizes


class CompiledCutter:
    """Find and make cuts with compiled loops in several threads.

    A split moves records from one set of arrays to another and back at the next depth: new memory at every depth
    would cost more than the moves.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(count_workers())
        self._spare: tuple[Memory, ...] | None = None
        self._used: tuple[Memory, ...] | None = None

    def ranges(self, records: Records, axes: Axes) -> Ranges:
        """Find the ranges of all segments."""
        pieces = SegmentPieces.from_segments(records.offsets[:-1], records.offsets[1:])
        shape = (len(pieces.segment), len(axes))
        low, high = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
        missing = np.empty(shape, dtype=np.bool_)
        self._in_threads(
            pieces.sizes,
            lambda first, last: kernel.find_ranges(
                records.codes, axes.leaves, pieces.starts, pieces.stops, first, last, low, high, missing
            ),
        )
        if len(pieces.segment) == records.segments:
            return Ranges(low, high, missing)
        return Ranges(
            np.minimum.reduceat(low, pieces.first_of),
            np.maximum.reduceat(high, pieces.first_of),
            np.logical_or.reduceat(missing, pieces.first_of),
        )

    def propose(
        self, records: Records, axes: Axes, rule: CuttingRule, ranges: Ranges, segments: Ints, first_rank: Ints
    ) -> Cuts:
        """Propose a cut for each of the named segments, trying axes from `first_rank`."""
        arrays = tuple(np.zeros(len(segments), dtype=np.int64) for _ in range(6))
        found = (ranges.low, ranges.high, ranges.missing)
        how = (rule.smallest, rule.relaxed)
        self._in_threads(
            records.offsets[segments + 1] - records.offsets[segments],
            lambda first, last: kernel.propose_cuts(
                records.codes, records.weight, records.offsets, segments, first_rank, axes.arrays, found, how, first,
                last, arrays,
            ),
        )  # fmt: skip
        return Cuts(*arrays)

    def sides(self, records: Records, segments: Ints, cuts: Cuts) -> npt.NDArray[np.bool_]:
        """Return for every record of the named segments, in order, whether it goes left."""
        pieces = SegmentPieces.from_segments(records.offsets[segments], records.offsets[segments + 1])
        axis, code = cuts.axis[pieces.segment], cuts.code[pieces.segment]
        quota = cuts.ties[pieces.segment]
        parted = (quota != ALL_TIES) & (np.bincount(pieces.segment)[pieces.segment] > 1)
        if parted.any():
            quota = self._shared_ties(records, pieces, axis, code, quota)
        left = np.empty(int(pieces.sizes.sum()), dtype=np.bool_)
        self._in_threads(
            pieces.sizes,
            lambda first, last: kernel.assign_sides(
                records.codes,
                pieces.starts,
                pieces.stops,
                axis,
                code,
                quota,
                pieces.targets,
                first,
                last,
                left,
            ),
        )
        return left

    def halves(self, records: Records, segments: Ints, left: npt.NDArray[np.bool_], values: int) -> tuple[Ints, Ints]:
        """Count the records of both halves of the named segments, and how often the first extra column repeats one."""
        starts, stops = records.offsets[segments], records.offsets[segments + 1]
        flags = np.cumsum(stops - starts) - (stops - starts)
        sizes, largest = np.zeros((2, len(segments), 2), dtype=np.int64)
        self._in_threads(
            stops - starts,
            lambda first, last: kernel.count_halves(
                records.extra[0], left, (starts, stops, flags), values, first, last, (sizes, largest)
            ),
        )
        return sizes, largest

    def split(self, records: Records, segments: Ints, left: npt.NDArray[np.bool_]) -> Records:
        """Cut the named segments in two; all other segments are dropped."""
        pieces = SegmentPieces.from_segments(records.offsets[segments], records.offsets[segments + 1])
        flags, went_left = pieces.targets, np.empty(len(pieces.segment), dtype=np.int64)
        self._in_threads(
            pieces.sizes,
            lambda first, last: kernel.count_left(left, flags, flags + pieces.sizes, first, last, went_left),
        )
        halves = np.column_stack(
            [
                np.bincount(pieces.segment, weights=went_left, minlength=len(segments)),
                np.bincount(pieces.segment, weights=pieces.sizes - went_left, minlength=len(segments)),
            ]
        ).astype(np.int64)
        offsets = np.concatenate([[0], np.cumsum(halves.ravel())])
        places = np.column_stack(
            [
                _cumulative_counts(went_left, pieces) + offsets[:-1:2][pieces.segment],
                _cumulative_counts(pieces.sizes - went_left, pieces) + offsets[1:-1:2][pieces.segment],
            ]
        )
        source = (records.codes, records.extra, records.weight, records.origin)
        result = self._allocate(source, int(offsets[-1]))
        self._in_threads(
            pieces.sizes,
            lambda first, last: kernel.split_segments(
                source, pieces.starts, pieces.stops, flags, left, places, first, last, result
            ),
        )
        codes, extra, weight, origin = result
        return Records(codes, extra, weight, origin, offsets)

    def number(self, records: Records, segments: Ints, first: int, result: npt.NDArray[np.int32]) -> None:
        """Write at every record's origin the number of its segment, counted from `first` over those named."""
        pieces = SegmentPieces.from_segments(records.offsets[segments], records.offsets[segments + 1])
        self._in_threads(
            pieces.sizes,
            lambda begin, end: kernel.number_pieces(
                records.origin, pieces.starts, pieces.stops, pieces.segment + first, begin, end, result
            ),
        )

    def _allocate(self, source: tuple[Memory, ...], rows: int) -> tuple[Memory, ...]:
        """Return arrays like the source's for fewer records, in memory that is kept for the next depth."""
        spare = self._spare or tuple(np.empty(array.size, dtype=array.dtype) for array in source)
        self._spare, self._used = self._used or tuple(array.reshape(-1) for array in source), spare
        return tuple(
            memory[: array.size // array.shape[-1] * rows].reshape((*array.shape[:-1], rows))
            for memory, array in zip(spare, source, strict=True)
        )

    def _shared_ties(self, records: Records, pieces: SegmentPieces, axis: Ints, code: Ints, quota: Ints) -> Ints:
        """Distribute a segment's ties among its pieces, first come, first served."""
        counts = np.zeros(len(pieces.segment), dtype=np.int64)
        self._in_threads(
            pieces.sizes,
            lambda first, last: kernel.count_ties(
                records.codes, pieces.starts, pieces.stops, axis, code, first, last, counts
            ),
        )
        return np.asarray(np.clip(quota - _cumulative_counts(counts, pieces), 0, counts))

    def _in_threads(self, sizes: Ints, work: Callable[[int, int], None]) -> None:
        """Distribute items among threads so that each gets about the same number of records; a few need no threads.

        This thread works, too: waking another one for every share would cost as much as a share does at great depth.
        """
        if sizes.sum() <= PIECE_ROWS:
            work(0, len(sizes))
            return
        until = np.cumsum(sizes)
        shares = np.linspace(0, until[-1], 4 * count_workers() + 1)[1:]
        edges = np.unique(np.concatenate([[0], np.searchsorted(until, shares) + 1]).clip(max=len(sizes)))
        shared = iter(list(pairwise(edges.tolist())))  # a list's iterator gives every item to one thread

        def work_on() -> None:
            for first, last in shared:
                work(first, last)

        helping = [self._pool.submit(work_on) for _ in range(count_workers() - 1)]
        work_on()
        for each in helping:
            if not each.cancel():
                each.result()


def _cumulative_counts(counts: Ints, pieces: SegmentPieces) -> Ints:
    """Sum the counts of a segment's earlier pieces."""
    before = np.cumsum(counts) - counts
    return np.asarray(before - before[pieces.first_of][pieces.segment])
