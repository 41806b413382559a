"""The order of rows by whole numbers: ascending, and equal ones as they came."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.coding.grouping import COMPILED_ROWS, LARGEST_KEY
from sfumato.coding.readiness import should_compile_for


def stable_argsort(keys: npt.NDArray[np.integer], span: int = LARGEST_KEY + 1) -> npt.NDArray[np.int64]:
    """Order rows by keys, all at least 0 and below `span`; equal keys keep their order.

    >>> stable_argsort(np.array([5, 2, 5, 0]))
    array([3, 1, 0, 2])
    """
    if not should_compile_for(len(keys), COMPILED_ROWS):
        return np.argsort(keys, kind="stable").astype(np.int64, copy=False)
    return radix_argsort(keys, span)


def radix_argsort(keys: npt.NDArray[np.integer], span: int) -> npt.NDArray[np.int64]:
    """Order rows by keys with compiled loops."""
    from sfumato.coding.kernels import ordering as kernel

    mine, rows = keys.astype(np.int64), np.arange(len(keys), dtype=np.int64)
    spare, spare_rows = np.empty_like(mine), np.empty_like(rows)
    places = np.empty(kernel.DIGITS, dtype=np.int64)
    for shift in range(0, (span - 1).bit_length(), kernel.DIGIT):
        kernel.radix_sort_pass(mine, rows, shift, places, spare, spare_rows)
        mine, rows, spare, spare_rows = spare, spare_rows, mine, rows
    return rows
