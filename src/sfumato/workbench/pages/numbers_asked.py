"""Numbers that an address asks for: read strictly, and nothing if they make no sense."""

from __future__ import annotations

from math import isfinite

MOST_DIGITS = 18


def whole_asked(given: str | None, low: int, high: int) -> int | None:
    """Read a whole number between two others.

    >>> whole_asked("7", 1, 9), whole_asked("0", 1, 9), whole_asked("x", 1, 9), whole_asked(None, 1, 9)
    (7, None, None, None)
    """
    if given is None or not given.isascii() or not given.isdecimal() or len(given) > MOST_DIGITS:
        return None
    return int(given) if low <= int(given) <= high else None


def number_asked(given: str | None) -> float | None:
    """Read a number from 0 on.

    >>> number_asked("0.5"), number_asked("-1"), number_asked("nan"), number_asked("")
    (0.5, None, None, None)
    """
    try:
        found = float(given) if given else None
    except ValueError:
        return None
    return found if found is not None and isfinite(found) and found >= 0 else None
