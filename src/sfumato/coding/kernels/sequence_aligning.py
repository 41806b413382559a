"""Compiled alignment of two sequences in order, as texts are aligned: match two entries, or leave one out."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled

MATCH, FIRST, SECOND = 0, 1, 2


@compiled
def align(costs: Array, left_out: float) -> Array:
    """Return the cheapest alignment of sequences with these costs of matching, as pairs of places that match.

    Leaving an entry of either out costs `left_out`. Of equal costs, matching is preferred.
    """
    rows, columns = costs.shape
    best = np.zeros((rows + 1, columns + 1))
    step = np.zeros((rows + 1, columns + 1), dtype=np.int8)
    for i in range(1, rows + 1):
        best[i, 0], step[i, 0] = i * left_out, FIRST
    for j in range(1, columns + 1):
        best[0, j], step[0, j] = j * left_out, SECOND
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            matched = best[i - 1, j - 1] + costs[i - 1, j - 1]
            first, second = best[i - 1, j] + left_out, best[i, j - 1] + left_out
            if matched <= first and matched <= second:
                best[i, j], step[i, j] = matched, MATCH
            elif first <= second:
                best[i, j], step[i, j] = first, FIRST
            else:
                best[i, j], step[i, j] = second, SECOND
    pairs = np.empty((min(rows, columns), 2), dtype=np.int64)
    count, i, j = 0, rows, columns
    while i > 0 and j > 0:
        if step[i, j] == MATCH:
            i, j = i - 1, j - 1
            pairs[count, 0], pairs[count, 1] = i, j
            count += 1
        elif step[i, j] == FIRST:
            i -= 1
        else:
            j -= 1
    return pairs[:count][::-1]
