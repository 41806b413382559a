"""Calendar units and points in time for intervals of dates."""

from __future__ import annotations

import datetime as dt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


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
