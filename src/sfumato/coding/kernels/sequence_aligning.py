"""Compiled alignment of two sequences in order, as texts are aligned: match two entries, or leave one out."""

from __future__ import annotations

from math import log

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled

MATCH, FIRST, SECOND = 0, 1, 2


@compiled
def align_sequences(first: Array, second: Array, left_out: float, low: Array, high: Array) -> Array:
    """Return the cheapest alignment of two sequences of boxes within a band, as pairs of places that match.

    A box has pairs of ends along three axes. Matching two costs the logarithms by which the sides of the first box
    grow, each side and 1 more; leaving an entry of either out costs `points_to_suppress`. Of equal costs, matching is preferred.

    Parameters
    ----------
    first, second : the boxes of both, a row of six ends each.
    left_out : the cost of an entry that is left out.
    low, high : for every number of entries of the first sequence that are done, from none to all, the least and the
        largest number of the second; neither decreases, and both ends of the alignment are inside.
    """
    offset = np.zeros(len(first) + 2, dtype=np.int64)
    offset[1:] = np.cumsum(high - low + 1)
    step = np.full(offset[-1], SECOND, dtype=np.int8)
    before, now = np.full(len(second) + 1, np.inf), np.full(len(second) + 1, np.inf)
    now[: high[0] + 1] = left_out * np.arange(high[0] + 1)
    for i in range(1, len(first) + 1):
        before, now = now, before
        if low[i - 1] > 0:
            before[low[i - 1] - 1] = np.inf  # of an older row
        if low[i] > 0:
            now[low[i] - 1] = np.inf
        for j in range(low[i], high[i] + 1):
            least, taken = before[j] + left_out, FIRST
            if j > 0 and before[j - 1] < np.inf:
                matched = before[j - 1] + _growth(first[i - 1], second[j - 1])
                if matched <= least:
                    least, taken = matched, MATCH
            if j > 0 and now[j - 1] + left_out < least:
                least, taken = now[j - 1] + left_out, SECOND
            now[j], step[offset[i] + j - low[i]] = least, taken
    return _traced(step, offset, low, len(second))


@compiled
def _growth(first: Array, second: Array) -> float:
    """Return the logarithms by which the sides of a box grow around another one."""
    grown, own = 1.0, 1.0
    for axis in range(0, 6, 2):
        grown *= 1.0 + max(first[axis + 1], second[axis + 1]) - min(first[axis], second[axis])
        own *= 1.0 + first[axis + 1] - first[axis]
    return log(grown / own)


@compiled
def _traced(step: Array, offset: Array, low: Array, columns: int) -> Array:
    """Return the pairs of places that match on the way back from the end."""
    i, j, count = len(low) - 1, columns, 0
    pairs = np.empty((min(i, j), 2), dtype=np.int64)
    while i > 0 and j > 0:
        taken = step[offset[i] + j - low[i]]
        i -= taken != SECOND
        j -= taken != FIRST
        if taken == MATCH:
            pairs[count, 0], pairs[count, 1] = i, j
            count += 1
    return pairs[:count][::-1]
