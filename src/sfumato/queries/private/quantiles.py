"""Private quantiles: candidates are scored by how far their rank is off, and one is selected.

A score is `max(#(x < c) - t, t - #(x <= c), 0)` for the desired rank `t`. The true quantile scores 0, also if many
values are equal. One row more or less changes it by at most max(share, 1 - share). An end of the interval is the
selection for a rank that is so much lower (or higher) that the selection is below (above) the true quantile except
with a probability that the confidence allows; the outermost candidates always qualify, because they are the bounds.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt

from sfumato.exceptions import InvalidParameterError
from sfumato.queries.private import noise

Integers = npt.NDArray[np.int64]
MAX_STEPS = 1_000
MOST_SHIFT = 2**60
SAFETY = 1 + 1e-9  # scales are accurate up to rounding


def quantile_candidates(low: float, high: float, step: float | None) -> npt.NDArray[np.float64]:
    """Return the possible answers: every whole number between whole bounds that are close, else equal steps.

    >>> quantile_candidates(0, 4, None), quantile_candidates(0, 1, 0.25)
    (array([0., 1., 2., 3., 4.]), array([0.  , 0.25, 0.5 , 0.75, 1.  ]))
    """
    whole = float(low).is_integer() and float(high).is_integer() and high - low <= MAX_STEPS
    steps = MAX_STEPS if step is None else max(1, ceil((high - low) / step - SAFETY + 1))
    return np.linspace(low, high, int(high - low) + 1 if whole and step is None else steps + 1)


def count_at_candidates(values: npt.NDArray[np.float64], grid: npt.NDArray[np.float64]) -> Integers:
    """Count values at the candidates nearest to them."""
    middles = (grid[1:] + grid[:-1]) / 2
    return np.bincount(np.searchsorted(middles, values), minlength=len(grid)).astype(np.int64)


def shift_of_ends(
    share: Fraction, candidates: int, *, max_rows: int, epsilon: Fraction, confidence: float
) -> tuple[int, int]:
    """Return the sensitivity of a score, and how far the ranks of the interval's ends are from that of the quantile.

    Both follow from the question alone. One whose ranks would not fit into 64 bits is refused, before it is paid.
    """
    sensitivity = max_rows * max(share.numerator, share.denominator - share.numerator)
    quarter = noise.selection_scale(sensitivity=sensitivity, epsilon=epsilon / 4)
    shift = ceil(noise.selection_margin(quarter * SAFETY, candidates, (1 - confidence) / 2)) + 1
    if shift > MOST_SHIFT:
        raise InvalidParameterError(
            "Such a small epsilon needs ranks that do not fit into 64 bits; give a larger one, or a share with fewer "
            "decimals."
        )
    return sensitivity, shift


def select_quantile(
    counts: Integers, share: Fraction, *, max_rows: int, epsilon: Fraction, confidence: float
) -> tuple[int, int, int, float]:
    """Select the indices of a quantile and of both ends of its interval; also return the scale of the rank's noise.

    Half of epsilon pays for the quantile, and a quarter for each end. Ranks fit into 64 bits: a share has at most 6
    decimals, no memory holds 2**40 rows, and the ends are shifted by at most 2**60.
    """
    part, whole = share.numerator, share.denominator
    sensitivity, shift = shift_of_ends(share, len(counts), max_rows=max_rows, epsilon=epsilon, confidence=confidence)
    below = np.concatenate([[0], np.cumsum(counts)])
    wanted = part * int(below[-1])
    under, up_to = whole * below[:-1], whole * below[1:]

    def selected(rank: int, cost: Fraction) -> tuple[int, float]:
        over, short = under - rank, rank - up_to
        over[0] = short[-1] = 0
        scores = np.maximum(np.maximum(over, short), 0)
        return noise.permute_and_flip(scores, sensitivity=sensitivity, epsilon=cost)

    middle, scale = selected(wanted, epsilon / 2)
    lower, _ = selected(wanted - shift, epsilon / 4)
    upper, _ = selected(wanted + shift, epsilon / 4)
    return middle, min(lower, middle), max(upper, middle), scale / whole
