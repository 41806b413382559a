"""Which sequences of codes are the same."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.coding.grouping import group_columns

Integers = npt.NDArray[np.int64]


def label_sequences(codes: Integers, offsets: Integers) -> Integers:
    """Give numbers from 0 on to the different sequences of codes.

    Parameters
    ----------
    codes : whole numbers of at least 0.
    offsets : where the codes of every sequence begin, and the number of all codes.

    Examples
    --------
    >>> label_sequences(np.array([3, 5, 3, 3, 5]), np.array([0, 2, 3, 5, 5])).tolist()
    [2, 1, 2, 0]
    """
    lengths = np.diff(offsets)
    labels, used = np.zeros(len(lengths), dtype=np.int64), 1
    width = int(codes.max(initial=0)) + 1
    for position in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > position)
        grouped = group_columns([labels[longer], codes[offsets[longer] + position]], [used, width])
        labels[longer] = used + grouped.labels.astype(np.int64)
        used += len(grouped)
    return np.unique(labels, return_inverse=True)[1].ravel().astype(np.int64)
