"""The order of baskets by what they hold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def order_by_content(codes: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Order baskets by their first items, then by their second ones, and so on; a shorter basket comes first.

    Places are sorted from the last to the first, each time only the baskets that reach them, so that the work grows
    with the number of items, not with baskets times the longest one.

    >>> order_by_content(np.array([0, 2, 0, 1, 0], dtype=np.int32), np.array([0, 2, 4, 5])).tolist()
    [2, 1, 0]
    """
    lengths = np.diff(offsets)
    by_length = np.argsort(-lengths, kind="stable")
    ends = np.searchsorted(-lengths[by_length], -np.arange(int(lengths.max(initial=0)), -1, -1), side="right")
    order = by_length[:0]
    done = 0
    for place, end in zip(range(int(lengths.max(initial=0)) - 1, -1, -1), ends, strict=False):
        order = np.concatenate([by_length[done:end], order])
        done = int(end)
        order = order[np.argsort(codes[offsets[order] + place], kind="stable")]
    return np.concatenate([by_length[done:], order])
