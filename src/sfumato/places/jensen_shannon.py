"""The Jensen-Shannon divergence of two distributions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def jensen_shannon_divergence(before: Floats, after: Floats) -> float:
    """Return the Jensen-Shannon divergence, base 2, of two distributions: 0 alike, 1 disjoint.

    >>> round(jensen_shannon_divergence(np.array([0.5, 0.5]), np.array([1.0, 0.0])), 6)
    0.311278
    """
    middle = (before + after) / 2
    total = 0.0
    for shares in (before, after):
        there = shares > 0
        total += float((shares[there] * np.log2(shares[there] / middle[there])).sum())
    return min(max(total / 2, 0.0), 1.0)
