"""Numbers as people read them, rounded to the side that claims less."""

from __future__ import annotations

import math

SLACK = 1e-9  # of one unit of the last digit: an exact 20.0% stays 20.0% whatever the last bits say
BEYOND_DIGITS = 1e15


def count(number: float) -> str:
    """Write a count, rounded to a whole number.

    >>> count(12345.0)
    '12,345'
    """
    return f"{round(number):,}"


def percent(share: float) -> str:
    """Write a share with one decimal; what is not nothing does not read as nothing, nor as everything.

    >>> percent(0.1234), percent(0.00001), percent(0.99999), percent(0), percent(1)
    ('12.3%', '<0.1%', '>99.9%', '0%', '100%')
    """
    if share in {0, 1}:
        return f"{share:.0%}"
    if share < 0.0005:  # noqa: PLR2004 - half of the last digit
        return "<0.1%"
    return f"{share:.1%}" if share < 0.9995 else ">99.9%"  # noqa: PLR2004 - the same at the other end


def risk(share: float) -> str:
    """Write a risk as a percentage, rounded up.

    >>> risk(0.2), risk(1 / 3), risk(1.0)
    ('20.0%', '33.4%', '100%')
    """
    if share in {0, 1}:
        return f"{share:.0%}"
    return f"{math.ceil(share * 1000 - SLACK) / 10:.1f}%"


def level(number: float | str, compared: str) -> str:
    """Write a level with at most four decimals, rounded towards breaking its limit.

    >>> level(3.99999, "at least"), level(0.49921, "at most"), level(5, "at least"), level("infinity", "below")
    ('3.9999', '0.4993', '5', 'infinity')
    >>> level(2.00009, "above")
    '2'
    """
    if isinstance(number, str):
        return number
    if float(number).is_integer() or abs(number) > BEYOND_DIGITS:
        return f"{number:,.0f}"
    scaled = number * 10_000
    rounded = math.floor(scaled + SLACK) if compared in {"at least", "above"} else math.ceil(scaled - SLACK)
    return f"{rounded / 10_000:,.4f}".rstrip("0").rstrip(".")


def measure(number: float, *, share: bool) -> str:
    """Write a measure: a share as a percentage, rounded up; other numbers with four digits or as whole numbers.

    >>> measure(0.42127, share=True), measure(10.7143, share=False), measure(36170.0, share=False)
    ('42.2%', '10.71', '36,170')
    """
    if share:
        return risk(number)
    return count(number) if abs(number) >= 1000 or float(number).is_integer() else f"{number:.4g}"  # noqa: PLR2004 - four digits
