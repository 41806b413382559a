"""The order of baskets by what they hold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def order_by_content(codes: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Order baskets by their first items, then by their second ones, and so on; a shorter basket comes first.

    Places are sorted from the last to the first, each time only the baskets that reach them, so that the work grows
    with the number of items, not with baskets times the longest one.

    >>> order_by_content(np.array([0, 2, 0, 1, 0], dtype=np.int32), np.array([0, 2, 4, 5])).tolist()
    [2, 1, 0]
    """
    return _radix_order(codes, offsets, turning=False)


def order_by_gray_code(codes: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Order baskets as a Gray code orders bits, one for every item: neighbors differ in few items.

    Where two baskets first differ, the one without the item comes first if an even number of items came before, and
    last if it was odd.

    >>> order_by_gray_code(np.array([0, 0, 1, 1], dtype=np.int32), np.array([0, 1, 3, 4])).tolist()
    [2, 1, 0]
    """
    lengths = np.diff(offsets)
    places = np.arange(len(codes)) - np.repeat(offsets[:-1], lengths)
    return _radix_order(np.where(places % 2 == 0, -codes, codes), offsets, turning=True)


def _radix_order(
    codes: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64], *, turning: bool
) -> npt.NDArray[np.int64]:
    """Order baskets place by place; one that has ended comes first, or, if turning, last at every second place."""
    lengths = np.diff(offsets)
    by_length = np.argsort(-lengths, kind="stable")
    longest = int(lengths.max(initial=0))
    ends = np.searchsorted(-lengths[by_length], -np.arange(longest, -1, -1), side="right")
    order, done = by_length[:0], 0
    for place, end in zip(range(longest - 1, -1, -1), ends.tolist(), strict=False):
        ended = by_length[done:end]  # before the next place
        order = np.concatenate([order, ended] if turning and place % 2 == 0 else [ended, order])
        done = end
        order = order[np.argsort(codes[offsets[order] + place], kind="stable")]
    return np.concatenate([by_length[done:], order])


# Which baskets hold exactly the same items.


# Which baskets hold exactly the same items.


def label_identical(codes: npt.NDArray[np.int32], offsets: Ints) -> Ints:
    """Give every basket a number that only baskets with the same items share.

    >>> label_identical(np.array([0, 2, 1, 0, 2], dtype=np.int32), np.array([0, 2, 3, 5])).tolist()
    [0, 1, 0]
    """
    order = order_by_content(codes, offsets)
    lengths = np.diff(offsets)[order]
    same = np.flatnonzero(lengths[1:] == lengths[:-1])  # only these need a look at their items
    counts = lengths[same]
    ends = np.cumsum(counts)
    at = np.arange(counts.sum()) - np.repeat(ends - counts, counts)
    one = codes[np.repeat(offsets[order[same]], counts) + at]
    two = codes[np.repeat(offsets[order[same + 1]], counts) + at]
    other = np.concatenate([[0], np.cumsum(one != two)])
    new = np.ones(len(order), dtype=np.bool_)
    new[same + 1] = other[ends] > other[ends - counts]
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.cumsum(new) - 1
    return numbers
