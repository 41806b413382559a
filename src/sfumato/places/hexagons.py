"""Hexagons of the H3 grid as public places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import cos, degrees, radians, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.exceptions import InvalidParameterError
from sfumato.places.earth import EARTH_RADIUS, Area, Floats
from sfumato.table.extras import import_optional
from sfumato.validation import is_integer, require

Integers = npt.NDArray[np.int64]
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
        require(isinstance(self.area, Area), self, "area", "an sf.places.Area", type(self.area).__name__)
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
                f"The area has about {about:,.0f} hexagons of resolution {self._assignment_resolution}, more than {MAX_CELLS:,}; ask "
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
