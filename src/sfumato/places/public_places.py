"""The places that everybody knows, named beforehand and never read off the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.exceptions import SchemaError
from sfumato.places.earth import Area, Floats
from sfumato.places.hexagons import Hexagons
from sfumato.places.squares import Snapshot
from sfumato.places.trajectories import Trajectories
from sfumato.validation import is_whole, require

Integers = npt.NDArray[np.int64]
MOST_ORDER = 8


@dataclass(frozen=True, kw_only=True)
class Squares:
    """The squares of a public area, quartered so many times, as places.

    Parameters
    ----------
    area : the public area.
    order : how often it is quartered, at most 8: with 4 there are 256 squares.
    """

    area: Area
    order: int = 4

    def __post_init__(self) -> None:
        require(isinstance(self.area, Area), self, "area", "an sf.places.Area", type(self.area).__name__)
        good = is_whole(self.order) and 1 <= self.order <= MOST_ORDER
        require(good, self, "order", f"a whole number from 1 to {MOST_ORDER}", self.order)

    def __len__(self) -> int:
        return int(4**self.order)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all squares: column and row, counted from the southwest corner."""
        side = 1 << self.order
        return tuple(f"{column}-{row}" for row in range(side) for column in range(side))

    @property
    def middles(self) -> tuple[Floats, Floats]:
        """The longitudes and latitudes of the middles of all squares, in the order of their names."""
        side, area = 1 << self.order, self.area
        row, column = np.divmod(np.arange(len(self)), side)
        longitudes = area.west + (area.east - area.west) * (column + 0.5) / side
        return longitudes, area.south + (area.north - area.south) * (row + 0.5) / side

    @property
    def meters(self) -> float:
        """The side of a square; where they are higher than wide, of one that is as large."""
        return sqrt(self.area.width * self.area.height / len(self))

    def numbers(self, ways: Trajectories) -> Integers:
        """Return the square of every point; points outside are refused."""
        points = ways.points
        if not points.has_coordinates:
            raise SchemaError("The ways have no coordinates; name their places instead of squares.")
        found = Snapshot.of(points.longitudes, points.latitudes, order=self.order, area=self.area)
        return found.rows * (1 << self.order) + found.columns


PublicCells: TypeAlias = Squares | Hexagons
PublicPlaces: TypeAlias = PublicCells | Sequence[str]


def middles_of(places: PublicPlaces) -> tuple[Floats, Floats] | None:
    """Return where public places are, if that is known."""
    return places.middles if isinstance(places, PublicCells) else None


def place_numbers(ways: Trajectories, places: PublicPlaces) -> tuple[Integers, tuple[str, ...]]:
    """Return the number of every point's place among public places, and the names of these."""
    if isinstance(places, PublicCells):
        return places.numbers(ways), places.names
    points, names = ways.points, tuple(places)
    require(bool(names) and len(set(names)) == len(names), "places", "places", "different names", type(places).__name__)
    if points.places is None:
        raise SchemaError("The ways have no names of places; give sf.places.Squares or Hexagons of a public area.")
    number = {name: at for at, name in enumerate(names)}
    found = np.array([number.get(name, -1) for name in points.names], dtype=np.int64)[points.places]
    if (found < 0).any():
        raise SchemaError(f"{int((found < 0).sum()):,} points are at places that were not named; name all places.")
    return found, names
