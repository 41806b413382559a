"""Intervals: numbers and dates become wider and wider ranges."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import is_finite_number, require
from sfumato.errors import HierarchyError
from sfumato.hierarchies._steps import (
    MAX_STEP,
    UNITS,
    label_steps,
    label_units,
    normalize_iso,
    number_steps,
    number_units,
    parse_datetime,
    to_fraction,
)
from sfumato.hierarchies.hierarchy import ROOT, Hierarchy, check_settings
from sfumato.io._values import format_value, format_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

Point = float | str
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, init=False, repr=False)
class Intervals:
    """Generalize numbers to `[20, 25)`, `[20, 30)`, ... and dates to `[2024-01-01, 2024-02-01)`, ....

    An interval `[a, b)` contains a but not b. Decimals are taken as written: 0.3 lies in `[0.3, 0.4)`.

    Parameters
    ----------
    widths : one per level, each a multiple of the one below; or, for dates and times, calendar units
        from narrow to wide among `"day"`, `"week"`, `"month"`, `"quarter"`, `"year"`, `"decade"`. Weeks begin on
        Mondays; nothing can follow them, because they cross the ends of months and years.
    origin : a point where an interval begins, from which widths count in both directions. Numbers only.
    cuts : instead of widths, the points at which the intervals of each level begin, and where the last
        one ends: numbers, or ISO dates. Each level uses some of the points of the level below, and the same ends.
        The last interval `[a, b]` contains b. Values outside the ends are refused.

    Examples
    --------
    >>> Intervals(5, 10).build(pa.array([34, 30, 41])).labels
    (('30', '34', '41'), ('[30, 35)', '[40, 45)'), ('[30, 40)', '[40, 50)'), ('*',))
    >>> Intervals(cuts=[[0, 18, 65, 120]]).build(pa.array([17, 18, 120])).labels[1]
    ('[0, 18)', '[18, 65)', '[65, 120]')
    """

    kind: ClassVar[str] = "intervals"
    scale: ClassVar[str] = "numeric"

    widths: tuple[Point, ...]
    origin: float
    cuts: tuple[tuple[Point, ...], ...] | None

    def __init__(self, *widths: Point, origin: float = 0, cuts: Sequence[Sequence[Point | date]] | None = None) -> None:
        require(bool(widths) != (cuts is not None), self, "widths", "given, or else cuts, but not both", widths)
        object.__setattr__(self, "widths", widths)
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "cuts", None if cuts is None else self._checked_cuts(cuts))
        require(_is_finite(origin), self, "origin", "a number", origin)
        if cuts is None and any(isinstance(width, str) for width in widths):
            self._check_units()
        elif cuts is None:
            self._check_widths()
        plain = cuts is None and not self.is_date_based
        require(plain or origin == 0, self, "origin", "left out unless widths are numbers", origin)

    def __repr__(self) -> str:
        parts = [repr(width) for width in self.widths]
        if self.origin != 0:
            parts.append(f"origin={self.origin!r}")
        if self.cuts is not None:
            parts.append(f"cuts={[list(points) for points in self.cuts]!r}")
        return f"Intervals({', '.join(parts)})"

    @property
    def is_date_based(self) -> bool:
        """Whether these are intervals of dates rather than numbers."""
        first = self.widths[0] if self.cuts is None else self.cuts[0][0]
        return isinstance(first, str)

    def build(self, values: pa.Array) -> Hierarchy:
        """Build the hierarchy over the distinct, nonmissing values of a column."""
        height = len(self.widths if self.cuts is None else self.cuts)
        if not len(values):
            return Hierarchy.from_levels([], [[]] * (height + 2), ordered=True)
        self._check_type(values)
        values = values.take(pc.array_sort_indices(values))
        leaves = values.to_pylist()
        if self.cuts is not None:
            columns = self._cut_columns(values, leaves)
        elif self.is_date_based:
            columns = self._unit_columns(values)
        else:
            columns = self._width_columns(values)
        return Hierarchy.from_levels(leaves, [format_values(values), *columns, [ROOT] * len(leaves)], ordered=True)

    def find_uncovered(self, values: pa.Array) -> pa.Array:
        """Return the texts of those values that no interval contains: infinite ones, and those outside the cuts.

        Parameters
        ----------
        values : the distinct, nonmissing values of a column of numbers, or of dates for intervals of dates.
        """
        if not len(values):
            return format_values(values)
        self._check_single_form(values)
        values = values.take(pc.array_sort_indices(values))
        inside = (
            pc.is_finite(values)
            if pa.types.is_floating(values.type)
            else pa.array(np.ones(len(values), dtype=np.bool_))
        )
        if self.cuts is not None:
            starts, end = _leaf_positions(values, values.to_pylist(), self.cuts[0])
            at = np.arange(len(values))
            inside = pc.and_(inside, pa.array((at >= starts[0]) & (at < end)))
        return format_values(values.filter(pc.invert(inside)))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain numbers, strings, lists and dictionaries."""
        if self.cuts is not None:
            return {"kind": self.kind, "cuts": [list(points) for points in self.cuts]}
        origin = {} if self.origin == 0 else {"origin": self.origin}
        return {"kind": self.kind, "widths": list(self.widths), **origin}

    @classmethod
    def from_dict(cls, settings: Mapping[str, object]) -> Self:
        """Rebuild the intervals from the settings returned by `to_dict`."""
        check_settings(cls.kind, settings, {"widths", "origin", "cuts"})
        widths, cuts = settings.get("widths", []), settings.get("cuts")
        require(isinstance(widths, list), cls.__name__, "widths", "a list", widths)
        return cls(
            *cast("list[Point]", widths),
            origin=cast("float", settings.get("origin", 0)),
            cuts=cast("list[list[Point]] | None", cuts),
        )

    def _check_units(self) -> None:
        known = f"numbers, or calendar units among {', '.join(UNITS)}"
        require(all(width in UNITS for width in self.widths), self, "widths", known, self.widths)
        ranks = [list(UNITS).index(str(width)) for width in self.widths]
        rising = all(below < above for below, above in pairwise(ranks))
        require(rising, self, "widths", "calendar units from narrow to wide", self.widths)
        nested = "week" not in self.widths[:-1]
        require(nested, self, "widths", "without units after weeks, which cross the ends of months", self.widths)

    def _check_widths(self) -> None:
        positive = all(_is_finite(width) and width > 0 for width in self._number_widths())
        require(positive, self, "widths", "greater than 0", self.widths)
        exacts = [to_fraction(width) for width in self._number_widths()]
        nested = all(above > below and (above / below).denominator == 1 for below, above in pairwise(exacts))
        require(nested, self, "widths", "increasing, each a multiple of the one before", self.widths)

    def _number_widths(self) -> tuple[float, ...]:
        return cast("tuple[float, ...]", self.widths)

    def _checked_cuts(self, cuts: Sequence[Sequence[Point | date]]) -> tuple[tuple[Point, ...], ...]:
        lists = isinstance(cuts, list | tuple) and all(isinstance(points, list | tuple) for points in cuts)
        require(lists and len(cuts) > 0, self, "cuts", "a list with one list of points per level", cuts)
        require(all(len(points) > 1 for points in cuts), self, "cuts", "at least two points on every level", cuts)
        of_dates = not is_finite_number(cuts[0][0])
        points = [[normalize_iso(point) if of_dates else _to_float(point) for point in level] for level in cuts]
        same_kind = all(point is not None for level in points for point in level)
        require(same_kind, self, "cuts", "all numbers, or all ISO dates such as '2024-01-31'", cuts)
        checked = tuple(cast("tuple[Point, ...]", tuple(level)) for level in points)
        rising = all(_axis_position(low) < _axis_position(high) for level in checked for low, high in pairwise(level))
        require(rising, self, "cuts", "increasing on every level", cuts)
        nested = all(
            set(above) <= set(below) and (above[0], above[-1]) == (below[0], below[-1])
            for below, above in pairwise(checked)
        )
        require(nested, self, "cuts", "on every level some of the points of the level below, with the same ends", cuts)
        return checked

    def _check_single_form(self, values: pa.Array) -> None:
        of_dates = pa.types.is_date(values.type) or pa.types.is_timestamp(values.type)
        of_numbers = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
        if not (of_dates if self.is_date_based else of_numbers):
            found = "dates" if of_dates else "numbers" if of_numbers else "neither numbers nor dates"
            wanted = "dates" if self.is_date_based else "numbers"
            hint = "; use units, as in Intervals('month', 'year')" if of_dates else ""
            raise HierarchyError(f"Intervals of {wanted} need a column of {wanted}; this one contains {found}{hint}.")

    def _check_type(self, values: pa.Array) -> None:
        self._check_single_form(values)
        if pa.types.is_floating(values.type):
            infinite = len(values) - pc.sum(pc.is_finite(values)).as_py()
            if infinite:
                raise HierarchyError(f"Intervals needs finite numbers; {infinite} of the {len(values)} values are not.")

    def _width_columns(self, values: pa.Array) -> list[pa.Array]:
        origin, widths = to_fraction(self.origin), [to_fraction(width) for width in self._number_widths()]
        narrowest = number_steps(values.to_numpy(zero_copy_only=False), origin, widths[0])
        columns = []
        for width in widths:
            steps, nodes = _distinct_positions(narrowest // min(int(width / widths[0]), MAX_STEP))
            columns.append(_label_column(nodes, label_steps(steps.tolist(), origin, width)))
        return columns

    def _unit_columns(self, values: pa.Array) -> list[pa.Array]:
        moments = values.to_numpy(zero_copy_only=False)
        columns = []
        for unit in map(str, self.widths):
            numbers, nodes = _distinct_positions(number_units(moments, unit))
            columns.append(_label_column(nodes, label_units(numbers, unit)))
        return columns

    def _cut_columns(self, values: pa.Array, leaves: list[float]) -> list[pa.Array]:
        columns = []
        for points in cast("tuple[tuple[Point, ...], ...]", self.cuts):
            starts, end = _leaf_positions(values, leaves, points)
            outside = starts[0] + len(leaves) - end
            if outside:
                raise HierarchyError(
                    f"Intervals misses {outside} of the {len(leaves)} values of the column, "
                    "which lie outside its outer cut points; widen them."
                )
            used, nodes = _distinct_positions(np.searchsorted(starts[1:], np.arange(len(leaves)), side="right"))
            labels = _label_cuts(points)
            columns.append(_label_column(nodes, [labels[number] for number in used.tolist()]))
        return columns


def _is_finite(number: object) -> bool:
    return is_finite_number(number) and abs(cast("float", number)) <= sys.float_info.max


def _to_float(point: object) -> float | None:
    return cast("float", point) + 0 if _is_finite(point) else None


def _axis_position(point: Point) -> float:
    return parse_datetime(point).astype(np.int64).item() if isinstance(point, str) else point


def _leaf_positions(values: pa.Array, leaves: list[float], points: tuple[Point, ...]) -> tuple[list[int], int]:
    """Return the number of leaves before the start of each interval, and before the end of the last one."""
    if isinstance(points[0], str):
        moments = values.to_numpy(zero_copy_only=False).astype("datetime64[us]")
        places = [parse_datetime(str(point)) for point in points]
        starts = [int(np.searchsorted(moments, place)) for place in places[:-1]]
        return starts, int(np.searchsorted(moments, places[-1], side="right"))
    numbers = cast("tuple[float, ...]", points)
    return [bisect_left(leaves, number) for number in numbers[:-1]], bisect_right(leaves, numbers[-1])


def _label_cuts(points: tuple[Point, ...]) -> list[str]:
    written = [format_value(point) for point in points]
    labels = [f"[{low}, {high})" for low, high in pairwise(written)]
    labels[-1] = f"[{written[-2]}, {written[-1]}]"
    return labels


def _distinct_positions(numbers: Numbers) -> tuple[Numbers, Numbers]:
    used, nodes = np.unique(numbers, return_inverse=True)
    return used, nodes


def _label_column(nodes: Numbers, labels: list[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(nodes, pa.int32()), pa.array(labels, pa.string()))
