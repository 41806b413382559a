"""Steps of equal width over numbers, counted exactly: 0.3 begins `[0.3, 0.4)`, whatever its binary digits."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sfumato.exceptions import HierarchyError

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_STEP = 2**62


def to_fraction(number: float) -> Fraction:
    """Return a number as the exact decimal that it is written as."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(float(number)))


def number_steps(
    values: npt.NDArray[np.int64] | npt.NDArray[np.float64], origin: Fraction, width: Fraction
) -> npt.NDArray[np.int64]:
    """Return the step of each value, where step i is `[origin + i * width, origin + (i + 1) * width)`.

    Whole numbers are divided exactly. Otherwise floating-point division decides wherever its quotient is
    farther from a whole number than its error can reach, and fractions decide the others.
    """
    if not values.size:
        return np.zeros(0, dtype=np.int64)
    whole = values.dtype.kind == "i" and origin.denominator == width.denominator == 1
    farthest = max(abs(int(values.min())), abs(int(values.max())), abs(int(origin)), int(width))
    if whole and farthest < MAX_STEP:
        return np.asarray((values - int(origin)) // int(width), dtype=np.int64)
    reals = values.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        quotient = (reals - float(origin)) / float(width)
        error = np.spacing(np.abs(reals)) + np.spacing(abs(float(origin))) + np.spacing(np.abs(reals - float(origin)))
        error = 2 * (error / float(width) + np.spacing(float(width)) / float(width) * np.abs(quotient))
    uncounted = np.count_nonzero(~(np.abs(quotient) < MAX_STEP))
    if uncounted:
        raise HierarchyError(
            f"The smallest width of Intervals is too small for {uncounted} of the {values.size} values; "
            "choose a larger width."
        )
    doubtful = np.flatnonzero(np.abs(quotient - np.rint(quotient)) <= error + 2 * np.spacing(np.abs(quotient)))
    numbers = np.floor(quotient).astype(np.int64)
    numbers[doubtful] = [(to_fraction(value) - origin) // width for value in values[doubtful].tolist()]
    return numbers


def label_steps(numbers: Iterable[int], origin: Fraction, width: Fraction) -> list[str]:
    """Format steps as half-open intervals of exact decimals.

    >>> label_steps([-1, 2], Fraction(0), Fraction("0.1"))
    ['[-0.1, 0)', '[0.2, 0.3)']
    """
    places = 0
    while (origin * 10**places).denominator > 1 or (width * 10**places).denominator > 1:
        places += 1
    start, step = int(origin * 10**places), int(width * 10**places)
    lows = [start + number * step for number in numbers]
    return [f"[{_format_decimal(low, places)}, {_format_decimal(low + step, places)})" for low in lows]


def _format_decimal(scaled: int, places: int) -> str:
    if not places:
        return str(scaled)
    digits = str(abs(scaled)).rjust(places + 1, "0")
    written = f"{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")
    return f"-{written}" if scaled < 0 else written
