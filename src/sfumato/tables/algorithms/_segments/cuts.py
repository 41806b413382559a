"""A partition of records into segments that are cut in two, level by level, until none can be cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core._kernels.grouping import COMPILED_ROWS
from sfumato.core._kernels.readiness import WORTH_WAITING, should_compile_for
from sfumato.encoding.domain import Domain
from sfumato.schema.roles import Scale

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


# The quasi-identifiers as axes that a partition can be cut along.


# The quasi-identifiers as axes that a partition can be cut along.
Offsets = npt.NDArray[np.int64]
Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Axes:
    """All axes in flat arrays that compiled loops can read.

    Axis j has `leaves[j]` codes; a missing value has the code `leaves[j]`. An ordered axis has positions
    in [0, 1], from `places[j]`. A tree axis (`heights[j] > 0`) has for every level and leaf the node and
    the node's share of all leaves, level by level from `trees[j]`.
    """

    leaves: Offsets
    heights: Offsets
    places: Offsets
    positions: Floats
    trees: Offsets
    nodes: npt.NDArray[np.int32]
    shares: Floats

    def __len__(self) -> int:
        return len(self.leaves)

    @property
    def arrays(self) -> tuple[Offsets, Offsets, Offsets, Floats, Offsets, npt.NDArray[np.int32], Floats]:
        """Everything, as compiled loops take it."""
        return self.leaves, self.heights, self.places, self.positions, self.trees, self.nodes, self.shares


def make_axes(domains: Sequence[Domain]) -> Axes:
    """Build the axes of several domains: trees for taxonomies, positions for all other scales."""
    positions: list[Floats] = []
    nodes: list[npt.NDArray[np.int32]] = []
    shares: list[Floats] = []
    heights = np.zeros(len(domains), dtype=np.int64)
    for j, domain in enumerate(domains):
        positions.append(_normalize(domain))
        if domain.scale is Scale.CATEGORICAL and domain.hierarchy is not None:
            heights[j] = domain.hierarchy.height
            for level in domain.hierarchy.levels:
                nodes.append(level)
                shares.append((np.bincount(level) / len(domain))[level])
    leaves = np.array([len(domain) for domain in domains], dtype=np.int64)
    tree_cells = np.where(heights > 0, (heights + 1) * leaves, 0)
    return Axes(
        leaves=leaves,
        heights=heights,
        places=_offsets(leaves),
        positions=_concatenate(positions, np.float64),
        trees=_offsets(tree_cells),
        nodes=_concatenate(nodes, np.int32),
        shares=_concatenate(shares, np.float64),
    )


def _normalize(domain: Domain) -> Floats:
    """Place the leaves in [0, 1]."""
    places = domain.positions
    if domain.scale is Scale.NUMERIC and pa.types.is_int64(domain.values.type):
        whole = domain.values.to_numpy().view(np.uint64)
        places = (whole - whole[:1]).astype(np.float64)  # exact for neighbors that floats cannot distinguish
    if len(places) < 2 or places[-1] == places[0]:  # noqa: PLR2004 - a range needs two ends
        return np.zeros_like(places)
    if places[-1] / 2 - places[0] / 2 > np.finfo(np.float64).max / 2:
        places = places / 2
    return np.asarray((places - places[0]) / (places[-1] - places[0]))


def _offsets(sizes: Offsets) -> Offsets:
    return np.asarray(np.cumsum(sizes) - sizes)


def _concatenate(parts: Sequence[npt.NDArray[Number]], dtype: type[Number]) -> npt.NDArray[Number]:
    return np.concatenate(parts).astype(dtype) if parts else np.zeros(0, dtype=dtype)


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
        from sfumato.tables.algorithms._segments._compiled_cutter import CompiledCutter

        return CompiledCutter()
    from sfumato.tables.algorithms._segments._plain_cutter import PlainCutter

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
