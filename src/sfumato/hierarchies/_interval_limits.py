"""Where the intervals of each level begin, over the values of a column."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.hierarchies._steps import format_first_days, number_units, to_fraction

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from sfumato.hierarchies.intervals import Intervals, Point

MAX_LIMITS = 200
MAX_CUTS = 60


def list_limits(intervals: Intervals, values: pa.Array) -> tuple[tuple[Point, ...], ...]:
    """Return, for every level, the points above the least value and up to the greatest where an interval begins.

    Typed limits are returned as they are, with both ends. A level with more than 200 limits has none here: they are
    meant to be drawn.

    >>> from sfumato.hierarchies import Intervals
    >>> list_limits(Intervals(10, 20), pa.array([17, 90]))
    ((20, 30, 40, 50, 60, 70, 80, 90), (20, 40, 60, 80))
    """
    if intervals.cuts is not None:
        return intervals.cuts
    finite = values.filter(pc.is_finite(values)) if pa.types.is_floating(values.type) else values
    if not len(finite):
        return ((),) * len(intervals.widths)
    ends = pc.min_max(finite)
    if intervals.is_date_based:
        moments = pa.array([ends["min"], ends["max"]]).to_numpy(zero_copy_only=False)
        return tuple(_unit_limits(moments, str(unit)) for unit in intervals.widths)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    return tuple(_width_limits(low, high, cast("float", width), intervals.origin) for width in intervals.widths)


def convert_to_cuts(intervals: Intervals, values: pa.Array | pa.ChunkedArray) -> tuple[tuple[Point, ...], ...]:
    """Return the cuts that make the same intervals over the values of a column, to begin with when limits are typed.

    All levels begin and end where the widest one does. Levels with more than 60 limits are left out.

    >>> from sfumato.hierarchies import Intervals
    >>> convert_to_cuts(Intervals(10, 40), pa.array([17, 90]))
    ((0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120), (0, 40, 80, 120))
    """
    if intervals.cuts is not None:
        return intervals.cuts
    finite = values.filter(pc.is_finite(values)) if pa.types.is_floating(values.type) else values
    if not len(finite):
        return ()
    ends = pc.min_max(finite)
    if intervals.is_date_based:
        found = _unit_cuts(pa.array([ends["min"], ends["max"]]), [str(unit) for unit in intervals.widths])
    else:
        widths = [to_fraction(cast("float", width)) for width in intervals.widths]
        found = _width_cuts(
            to_fraction(ends["min"].as_py()), to_fraction(ends["max"].as_py()), widths, to_fraction(intervals.origin)
        )
    return tuple(found)


def _width_cuts(low: Fraction, high: Fraction, widths: list[Fraction], origin: Fraction) -> Iterator[tuple[Point, ...]]:
    first, last = ((end - origin) // widths[-1] for end in (low, high))
    for width in widths:
        steps = range(first * int(widths[-1] / width), (last + 1) * int(widths[-1] / width) + 1)
        if len(steps) <= MAX_CUTS or width == widths[-1]:
            yield tuple(_to_plain_value(origin + step * width) for step in steps)


def _unit_cuts(ends: pa.Array, units: list[str]) -> Iterator[tuple[Point, ...]]:
    first, last = number_units(ends.to_numpy(zero_copy_only=False), units[-1]).tolist()
    days = np.array(format_first_days(np.array([first, last + 1]), units[-1]), dtype="datetime64[D]")
    for unit in units:
        start, stop = number_units(days, unit).tolist()
        if stop - start < MAX_CUTS or unit == units[-1]:
            yield tuple(format_first_days(np.arange(start, stop + 1), unit))


def _to_plain_value(point: Fraction) -> Point:
    return int(point) if point.denominator == 1 else float(point)


def _width_limits(low: float, high: float, width: float, origin: float) -> tuple[Point, ...]:
    start, step = to_fraction(origin), to_fraction(width)
    first = math.floor((to_fraction(low) - start) / step) + 1
    last = math.floor((to_fraction(high) - start) / step)
    if last - first >= MAX_LIMITS:
        return ()
    return tuple(_to_plain_value(start + number * step) for number in range(first, last + 1))


def _unit_limits(moments: np.typing.NDArray[np.datetime64], unit: str) -> tuple[Point, ...]:
    first, last = number_units(moments, unit).tolist()
    if last - first > MAX_LIMITS:
        return ()
    return tuple(format_first_days(np.arange(first + 1, last + 1), unit))
