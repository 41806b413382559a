"""Steps of equal width over numbers, counted exactly: 0.3 begins `[0.3, 0.4)`, whatever its binary digits."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.errors import HierarchyError

if TYPE_CHECKING:
    from collections.abc import Iterable


# Calendar units and points in time for intervals of dates.


class _Unit(NamedTuple):
    counted_in: str
    size: int
    shift: int = 0


UNITS = {
    "day": _Unit("D", 1),
    "week": _Unit("D", 7, shift=3),  # weeks begin on Mondays, and 1970 on a Thursday
    "month": _Unit("M", 1),
    "quarter": _Unit("M", 3),
    "year": _Unit("Y", 1),
    "decade": _Unit("Y", 10),
}


def number_units(moments: npt.NDArray[np.datetime64], unit: str) -> npt.NDArray[np.int64]:
    """Return the day, week, month, quarter, year or decade of each datetime, counted from 1970."""
    counted_in, size, shift = UNITS[unit]
    counted = moments.astype(f"datetime64[{counted_in}]").astype(np.int64)
    return np.asarray((counted + shift) // size, dtype=np.int64)


def label_units(numbers: npt.NDArray[np.int64], unit: str) -> list[str]:
    """Format calendar units as half-open intervals of dates.

    >>> label_units(np.array([5]), "decade")
    ['[2020-01-01, 2030-01-01)']
    """
    lows, highs = format_first_days(numbers, unit), format_first_days(numbers + 1, unit)
    return [f"[{low}, {high})" for low, high in zip(lows, highs, strict=True)]


def parse_datetime(point: str) -> np.datetime64:
    """Convert an ISO date or time to microseconds."""
    return np.datetime64(dt.datetime.fromisoformat(point), "us")


def normalize_iso(point: object) -> str | None:
    """Normalize a date or time without time zone, as a date if at midnight; None if it is neither."""
    if isinstance(point, dt.date) and not isinstance(point, dt.datetime):
        return point.isoformat()
    if isinstance(point, str):
        try:
            point = dt.datetime.fromisoformat(point)
        except ValueError:
            return None
    if not isinstance(point, dt.datetime) or point.tzinfo is not None:
        return None
    return point.date().isoformat() if point.time() == dt.time() else point.isoformat()


def format_first_days(numbers: npt.NDArray[np.int64], unit: str) -> list[str]:
    """Return the first days of calendar units, as ISO dates."""
    counted_in, size, shift = UNITS[unit]
    first = (numbers * size - shift).astype(f"datetime64[{counted_in}]")
    written: list[str] = np.datetime_as_string(first.astype("datetime64[D]")).tolist()
    return written


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
