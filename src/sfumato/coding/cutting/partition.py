"""A partition of records into segments that are cut in two, level by level, until none can be cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sfumato.coding.cutting.axes import Axes
from sfumato.coding.grouping import COMPILED_ROWS
from sfumato.coding.readiness import WORTH_WAITING, should_compile_for

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.unsignedinteger]
NO_CUT = -1
PARTING, MIXED = 3.0, 2.0  # wider than any range, which is at most 1
ALL_TIES = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Cuts:
    """A proposed cut for each of some segments.

    A record goes left if its code on `axis` is below `code`, or equal to it while fewer than `ties` records
    with that code went left before it. `left` is the weight that goes left, of `total`. `rank` is the rank
    of this way to cut among the segment's ways, widest first; `axis` is `NO_CUT` if no cut leaves both sides
    large enough.
    """

    axis: Ints
    code: Ints
    ties: Ints
    left: Ints
    total: Ints
    rank: Ints

    def select(self, chosen: Ints) -> Cuts:
        """Return the cuts of some of the segments."""
        return Cuts(*(array[chosen] for array in self._arrays()))

    def replace(self, at: Ints, other: Cuts) -> None:
        """Replace the cuts at the indices `at`."""
        for mine, theirs in zip(self._arrays(), other._arrays(), strict=True):
            mine[at] = theirs

    def _arrays(self) -> tuple[Ints, ...]:
        return self.axis, self.code, self.ties, self.left, self.total, self.rank


@dataclass(frozen=True, eq=False)
class Ranges:
    """The smallest and largest code of every segment on every axis (except missing), and whether any is missing.

    A segment without any value on an axis has `low` greater than `high`.
    """

    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    missing: npt.NDArray[np.bool_]

    def select(self, segments: Ints) -> Ranges:
        """Return the ranges of some of the segments."""
        return Ranges(self.low[segments], self.high[segments], self.missing[segments])


@dataclass(frozen=True, eq=False)
class CuttingRule:
    """How segments may be cut: the smallest weight of a side, whether equal codes may be separated."""

    smallest: int
    relaxed: bool


@dataclass(frozen=True, eq=False)
class Records:
    """Records in the order of their segments: codes per axis, extra code columns, weights, and where they come from.

    A record may represent several with equal codes: as many as its weight.
    """

    codes: npt.NDArray[np.unsignedinteger]
    extra: npt.NDArray[np.unsignedinteger]
    weight: Ints
    origin: npt.NDArray[np.int32]
    offsets: Ints

    @classmethod
    def from_columns(cls, quasi: Sequence[Codes], extra: Sequence[Codes], weight: Ints) -> Records:
        """Make one segment of all records, in memory of its own: cutters move what is in it."""
        count = len(weight)
        return cls(
            codes=stack_codes(quasi, count),
            extra=stack_codes(extra, count),
            weight=weight.copy(),
            origin=np.arange(count, dtype=np.int32),
            offsets=np.array([0, count], dtype=np.int64),
        )

    @property
    def segments(self) -> int:
        """The number of segments."""
        return len(self.offsets) - 1

    def list_rows(self, segments: Ints) -> tuple[Ints, Ints]:
        """Return the records of some segments in order, and for each the index of its segment among those named."""
        starts = self.offsets[segments]
        sizes = self.offsets[segments + 1] - starts
        place = np.repeat(np.arange(len(segments)), sizes)
        return np.arange(len(place)) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes), place


class Cutter(Protocol):
    """The two implementations, compiled and plain, that find and make cuts."""

    def ranges(self, records: Records, axes: Axes) -> Ranges:
        """Find the ranges of all segments."""

    def propose(
        self, records: Records, axes: Axes, rule: CuttingRule, ranges: Ranges, segments: Ints, first_rank: Ints
    ) -> Cuts:
        """Propose a cut for each of the named segments, trying ways to cut from `first_rank`, widest first."""

    def sides(self, records: Records, segments: Ints, cuts: Cuts) -> npt.NDArray[np.bool_]:
        """Return for every record of the named segments, in order, whether it goes left."""

    def halves(self, records: Records, segments: Ints, left: npt.NDArray[np.bool_], values: int) -> tuple[Ints, Ints]:
        """Count the records of both halves of the named segments, and how often the first extra column repeats one."""

    def split(self, records: Records, segments: Ints, left: npt.NDArray[np.bool_]) -> Records:
        """Cut the named segments in two; all other segments are dropped."""

    def number(self, records: Records, segments: Ints, first: int, result: npt.NDArray[np.int32]) -> None:
        """Write at every record's origin the number of its segment, counted from `first` over those named."""


