"""How much more often an attack is right about persons in the data than about others: rates, excess, intervals."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from sfumato.attacks.beliefs import Floats

Z = 1.959963984540054  # a normal number lies within this many standard deviations in 95 of 100 cases
NO_SECRET = 0.98  # a control that is right so often leaves nothing to tell
Interval = tuple[float, float]


def wilson_score(successes: float, trials: int) -> tuple[float, float]:
    """Return the middle of Wilson's interval of a rate at 95 %, and half its width.

    >>> [round(each, 6) for each in wilson_score(1000, 1000)]
    [0.998087, 0.001913]
    """
    middle = (successes + Z**2 / 2) / (trials + Z**2)
    half = Z / (trials + Z**2) * sqrt(max(successes * (trials - successes) / trials, 0.0) + Z**2 / 4)
    return middle, half


def wilson_interval(successes: float, trials: int) -> Interval:
    """Return Wilson's interval of a rate at 95 %."""
    middle, half = wilson_score(successes, trials)
    return max(0.0, middle - half), min(1.0, middle + half)


def excess_risk(successes: float, targets: int, right: float, controls: int) -> tuple[float, float] | None:
    """Return the excess of an attack over its control, and half its interval (delta method); None if nothing is left.

    The excess is how far the attack gets from what the control gets right to always being right. A control that is
    nearly always right tells that the secret is none.

    >>> [round(each, 4) for each in excess_risk(974, 1000, 236, 1000)]
    [0.9635, 0.0132]
    >>> excess_risk(99, 100, 99, 100) is None
    True
    """
    if right / controls >= NO_SECRET:
        return None
    (a, half_a), (c, half_c) = wilson_score(successes, targets), wilson_score(right, controls)
    half = sqrt((half_a / (1 - c)) ** 2 + (half_c * (1 - a) / (1 - c) ** 2) ** 2)
    return (a - c) / (1 - c), half


def one_sided_p_value(excess: float, half: float) -> float:
    """Return how likely an excess at least as large is by chance, where nothing is told (one-sided)."""
    from scipy.stats import norm

    return float(norm.sf(excess / half * Z)) if half > 0 else float(excess <= 0)


def holm_correction(chances: Sequence[float]) -> list[float]:
    """Correct chances of false alarms for how many there are (Holm 1979).

    >>> [round(each, 3) for each in holm_correction([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(chances, kind="stable")
    count, largest = len(chances), 0.0
    corrected = [0.0] * count
    for rank, place in enumerate(order.tolist()):
        largest = max(largest, min(1.0, (count - rank) * chances[place]))
        corrected[place] = largest
    return corrected


def auc_with_error(inside: Floats, outside: Floats) -> tuple[float, float]:
    """Return the chance that a score of one inside is above one of one outside, ties half, and its standard error.

    The error is that of Hanley and McNeil (1982).

    >>> auc_with_error(np.array([1.0, 2.0]), np.array([0.0, 0.0]))[0]
    1.0
    """
    from scipy.stats import rankdata

    n, m = len(inside), len(outside)
    ranks = rankdata(np.concatenate([inside, outside]))
    area = float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))
    one, two = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (area * (1 - area) + (n - 1) * (one - area**2) + (m - 1) * (two - area**2)) / (n * m)
    return area, sqrt(max(variance, 0.0))
