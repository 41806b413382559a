"""The threshold of noisy counts above which an item may be named, computed so that no rounding weakens it."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil

DIGITS = 60
SLACK = Decimal(1) + Decimal("1e-40")  # far more than all roundings of so many digits together
LEAST = 1  # an item that nobody has is never published, and one that somebody has gets noise


def release_threshold(*, scale: float, max_items: int, delta: Fraction) -> int:
    """Return the smallest noisy count that may be published.

    An item that only one person has comes out with the chance p = q**(threshold - 1) / (1 + q), where q =
    exp(-1 / scale) is that of discrete Laplace noise. The threshold is the smallest one above 1 for which p is at most
    1 - q, and 1 - (1 - p)**max_items at most delta.

    Parameters
    ----------
    scale : the scale of the noise.
    max_items : how many items a person counts for at most.
    delta : the chance, at most, that something comes out that only one person has.

    Examples
    --------
    >>> release_threshold(scale=5.0, max_items=5, delta=Fraction(1, 10**6))
    76
    """
    with localcontext(prec=DIGITS):
        q = (-1 / Decimal(scale)).exp() * SLACK
        allowed = Decimal(delta.numerator) / Decimal(delta.denominator) / SLACK
        found = max(LEAST + 1, LEAST + _initial_guess(q, max_items, allowed))
        while not _satisfies_bounds(found, q, max_items, allowed):
            found += 1
        while found > LEAST + 1 and _satisfies_bounds(found - 1, q, max_items, allowed):
            found -= 1
    return found


def leak_probability(*, scale: float, threshold: int) -> float:
    """Return the chance that an item comes out that only one person has.

    >>> round(leak_probability(scale=1.0, threshold=3), 4)
    0.0989
    """
    with localcontext(prec=DIGITS):
        q = (-1 / Decimal(scale)).exp()
        return float(q ** (threshold - LEAST) / (1 + q))


def _satisfies_bounds(tried: int, q: Decimal, max_items: int, allowed: Decimal) -> bool:
    """Whether a threshold keeps both conditions, all quantities being rounded against it."""
    p = q ** (tried - LEAST) / (1 + q / SLACK / SLACK) * SLACK
    return p < 1 and p <= (1 - q) and 1 - (1 - p) ** max_items / SLACK <= allowed


def _initial_guess(q: Decimal, max_items: int, allowed: Decimal) -> int:
    """Guess how far the threshold is above 1: the larger of what the two conditions ask for."""
    most = min(1 - q, allowed / max_items)
    return max(0, ceil((most * (1 + q)).ln() / q.ln()))
