"""Groups and buckets across each other: every set of picked records is cut both ways."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.buckets.cross_blocks import BlockTree
from sfumato.algorithms.buckets.cross_picking import RecordSets
from sfumato.coding.cutting.axes import Axes
from sfumato.coding.cutting.partition import CuttingRule, Ranges, Records, choose_cutter, measure_widths
from sfumato.coding.grouping import COMPILED_ROWS
from sfumato.coding.ordering import stable_argsort
from sfumato.coding.readiness import should_compile_for
from sfumato.threads import count_workers, map_in_threads

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.unsignedinteger]
PLAIN_RULE = CuttingRule(1, relaxed=False)


@dataclass(frozen=True, eq=False)
class Crossing:
    """Records in the order of their groups, where each group begins, and the bucket of every record."""

    order: Ints
    starts: Ints
    bucket: Ints


def cross_sets(sets: RecordSets, codes: Codes, axes: Axes, k: int, l: Fraction) -> Crossing:
    """Cut every set into groups of k, and every crossed set into buckets.

    The records of a set are ordered so that neighbors are close: by recursive median cuts at the widest attribute,
    whose leaves are the groups. Sizes of groups differ by at most one. Record j of a crossed set goes to bucket
    j mod b, where b is the largest number up to k that keeps every exposure at 1/l or below.

    Parameters
    ----------
    sets : the sets, by positions of records.
    codes : the codes of every quasi-identifier, by positions of records.
    axes : the quasi-identifiers.
    k : the smallest number of records in a group.
    l : one over the largest exposure.
    """
    cutting = _Cutting(sets.sizes, k)
    order = sets.places
    taken = np.arange(len(order))
    if len(axes):
        taken = cutting.arranged(codes[:, order], axes)
    return Crossing(order[taken], cutting.group_starts(), _buckets(sets, taken, k, l))


def order_by_proximity(tree: BlockTree, codes: Codes, axes: Axes, k: int) -> tuple[BlockTree, Ints]:
    """Order the records inside every block so that nearby ones are close; also return the sizes of the blocks."""
    leaves = np.flatnonzero(tree.leaf)
    sizes = tree.size[leaves[np.argsort(tree.start[leaves])]]
    if not len(axes):
        return tree, sizes
    taken = _Cutting(sizes, k).arranged(codes[:, tree.order], axes)
    return replace(tree, order=tree.order[taken]), sizes


class _Cutting:
    """Segments of sets that are cut in two until each is one group."""

    def __init__(self, sizes: Ints, k: int) -> None:
        self.sizes, self.groups = sizes, sizes // k
        self.starts = np.cumsum(sizes) - sizes

    def bound(self, of_set: Ints, group: Ints) -> Ints:
        """Return where a group of a set begins."""
        size, groups = self.sizes[of_set], self.groups[of_set]
        return np.asarray(self.starts[of_set] + group * (size // groups) + np.minimum(group, size % groups))

    def group_starts(self) -> Ints:
        """Return where all groups begin."""
        of_set = np.repeat(np.arange(len(self.sizes)), self.groups)
        return self.bound(of_set, np.arange(len(of_set)) - (np.cumsum(self.groups) - self.groups)[of_set])

    def arranged(self, codes: Codes, axes: Axes) -> Ints:
        """Order the records so that those of a group are close to each other."""
        if should_compile_for(codes.shape[1], COMPILED_ROWS):
            return self._arranged_by_sets(codes, axes)
        return self._arranged_by_levels(codes, axes)

    def _arranged_by_sets(self, codes: Codes, axes: Axes) -> Ints:
        from sfumato.coding.kernels import arranging as kernel

        order = np.arange(codes.shape[1])
        room, sets = np.empty_like(order), (self.starts, self.sizes, self.groups)

        def work(part: tuple[int, int]) -> None:
            kernel.order_sets(codes, axes.arrays, sets, *part, order, room)

        edges = np.linspace(0, len(self.sizes), 4 * count_workers() + 1).astype(int).tolist()
        deque(map_in_threads(work, pairwise(edges)), maxlen=0)
        return order

    def _arranged_by_levels(self, codes: Codes, axes: Axes) -> Ints:
        order = np.arange(codes.shape[1])
        of_set = np.arange(len(self.sizes))
        first, last = np.zeros_like(of_set), self.groups
        while True:
            cut = last - first > 1
            of_set, first, last = of_set[cut], first[cut], last[cut]
            if not len(of_set):
                return order
            begin, end = self.bound(of_set, first), self.bound(of_set, last)
            lengths = end - begin
            segment = np.repeat(np.arange(len(of_set)), lengths)
            offsets = np.append(0, np.cumsum(lengths))
            at = np.arange(len(segment)) + (begin - offsets[:-1])[segment]
            mine = order[at]
            key = _sort_key(codes, mine, segment, offsets, axes)
            order[at] = mine[stable_argsort(key, len(of_set) * (int(axes.leaves.max()) + 1))]
            middle = (first + last) // 2
            of_set = np.repeat(of_set, 2)
            first, last = np.column_stack([first, middle]).ravel(), np.column_stack([middle, last]).ravel()


def _sort_key(codes: Codes, rows: Ints, segment: Ints, offsets: Ints, axes: Axes) -> Ints:
    """Order records by segment, and in a segment by its widest attribute."""
    here = np.ascontiguousarray(codes[:, rows])
    weight, origin = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    found = choose_cutter(here.shape[1]).ranges(Records(here, here[:0], weight, origin, offsets), axes)
    axis = np.argmax(measure_widths(found, axes), axis=1) % len(axes)
    span = int(axes.leaves.max()) + 1
    return np.asarray(segment * span + here[axis[segment], np.arange(len(rows))])


def tight_ranges(crossing: Crossing, codes: Codes, axes: Axes) -> Ranges:
    """Find the ranges of all groups."""
    weight, origin = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    offsets = np.append(crossing.starts, len(crossing.order))
    here = np.ascontiguousarray(codes[:, crossing.order])
    return choose_cutter(here.shape[1]).ranges(Records(here, here[:0], weight, origin, offsets), axes)


def _buckets(sets: RecordSets, taken: Ints, k: int, l: Fraction) -> Ints:
    """Find the bucket of every record, in order."""
    sizes = sets.sizes[: sets.crossed]
    distinct, place = np.unique(sizes, return_inverse=True)
    number = np.array([max_buckets(size, k, l) for size in distinct.tolist()], dtype=np.int64)[place]
    first = np.cumsum(number) - number
    rows = int(sizes.sum())
    within = np.arange(rows) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    crossed = np.repeat(first, sizes) + within % np.repeat(number, sizes)
    return np.concatenate([crossed, int(number.sum()) + sets.bucket[taken[rows:]]])


@lru_cache(maxsize=4096)
def max_buckets(size: int, k: int, l: Fraction) -> int:
    """Find how many buckets, up to k, this many records of different values may be dealt to.

    A value is in one bucket B only, so a group G exposes it with |G and B| / |G| / |B|. One bucket always works.

    >>> [max_buckets(4, 2, Fraction(4)), max_buckets(5, 2, Fraction(5))]
    [2, 1]
    """
    groups = size // k
    ends = np.cumsum(np.full(groups, size // groups) + (np.arange(groups) < size % groups))
    starts = np.append(0, ends[:-1])
    for buckets in range(min(k, size), 1, -1):
        each = np.arange(buckets)
        held = _records_distributed(size, each, buckets)
        shared = _records_distributed(ends[:, None], each, buckets) - _records_distributed(
            starts[:, None], each, buckets
        )
        product = (ends - starts)[:, None] * held
        pairs = zip(shared.ravel().tolist(), product.ravel().tolist(), strict=True)
        if all(part * l <= whole for part, whole in pairs):
            return buckets
    return 1


def _records_distributed(records: int | Ints, bucket: Ints, buckets: int) -> Ints:
    """Count the records before some position that went to a bucket."""
    return np.asarray((records - bucket + buckets - 1) // buckets)
