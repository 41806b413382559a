"""Sets of codes: those that occur in every group, and those that labels cover."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.core._kernels.grouping import COMPILED_ROWS
from sfumato.core._kernels.readiness import should_compile_for

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.integer]
CODE_TYPES: tuple[type[np.unsignedinteger], ...] = (np.uint8, np.uint16, np.uint32)
CELLS_PER_PAIR = 10  # a table of all labels and codes is worth it if it has at most so many cells per question
LARGEST_GROUP = 4096  # rows, beyond which sorting all rows at once is faster


def group_bitmasks(group: Numbers, codes: Numbers, groups: int) -> Ints:
    """Return for every group a mask of the codes that occur in it, all below 63.

    >>> group_bitmasks(np.array([0, 1, 0]), np.array([2, 0, 1]), 2).tolist()
    [6, 1]
    """
    masks = np.zeros(groups, dtype=np.int64)
    if should_compile_for(len(group), COMPILED_ROWS):
        from sfumato.core._kernels import code_set_loops as kernel

        kernel.mark_codes(_numbers(group), _coded(codes), masks)
    else:
        np.bitwise_or.at(masks, group, np.int64(1) << codes.astype(np.int64))
    return masks


def distinct_codes_by_group(group: Numbers, codes: Numbers, groups: int, width: int) -> tuple[Ints, Ints]:
    """Return where the codes of every group begin, and the different ones that occur in it, ascending, below `width`.

    >>> distinct_codes_by_group(np.array([0, 1, 0, 0]), np.array([5, 3, 4, 5]), 2, 6)
    (array([0, 2, 3]), array([4, 5, 3]))
    """
    if should_compile_for(len(group), COMPILED_ROWS):
        counts = np.bincount(group, minlength=groups)
        if counts.max(initial=0) <= LARGEST_GROUP:
            return _scatter_codes(_numbers(group), _coded(codes), counts)
    keys = np.sort(group.astype(np.int64) * width + codes)
    keys = keys[np.diff(keys, prepend=-1) != 0]
    return np.searchsorted(keys, np.arange(groups + 1) * width), keys % width


def _scatter_codes(group: Numbers, codes: Numbers, counts: Ints) -> tuple[Ints, Ints]:
    from sfumato.core._kernels import code_set_loops as kernel

    begins = np.concatenate([[0], np.cumsum(counts)])
    dealt, offsets = np.empty(len(codes), dtype=np.int64), np.empty(len(begins), dtype=np.int64)
    kernel.scatter_codes(group, codes, begins[:-1].copy(), dealt)
    kernel.sort_and_deduplicate(dealt, begins, offsets)
    return offsets, dealt[: offsets[-1]]


@dataclass(frozen=True, eq=False, repr=False)
class CodeSets:
    """What labels cover: all codes from `low` to `high`, or exactly some members where they have a `place` in sets.

    Parameters
    ----------
    low, high : the least and the greatest code of every label.
    missing : whether every label covers `last`, the code of a missing value.
    place : the place of every label among the sets, which are in the order of their labels, or -1.
    offsets, members : where the members of every set begin, and these, ascending.
    last : the code of a missing value, above all others.
    """

    low: Ints
    high: Ints
    missing: npt.NDArray[np.bool_]
    place: Ints
    offsets: Ints
    members: Ints
    last: int

    def contains(self, label: Numbers, codes: Numbers) -> npt.NDArray[np.bool_]:
        """Return for pairs of a label and a code whether the one covers the other.

        >>> some = CodeSets(*(np.array([0, 0]), np.array([1, 0]), np.array([True, False])), *(np.array([-1, 0]),
        ...     np.array([0, 2]), np.array([0, 2])), 3)
        >>> some.contains(np.array([0, 0, 0, 1, 1, 1]), np.array([1, 2, 3, 1, 2, 3])).tolist()
        [True, False, True, False, True, False]
        """
        if should_compile_for(len(label), COMPILED_ROWS):
            from sfumato.core._kernels import code_set_loops as kernel

            spans, sets = (self.low, self.high, self.missing), (self.place, self.offsets, self.members)
            found = np.empty(len(label), dtype=np.bool_)
            kernel.test_membership(spans, sets, self.last, _numbers(label), _coded(codes), found)
            return found
        if len(self.low) * (self.last + 1) <= CELLS_PER_PAIR * len(label):
            return np.asarray(self._table.ravel()[label.astype(np.int64) * (self.last + 1) + codes])
        found = (self.low[label] <= codes) & (codes <= self.high[label])
        listed = np.flatnonzero(self.place[label] >= 0)
        found[listed] = self._among_members(self.place[label[listed]], codes[listed])
        return np.where(codes == self.last, self.missing[label], found)

    @cached_property
    def _table(self) -> npt.NDArray[np.bool_]:
        """Whether every label covers every code."""
        codes, listed = np.arange(self.last + 1), np.flatnonzero(self.place >= 0)
        covered = (self.low[:, None] <= codes) & (codes <= self.high[:, None])
        covered[listed] = False
        counts = np.diff(self.offsets)[self.place[listed]]
        covered[np.repeat(listed, counts), self.members] = True
        covered[:, -1] = self.missing
        return covered

    def _among_members(self, place: Ints, codes: Numbers) -> npt.NDArray[np.bool_]:
        keys = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets)) * (self.last + 1) + self.members
        wanted = place * (self.last + 1) + codes
        return np.asarray(np.append(keys, -1)[np.searchsorted(keys, wanted)] == wanted)


def _numbers(group: Numbers) -> Numbers:
    return group.astype(np.int32, copy=False)


def _coded(codes: Numbers) -> Numbers:
    return codes if codes.dtype in CODE_TYPES else codes.astype(np.uint32)
