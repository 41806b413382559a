"""Numbers that an address asks for: read strictly, and nothing if they make no sense."""

from __future__ import annotations

from math import isfinite

MAX_DIGITS = 18


def parse_integer(given: str | None, low: int, high: int) -> int | None:
    """Read a whole number between two others.

    >>> parse_integer("7", 1, 9), parse_integer("0", 1, 9), parse_integer("x", 1, 9), parse_integer(None, 1, 9)
    (7, None, None, None)
    """
    if given is None or not given.isascii() or not given.isdecimal() or len(given) > MAX_DIGITS:
        return None
    return int(given) if low <= int(given) <= high else None


def parse_number(given: str | None) -> float | None:
    """Read a number from 0 on.

    >>> parse_number("0.5"), parse_number("-1"), parse_number("nan"), parse_number("")
    (0.5, None, None, None)
    """
    try:
        found = float(given) if given else None
    except ValueError:
        return None
    return found if found is not None and isfinite(found) and found >= 0 else None
