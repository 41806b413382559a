"""A snapshot: one place per person, on the finest squares of a public area."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.exceptions import InvalidParameterError, SchemaError
from sfumato.places.earth import Area, Floats
from sfumato.places.rounding import decimals_for_step, round_down, round_up
from sfumato.validation import is_integer, require

Integers = npt.NDArray[np.int64]
MAX_SNAPSHOT_ORDER = 20
MIN_SQUARE = 1e-8  # degrees, about a millimeter: the smallest side of a square


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GridSnapshot:
    """Where everybody is at one moment, as squares of a grid of 2**order by 2**order over a public area.

    Parameters
    ----------
    columns, rows : the square of every person, counted from the southwest corner.
    order : how often the area is quartered.
    area : the area that the squares divide.
    """

    columns: Integers
    rows: Integers
    order: int
    area: Area

    def __len__(self) -> int:
        return len(self.columns)

    @classmethod
    def from_positions(cls, longitudes: Floats, latitudes: Floats, *, order: int, area: Area | None = None) -> Self:
        """Find the square of every place."""
        require(
            is_integer(order) and 1 <= order <= MAX_SNAPSHOT_ORDER,
            "cloak",
            "order",
            f"a whole number from 1 to {MAX_SNAPSHOT_ORDER}",
            order,
        )
        if not len(longitudes):
            raise SchemaError("There are no places; there is nothing to publish.")
        area = area or Area.from_points(longitudes, latitudes)
        area.check_inside(longitudes, latitudes)
        side = 1 << order
        refuse_too_fine(area, order)
        columns = np.floor((longitudes - area.west) / (area.east - area.west) * side).astype(np.int64)
        rows = np.floor((latitudes - area.south) / (area.north - area.south) * side).astype(np.int64)
        return cls(columns=np.minimum(columns, side - 1), rows=np.minimum(rows, side - 1), order=order, area=area)

    def hilbert_index(self) -> Integers:
        """Return the place of every square along the Hilbert curve.

        >>> area = Area(west=0, south=0, east=1, north=1)
        >>> squares = np.arange(4, dtype=np.int64)
        >>> GridSnapshot(columns=squares, rows=np.zeros(4, dtype=np.int64), order=2, area=area).hilbert_index()
        array([ 0,  1, 14, 15])
        """
        x, y, found = self.columns.copy(), self.rows.copy(), np.zeros(len(self), dtype=np.int64)
        for level in range(self.order - 1, -1, -1):
            half = np.int64(1 << level)
            right, upper = (x & half) > 0, (y & half) > 0
            found += half * half * np.where(upper, np.where(right, 2, 1), np.where(right, 3, 0))
            turned, mirrored = ~upper, ~upper & right
            x, y = (
                np.where(mirrored, half - 1 - (x & (half - 1)), x & (half - 1)),
                np.where(mirrored, half - 1 - (y & (half - 1)), y & (half - 1)),
            )
            x, y = np.where(turned, y, x), np.where(turned, x, y)
        return found


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CloakingRegions:
    """A rectangle of squares for every person: columns from `west` to before `east`, rows likewise.

    Regions are told in degrees, rounded outward to a quarter of a square at most, so that everybody is still inside.
    """

    west: Integers
    south: Integers
    east: Integers
    north: Integers
    order: int
    area: Area

    def __len__(self) -> int:
        return len(self.west)

    @property
    def sides(self) -> tuple[Integers, Integers, Integers, Integers]:
        """The sides of all regions, in squares."""
        return self.west, self.south, self.east, self.north

    @property
    def identical_groups(self) -> tuple[Integers, Integers]:
        """The number of every person's region among those that are published, and how many persons have each."""
        told = np.column_stack(list(self.to_degrees().values()))
        _, label, counts = np.unique(told, axis=0, return_inverse=True, return_counts=True)
        return label.ravel().astype(np.int64), counts.astype(np.int64)

    @property
    def square_meters(self) -> Floats:
        """The area of every region."""
        square = self.area.width * self.area.height / 4.0**self.order
        return np.asarray((self.east - self.west) * (self.north - self.south) * square, dtype=np.float64)

    def to_degrees(self) -> dict[str, Floats]:
        """Return the sides of all regions in degrees, as they are published."""
        area, many = self.area, 2.0**self.order
        told = {}
        for (name, side), low, high in zip(
            {"west": self.west, "south": self.south, "east": self.east, "north": self.north}.items(),
            (area.west, area.south) * 2,
            (area.east, area.north) * 2,
            strict=True,
        ):
            outward = round_down if name in {"west", "south"} else round_up
            told[name] = outward(low + (high - low) * (side / many), decimals_for_step((high - low) / many)).clip(
                low, high
            )
        return told

    def to_arrow(self) -> pa.Table:
        """Return a row of degrees for every person."""
        return pa.table(self.to_degrees())

    def __repr__(self) -> str:
        return f"Regions of {len(self):,} persons"


def refuse_too_fine(area: Area, order: int) -> None:
    """Refuse squares that no degrees can tell apart."""
    if min(area.east - area.west, area.north - area.south) < MIN_SQUARE * (1 << order):
        raise InvalidParameterError("The squares would be finer than a millimeter; ask for a lower order.")


def bounding_regions(snapshot: GridSnapshot, label: Integers) -> CloakingRegions:
    """Return for every person the box around the squares of her group."""
    groups = int(label.max()) + 1
    low = np.full((2, groups), np.iinfo(np.int64).max)
    high = np.full((2, groups), -1)
    for axis, squares in enumerate((snapshot.columns, snapshot.rows)):
        np.minimum.at(low[axis], label, squares)
        np.maximum.at(high[axis], label, squares)
    return CloakingRegions(
        west=low[0][label],
        south=low[1][label],
        east=high[0][label] + 1,
        north=high[1][label] + 1,
        order=snapshot.order,
        area=snapshot.area,
    )
