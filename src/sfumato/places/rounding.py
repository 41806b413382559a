"""Degrees with no more decimals than they need, so that files do not show what rounding leaves over."""

from __future__ import annotations

from math import ceil, log10

import numpy as np

from sfumato.places.earth import Floats

FINENESS = 4  # by which the last decimal is finer than the grid at least
TOLERANCE = 1e-3  # of the last decimal: more than floating-point numbers are wrong by


def decimals_for_step(step: float) -> int:
    """Return the fewest decimals that make four points out of every step of a grid, which is given in degrees.

    >>> decimals_for_step(0.01), decimals_for_step(0.00009)
    (3, 5)
    """
    return max(0, ceil(-log10(step / FINENESS)))


def round_down(degrees: Floats, decimals: int) -> Floats:
    """Round degrees down; what is a hair above a decimal goes to the one below it, so that nothing is left outside."""
    return np.asarray(np.floor(degrees * 10.0**decimals - TOLERANCE) / 10.0**decimals, dtype=np.float64)


def round_up(degrees: Floats, decimals: int) -> Floats:
    """Round degrees up; what is a hair below a decimal goes to the one above it, so that nothing is left outside."""
    return -round_down(-degrees, decimals)
