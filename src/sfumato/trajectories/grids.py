"""A snapshot: one place per person, on the finest squares of a public area."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import cos, degrees, radians, sqrt
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._optional import import_optional
from sfumato._validation import is_integer, require
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.trajectories.geometry import EARTH_RADIUS, Area, Floats, decimals_for_step, round_down, round_up
from sfumato.trajectories.trajectories import Trajectories

Integers = npt.NDArray[np.int64]


# Hexagons of the H3 grid as public places.


# Hexagons of the H3 grid as public places.
COARSEST_RESOLUTION, FINEST_RESOLUTION = 3, 15
MAX_CELLS = 65_536
REACH = 2.0  # average edges of a hexagon, beyond which it has no corner


@dataclass(frozen=True, kw_only=True)
class HexagonGrid:
    """The hexagons of the H3 grid [1]_ over a public area, as places. Needs the extra `places`.

    All cells that may touch the area are places, whether anybody was there or not. Cells are not equal in area, and
    seven finer ones do not fill a coarser one exactly: 7 of 100 points are in a cell whose parent is another one than
    the coarser cell that they are in. So where counts of several resolutions must agree, give the finest of them: every
    point is in one cell of it, and belongs to the coarser cells that this one belongs to by its index.

    Parameters
    ----------
    area : the public area.
    resolution : from 3 to 15; cells of 8 have some 0.74 square kilometers, and one step is a factor of 7.
    finest : the resolution at which points are placed; by default that of the cells.

    References
    ----------
    .. [1] Uber, "H3: a hexagonal hierarchical geospatial indexing system", https://h3geo.org

    Examples
    --------
    >>> len(HexagonGrid(area=Area(west=13.3, south=52.45, east=13.5, north=52.55), resolution=7))
    70
    """

    area: Area
    resolution: int = 8
    finest: int | None = None

    def __post_init__(self) -> None:
        require(isinstance(self.area, Area), self, "area", "an sf.trajectories.Area", type(self.area).__name__)
        good = is_integer(self.resolution) and COARSEST_RESOLUTION <= self.resolution <= FINEST_RESOLUTION
        require(
            good,
            self,
            "resolution",
            f"a whole number from {COARSEST_RESOLUTION} to {FINEST_RESOLUTION}",
            self.resolution,
        )
        good = self.finest is None or (is_integer(self.finest) and self.resolution <= self.finest <= FINEST_RESOLUTION)
        require(good, self, "finest", f"a whole number from {self.resolution} to {FINEST_RESOLUTION}", self.finest)
        about = self.area.width * self.area.height / _h3().average_hexagon_area(self._assignment_resolution, "m^2")
        if about > MAX_CELLS:
            raise InvalidParameterError(
                f"The area has about {about:,.0f} hexagons of resolution {self._assignment_resolution}, "
                f"more than {MAX_CELLS:,}; ask "
                "for a coarser one."
            )

    def __len__(self) -> int:
        return len(self._cells)

    @property
    def names(self) -> tuple[str, ...]:
        """The indices of all hexagons, as H3 writes them."""
        return tuple(map(_h3().int_to_str, self._cells.tolist()))

    @property
    def centers(self) -> tuple[Floats, Floats]:
        """The longitudes and latitudes of the middles of all hexagons, in the order of their names."""
        at = np.array([_h3().cell_to_latlng(cell) for cell in self._cells.tolist()], dtype=np.float64)
        return at[:, 1], at[:, 0]

    @cached_property
    def meters(self) -> float:
        """The side of a square that is as large as the hexagons are on average."""
        area_of = _h3().cell_area
        areas = [area_of(cell, "m^2") for cell in self._cells.tolist()]
        return sqrt(sum(areas) / len(areas))

    def encode(self, longitudes: Floats, latitudes: Floats) -> Integers:
        """Return the hexagon of every point; points outside the area are refused."""
        self.area.check_inside(longitudes, latitudes)
        place, at = _h3().latlng_to_cell, zip(latitudes.tolist(), longitudes.tolist(), strict=True)
        placed = np.fromiter((place(*degrees, self._assignment_resolution) for degrees in at), np.int64, len(latitudes))
        different, which = np.unique(placed, return_inverse=True)
        climbed = self._to_parents(different)
        found = np.searchsorted(self._cells, climbed)
        assert (self._cells[found] == climbed).all()  # noqa: S101 - all that touch the area are there
        return found[which.ravel()]

    @property
    def _assignment_resolution(self) -> int:
        return self.resolution if self.finest is None else self.finest

    @cached_property
    def _cells(self) -> Integers:
        """The indices of all hexagons, in order: those that may touch the area at the finest resolution, climbed."""
        library, area = _h3(), self.area
        north = degrees(REACH * library.average_hexagon_edge_length(self._assignment_resolution, "m") / EARTH_RADIUS)
        east = north / cos(radians(max(abs(area.south), abs(area.north)) + north))
        south, west = area.south - north, area.west - east
        north, east = area.north + north, area.east + east
        shape = library.LatLngPoly([(south, west), (south, east), (north, east), (north, west)])
        return np.unique(
            self._to_parents(np.array(library.h3shape_to_cells(shape, self._assignment_resolution), dtype=np.int64))
        )

    def _to_parents(self, cells: Integers) -> Integers:
        """Return the cells of our resolution that finer ones belong to by their index."""
        parent = _h3().cell_to_parent
        return np.array([parent(cell, self.resolution) for cell in cells.tolist()], dtype=np.int64)


def _h3() -> Any:
    return import_optional("h3.api.basic_int", extra="places", error=InvalidParameterError)


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


# The places that everybody knows, named beforehand and never read off the data.
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
        require(isinstance(self.area, Area), self, "area", "an sf.trajectories.Area", type(self.area).__name__)
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
        raise SchemaError(
            "The ways have no names of places; give sf.trajectories.SquareGrid or HexagonGrid of a public area."
        )
    number = {name: at for at, name in enumerate(names)}
    found = np.array([number.get(name, len(names)) for name in points.names], dtype=np.int64)[points.places]
    return found, (*names, ELSEWHERE)
