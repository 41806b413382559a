"""NoiseFirst: neighboring cells of a noisy histogram become one cell where that costs less than their noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.exceptions import InvalidParameterError
from sfumato.queries.private import noise
from sfumato.queries.private.answers import PrivateCounts

Floats = npt.NDArray[np.float64]
MAX_CELLS = 20_000  # the time grows with their square


def merge_cells(answer: PrivateCounts) -> PrivateCounts:
    """Average neighboring cells where their counts differ less than their noise (NoiseFirst; Xu and others, 2013).

    The cells must have an order, as bins have. A count may end outside the interval of its noise, which is then
    stretched to it, so every interval still holds the true count at least as often as it says.
    """
    if answer.steps or answer.mechanism != noise.LAPLACE or len(answer.columns) > 1:
        raise InvalidParameterError("Only a histogram made with shape='cells' can be merged, and before other steps.")
    if len(answer.cells) > MAX_CELLS:
        raise InvalidParameterError(f"A histogram of more than {MAX_CELLS:,} cells is not merged; use wider bins.")
    starts = optimal_bins(answer.counts, noise.noise_variance(answer.scale))
    widths = np.diff([*starts, len(answer.counts)])
    values = np.repeat(np.add.reduceat(answer.counts, starts) / widths, widths)
    return replace(
        answer,
        counts=values,
        lower=np.minimum(answer.lower, values),
        upper=np.maximum(answer.upper, values),
        steps=(*answer.steps, "merged with neighbors"),
    )


def optimal_bins(counts: Floats, variance: float) -> npt.NDArray[np.int64]:
    """Return where the bins of least expected error start, for counts whose noise has this variance.

    A bin of n cells whose noisy counts have the sum of squares S about their mean has the expected error
    S - (n - 2) variance if all its cells get the mean. So k bins of N cells in all have S - (N - 2 k) variance, and the
    least over every k and every choice of bins is the least sum of S + 2 variance: one dynamic program, in time that
    grows with the square of N. A bin that is worse than its own noise is never among the best.

    >>> optimal_bins(np.array([9.0, 11, 10, 30, 31]), variance=2.0).tolist()
    [0, 3]
    """
    centered = counts - counts.mean()
    sums = np.r_[0.0, np.cumsum(centered)]
    squares = np.r_[0.0, np.cumsum(centered**2)]
    places = np.arange(len(sums), dtype=np.float64)
    least = np.zeros(len(sums))
    began = np.zeros(len(sums), dtype=np.int64)
    for end in range(1, len(sums)):
        spread = squares[end] - squares[:end] - (sums[end] - sums[:end]) ** 2 / (end - places[:end])
        costs = least[:end] + spread
        began[end] = np.argmin(costs)
        least[end] = costs[began[end]] + 2 * variance
    starts = [len(counts)]
    while starts[0] > 0:
        starts.insert(0, int(began[starts[0]]))
    return np.array(starts[:-1], dtype=np.int64)
