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
from sfumato.places.hexagons import HexagonGrid
from sfumato.places.squares import GridSnapshot, refuse_too_fine
from sfumato.places.trajectories import Trajectories
from sfumato.validation import is_integer, require

Integers = npt.NDArray[np.int64]
MAX_GRID_ORDER = 8
ELSEWHERE = "elsewhere"  # the place of all points that are at none of the public places


@dataclass(frozen=True, kw_only=True)
class SquareGrid:
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
        good = is_integer(self.order) and 1 <= self.order <= MAX_GRID_ORDER
        require(good, self, "order", f"a whole number from 1 to {MAX_GRID_ORDER}", self.order)
        refuse_too_fine(self.area, self.order)

    def __len__(self) -> int:
        return int(4**self.order)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all squares: column and row, counted from the southwest corner."""
        side = 1 << self.order
        return tuple(f"{column}-{row}" for row in range(side) for column in range(side))

    @property
    def centers(self) -> tuple[Floats, Floats]:
        """The longitudes and latitudes of the middles of all squares, in the order of their names."""
        side, area = 1 << self.order, self.area
        row, column = np.divmod(np.arange(len(self)), side)
        longitudes = area.west + (area.east - area.west) * (column + 0.5) / side
        return longitudes, area.south + (area.north - area.south) * (row + 0.5) / side

    @property
    def meters(self) -> float:
        """The side of a square; where they are higher than wide, of one that is as large."""
        return sqrt(self.area.width * self.area.height / len(self))

    def encode(self, longitudes: Floats, latitudes: Floats) -> Integers:
        """Return the square of every point; points outside are refused."""
        found = GridSnapshot.from_positions(longitudes, latitudes, order=self.order, area=self.area)
        return found.rows * (1 << self.order) + found.columns


PublicCells: TypeAlias = SquareGrid | HexagonGrid
PublicPlaces: TypeAlias = PublicCells | Sequence[str]


def cell_centers(places: PublicPlaces) -> tuple[Floats, Floats] | None:
    """Return where public places are, if that is known; elsewhere is nowhere."""
    if not isinstance(places, PublicCells):
        return None
    longitudes, latitudes = places.centers
    return np.append(longitudes, np.nan), np.append(latitudes, np.nan)


def encode_places(ways: Trajectories, places: PublicPlaces) -> tuple[Integers, tuple[str, ...]]:
    """Return the number of every point's place among public places, and their names; the last is elsewhere.

    Elsewhere is a place like the others: how many points are there is for noise to tell, and no reason to refuse.
    """
    points = ways.points
    if isinstance(places, PublicCells):
        if not points.located:
            raise SchemaError("The ways have no coordinates; name their places instead of squares or hexagons.")
        inside = places.area.contains(points.longitudes, points.latitudes)
        numbers = np.full(len(points), len(places), dtype=np.int64)
        if inside.any():
            numbers[inside] = places.encode(points.longitudes[inside], points.latitudes[inside])
        return numbers, (*places.names, ELSEWHERE)
    names = () if isinstance(places, str) else tuple(places)
    different = bool(names) and len({*names, ELSEWHERE}) == 1 + len(names)
    require(different, "places", "places", f"different names, none of them {ELSEWHERE!r}", type(places).__name__)
    if points.places is None:
        raise SchemaError("The ways have no names of places; give sf.places.SquareGrid or Hexagons of a public area.")
    number = {name: at for at, name in enumerate(names)}
    found = np.array([number.get(name, len(names)) for name in points.names], dtype=np.int64)[points.places]
    return found, (*names, ELSEWHERE)