def choose_cutter(records: int, *, one_of_many: bool = False) -> Cutter:
    """Choose compiled loops for many records, and NumPy if compiling would cost more than it saves.

    If the records are one of many parts of a table, compiling pays off for fewer of them.
    """
    least = COMPILED_ROWS // 10 if one_of_many else COMPILED_ROWS
    if should_compile_for(records, least, least if one_of_many else WORTH_WAITING):
        from sfumato.coding.cutting.compiled_cutter import CompiledCutter

        return CompiledCutter()
    from sfumato.coding.cutting.plain_cutter import PlainCutter

    return PlainCutter()


def find_allowed_cuts(
    propose: Callable[[Ints, Ints], Cuts], segments: int, refused: Callable[[Ints, Cuts], Ints]
) -> Cuts:
    """Propose a cut for every segment, widest attribute first, until none is refused.

    Parameters
    ----------
    propose : proposes a cut for each of some segments, trying ways to cut from a rank of each.
    segments : the number of segments.
    refused : finds those of some segments whose proposed cuts do not do.
    """
    tried = np.arange(segments)
    cuts = propose(tried, np.zeros_like(tried))
    tried = refused(tried, cuts)
    while len(tried):
        again = propose(tried, cuts.rank[tried] + 1)
        cuts.replace(tried, again)
        tried = refused(tried, again)
    return cuts


def stack_codes(columns: Sequence[Codes], rows: int) -> Codes:
    """Put the codes of several attributes in a matrix of the smallest type that fits them all, a row for each."""
    result = np.empty((len(columns), rows), dtype=np.result_type(np.uint8, *columns))
    for mine, column in zip(result, columns, strict=True):
        mine[:] = column
    return result


def measure_widths(ranges: Ranges, axes: Axes) -> npt.NDArray[np.float64]:
    """Measure how wide every segment is for every way of cutting it; 0 if it cannot be cut that way.

    There are two ways per axis: first, for all axes, to separate missing values from all others, then, for all axes, to
    cut between values. A segment that mixes missing and other values is published as suppressed, so separating them
    counts as wider than any cut, and next comes a cut that leaves the missing values in one half.
    """
    count = len(axes)
    result = np.zeros((len(ranges.low), 2 * count))
    for j in range(count):
        low, high = ranges.low[:, j].astype(np.int64), ranges.high[:, j].astype(np.int64)
        spread = np.flatnonzero(high > low)
        if axes.heights[j] > 0:
            result[spread, count + j] = _measure_tree_widths(axes, j, low[spread], high[spread])
        else:
            place = axes.places[j]
            result[spread, count + j] = axes.positions[place + high[spread]] - axes.positions[place + low[spread]]
        mixed = ranges.missing[:, j] & (high >= low)
        result[mixed, j] = PARTING
        result[mixed & (high > low), count + j] = MIXED
    return result


def _measure_tree_widths(axes: Axes, j: int, low: Ints, high: Ints) -> npt.NDArray[np.float64]:
    result = np.zeros(len(low))
    for level in range(int(axes.heights[j]), 0, -1):
        start = axes.trees[j] + level * axes.leaves[j]
        same = axes.nodes[start + low] == axes.nodes[start + high]
        result[same] = axes.shares[start + low[same]]
    return result
