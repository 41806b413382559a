"""Epsilons and deltas as whole multiples of the smallest unit, so that their sums are exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sfumato.validation import require

DECIMALS = 12
UNIT = 10**12
MOST = 10**6  # above it nothing is private; it fits SQLite's integers in units
DELTA_DECIMALS = 18
DELTA_UNIT = 10**18


def epsilon_cost_units(epsilon: object, owner: str, parameter: str = "epsilon") -> int:
    """Read an epsilon that is spent, in units; digits beyond the last decimal are rounded up.

    >>> epsilon_cost_units(0.1, "PrivateTable") * 10 == epsilon_cost_units(1, "PrivateTable")
    True
    """
    exact = _exact_epsilon(epsilon, owner, parameter)
    return -(-exact.numerator * UNIT // exact.denominator)


def epsilon_budget_units(epsilon: object, owner: str, parameter: str) -> int:
    """Read an epsilon that is granted, in units; digits beyond the last decimal are rounded down."""
    exact = _exact_epsilon(epsilon, owner, parameter)
    granted = exact.numerator * UNIT // exact.denominator
    require(granted > 0, owner, parameter, f"at least 1e-{DECIMALS}", epsilon)
    return granted


def delta_cost_units(delta: object, owner: str, parameter: str = "delta") -> int:
    """Read a delta that is spent, in units; digits beyond the last decimal are rounded up.

    >>> delta_cost_units("1e-6", "Accountant") == DELTA_UNIT // 10**6, delta_cost_units("1e-30", "Accountant")
    (True, 1)
    """
    exact = _exact_delta(delta, owner, parameter)
    return -(-exact.numerator * DELTA_UNIT // exact.denominator)


def delta_budget_units(delta: object, owner: str, parameter: str) -> int:
    """Read a delta that is granted, in units; digits beyond the last decimal are rounded down."""
    exact = _exact_delta(delta, owner, parameter)
    return exact.numerator * DELTA_UNIT // exact.denominator


def format_epsilon(units: int) -> str:
    """Format units of epsilon as a decimal number.

    >>> format_epsilon(epsilon_cost_units("0.30", "PrivateTable")), format_epsilon(2 * UNIT)
    ('0.3', '2')
    """
    return _format_units(units, DECIMALS)


def format_delta(units: int) -> str:
    """Format units of delta as a decimal number.

    >>> format_delta(delta_cost_units(1e-7, "Accountant"))
    '0.0000001'
    """
    return _format_units(units, DELTA_DECIMALS)


def exact_decimal_number(written: object) -> Fraction | None:
    """Convert a float to the exact decimal it is written as: 0.1 is one tenth; None if it is no number.

    >>> exact_decimal_number(0.1), exact_decimal_number("much")
    (Fraction(1, 10), None)
    """
    number: Any = repr(float(written)) if isinstance(written, float) else written
    try:
        return None if isinstance(written, bool) else Fraction(number)
    except (TypeError, ValueError, ArithmeticError):
        return None


def _format_units(units: int, decimals: int) -> str:
    whole, rest = divmod(units, 10**decimals)
    return f"{whole}.{rest:0{decimals}d}".rstrip("0").rstrip(".")


def _exact_epsilon(epsilon: object, owner: str, parameter: str) -> Fraction:
    exact = exact_decimal_number(epsilon) or Fraction(0)
    require(0 < exact <= MOST, owner, parameter, f"a number above 0 and at most {MOST:,}", epsilon)
    return exact


def _exact_delta(delta: object, owner: str, parameter: str) -> Fraction:
    exact = exact_decimal_number(delta)
    fine = exact is not None and 0 <= exact < 1
    require(fine, owner, parameter, "a number of at least 0 and below 1", delta)
    return exact or Fraction(0)
