"""Sets of codes: those that occur in every group, and whether a code is in a set."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.coding.grouping import COMPILED_ROWS
from sfumato.coding.readiness import compiled_for

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.integer]
LARGEST_GROUP = 4096  # rows, beyond which sorting all rows at once is faster


def masks_of_groups(group: Numbers, codes: Numbers, groups: int) -> Ints:
    """Return for every group a mask of the codes that occur in it, all below 63.

    >>> masks_of_groups(np.array([0, 1, 0]), np.array([2, 0, 1]), 2).tolist()
    [6, 1]
    """
    masks = np.zeros(groups, dtype=np.int64)
    if compiled_for(len(group), COMPILED_ROWS):
        from sfumato.coding.kernels import code_sets as kernel

        kernel.mark_codes(_whole(group), _whole(codes), masks)
    else:
        np.bitwise_or.at(masks, group, np.int64(1) << codes.astype(np.int64))
    return masks


def codes_of_groups(group: Numbers, codes: Numbers, groups: int, width: int) -> tuple[Ints, Ints]:
    """Return where the codes of every group begin, and the different ones that occur in it, ascending, below `width`.

    >>> codes_of_groups(np.array([0, 1, 0, 0]), np.array([5, 3, 4, 5]), 2, 6)
    (array([0, 2, 3]), array([4, 5, 3]))
    """
    if compiled_for(len(group), COMPILED_ROWS):
        counts = np.bincount(group, minlength=groups)
        if counts.max(initial=0) <= LARGEST_GROUP:
            return _dealt(_whole(group), _whole(codes), counts)
    keys = np.sort(group.astype(np.int64) * width + codes)
    keys = keys[np.diff(keys, prepend=-1) != 0]
    return np.searchsorted(keys, np.arange(groups + 1) * width), keys % width


def _dealt(group: Ints, codes: Ints, counts: Ints) -> tuple[Ints, Ints]:
    from sfumato.coding.kernels import code_sets as kernel

    begins = np.concatenate([[0], np.cumsum(counts)])
    dealt, offsets = np.empty(len(codes), dtype=np.int64), np.empty(len(begins), dtype=np.int64)
    kernel.deal_codes(group, codes, begins[:-1].copy(), dealt)
    kernel.keep_distinct(dealt, begins, offsets)
    return offsets, dealt[: offsets[-1]]


def find_codes(offsets: Ints, members: Ints, place: Numbers, codes: Numbers) -> npt.NDArray[np.bool_]:
    """Return for pairs of a set, by its place, and a code whether it is among the ascending members of the set.

    >>> find_codes(np.array([0, 2, 3]), np.array([4, 5, 3]), np.array([0, 1, 1]), np.array([5, 5, 3])).tolist()
    [True, False, True]
    """
    if compiled_for(len(place), COMPILED_ROWS):
        from sfumato.coding.kernels import code_sets as kernel

        found = np.empty(len(place), dtype=np.bool_)
        kernel.find_codes(offsets, members, _whole(place), _whole(codes), found)
        return found
    span = int(max(members.max(initial=0), codes.max(initial=0))) + 1
    keys = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) * span + members
    wanted = place.astype(np.int64) * span + codes
    return np.asarray(np.append(keys, -1)[np.searchsorted(keys, wanted)] == wanted)


def _whole(numbers: Numbers) -> Ints:
    return numbers.astype(np.int64, copy=False)
