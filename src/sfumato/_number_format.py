"""Numbers for people to read: shares rounded to the nearest, levels toward the weaker claim."""

from __future__ import annotations

import math

SLACK = 1e-9  # of one unit of the last digit: an exact 20.0% stays 20.0% despite rounding errors
BEYOND_DIGITS = 1e15


def format_count(number: float) -> str:
    """Format a count, rounded to a whole number.

    >>> format_count(12345.0)
    '12,345'
    """
    return f"{round(number):,}"


def format_percent(share: float) -> str:
    """Format a share with one decimal, rounded to the nearest; only exactly 0 and 1 read as 0% and 100%.

    >>> format_percent(0.112212), format_percent(0.00001), format_percent(0.99999), format_percent(0), format_percent(1)
    ('11.2%', '<0.1%', '>99.9%', '0%', '100%')
    """
    if share in {0, 1}:
        return f"{share:.0%}"
    if share < 0.0005:  # noqa: PLR2004 - half of the last digit
        return "<0.1%"
    return f"{share:.1%}" if share < 0.9995 else ">99.9%"  # noqa: PLR2004 - the same at the other end


def format_level(number: float | str, compared: str) -> str:
    """Format a level with at most four decimals, rounded toward breaking its limit.

    >>> (format_level(3.99999, "at least"), format_level(0.49921, "at most"), format_level(5, "at least"),
    ... format_level("infinity", "below"))
    ('3.9999', '0.4993', '5', 'infinity')
    >>> format_level(2.00009, "above")
    '2'
    """
    if isinstance(number, str):
        return number
    if float(number).is_integer() or abs(number) > BEYOND_DIGITS:
        return f"{number:,.0f}"
    scaled = number * 10_000
    rounded = math.floor(scaled + SLACK) if compared in {"at least", "above"} else math.ceil(scaled - SLACK)
    return f"{rounded / 10_000:,.4f}".rstrip("0").rstrip(".")


def rounded(number: float, digits: int = 4) -> str:
    """Format a number with so many digits, or as a whole number; never as a power of ten for large ones.

    >>> rounded(0.42127), rounded(1584.2), rounded(1.128e9), rounded(36170.4, 6)
    ('0.4213', '1584', '1,128,000,000', '36170.4')
    """
    return f"{number:.{digits}g}" if abs(number) < 10**digits else format_count(number)


def format_metric(number: float, *, share: bool) -> str:
    """Format a measure: a share as a percentage; other numbers with four digits or as whole numbers.

    >>> format_metric(0.42127, share=True), format_metric(10.7143, share=False), format_metric(36170.0, share=False)
    ('42.1%', '10.71', '36,170')
    """
    if share:
        return format_percent(number)
    return format_count(number) if abs(number) >= 1000 or float(number).is_integer() else f"{number:.4g}"  # noqa: PLR2004 - four digits
