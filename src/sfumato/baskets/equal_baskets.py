"""Which baskets hold exactly the same items."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.baskets.ordering import order_by_content

Ints = npt.NDArray[np.int64]


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
