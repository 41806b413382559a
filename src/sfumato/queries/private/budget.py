"""Epsilons as whole multiples of the smallest unit, so that their sums are exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sfumato.validation import require

DECIMALS = 12
UNIT = 10**12
MOST = 10**6  # above it nothing is private; it fits SQLite's integers in units


def units_of_cost(epsilon: object, owner: str, parameter: str = "epsilon") -> int:
    """Read an epsilon that is spent, in units; digits beyond the last decimal are rounded up.

    >>> units_of_cost(0.1, "PrivateTable") * 10 == units_of_cost(1, "PrivateTable")
    True
    """
    exact = _exact(epsilon, owner, parameter)
    return -(-exact.numerator * UNIT // exact.denominator)


def units_of_budget(epsilon: object, owner: str, parameter: str) -> int:
    """Read an epsilon that is granted, in units; digits beyond the last decimal are rounded down."""
    exact = _exact(epsilon, owner, parameter)
    granted = exact.numerator * UNIT // exact.denominator
    require(granted > 0, owner, parameter, f"at least 1e-{DECIMALS}", epsilon)
    return granted


def shown(units: int) -> str:
    """Format units as a decimal number.

    >>> shown(units_of_cost("0.30", "PrivateTable")), shown(2 * UNIT)
    ('0.3', '2')
    """
    whole, rest = divmod(units, UNIT)
    return f"{whole}.{rest:0{DECIMALS}d}".rstrip("0").rstrip(".")


def _exact(epsilon: object, owner: str, parameter: str) -> Fraction:
    """Convert a float to the exact decimal it is written as: 0.1 is one tenth."""
    written: Any = repr(epsilon) if isinstance(epsilon, float) else epsilon
    try:
        exact = Fraction(0) if isinstance(epsilon, bool) else Fraction(written)
    except (TypeError, ValueError, ArithmeticError):
        exact = Fraction(0)
    require(0 < exact <= MOST, owner, parameter, f"a number above 0 and at most {MOST:,}", epsilon)
    return exact
