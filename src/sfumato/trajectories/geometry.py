"""Distances on the earth, and the plane in which one area is measured."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, cos, floor, log10, radians
from typing import Self

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, require
from sfumato.errors import SchemaError

Floats = npt.NDArray[np.float64]


EARTH_RADIUS = 6_371_008.8  # meters, the mean radius of the earth
DEGREE = radians(1.0) * EARTH_RADIUS  # meters of one degree of latitude
MAX_ERROR = 0.01  # of east-west distances at the rim of an area
MAX_LATITUDE = 85.0  # degrees of latitude
HALF_TURN = 180.0
ROUNDED = 100  # parts of a degree that the corners of an area are rounded to


def haversine(longitude: Floats, latitude: Floats, to_longitude: Floats, to_latitude: Floats) -> Floats:
    """Return great-circle distances in meters between points given in degrees.

    >>> float(haversine(*(np.array([each]) for each in (13.377704, 52.516275, 13.413215, 52.521918)))[0].round(2))
    2483.32
    """
    south, north = np.radians(latitude), np.radians(to_latitude)
    across = np.sin(np.radians(np.subtract(to_longitude, longitude)) / 2) ** 2
    along = np.sin((north - south) / 2) ** 2
    root = np.sqrt(np.clip(along + np.cos(south) * np.cos(north) * across, 0.0, 1.0))
    return np.asarray(2 * EARTH_RADIUS * np.arcsin(root), dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class Area:
    """A rectangle of degrees that may be known by everybody, and the plane that distances in it are measured in.

    In the plane a point is x = R cos(middle latitude) longitude, y = R latitude, in meters from the southwest corner.
    East-west distances are right in the middle and wrong at the rim; an area where they are wrong by more than 1 % is
    refused.

    Parameters
    ----------
    west, south, east, north : the sides, in degrees.
    """

    west: float
    south: float
    east: float
    north: float

    def __post_init__(self) -> None:
        for name in ("west", "south", "east", "north"):
            require(is_finite_number(getattr(self, name)), self, name, "a number of degrees", getattr(self, name))
        if not (-HALF_TURN <= self.west < self.east <= HALF_TURN) or self.east - self.west > HALF_TURN:
            raise SchemaError(
                "The area crosses the date line or reaches around the earth; split the data into areas that do not."
            )
        if not (-MAX_LATITUDE <= self.south < self.north <= MAX_LATITUDE):
            raise SchemaError(
                f"The area reaches beyond latitude {MAX_LATITUDE:g}, where no plane fits; leave these points out."
            )
        if self.error > MAX_ERROR:
            raise SchemaError(
                f"The area is too high for one plane: distances at its rim would be wrong by {self.error:.1%}; split "
                "the data into smaller areas."
            )

    @classmethod
    def from_points(cls, longitude: Floats, latitude: Floats) -> Self:
        """Return the area around points, rounded outward to hundredths of a degree so that it shows no point."""
        return cls(
            west=max(_floor_hundredths(longitude.min()), -HALF_TURN),
            south=_floor_hundredths(latitude.min()),
            east=min(_next_hundredth(longitude.max()), HALF_TURN),
            north=_next_hundredth(latitude.max()),
        )

    @property
    def reference_latitude(self) -> float:
        """The latitude at which east-west distances are right."""
        return (self.south + self.north) / 2

    @property
    def error(self) -> float:
        """The largest relative error of east-west distances in the plane."""
        scale = cos(radians(self.reference_latitude))
        return max(abs(scale / cos(radians(edge)) - 1) for edge in (self.south, self.north))

    @property
    def width(self) -> float:
        """The width in the plane, in meters."""
        return self._across * (self.east - self.west)

    @property
    def height(self) -> float:
        """The height in the plane, in meters."""
        return DEGREE * (self.north - self.south)

    @property
    def _across(self) -> float:
        return DEGREE * cos(radians(self.reference_latitude))

    @property
    def _most_across(self) -> float:
        nearest = 0.0 if self.south < 0 < self.north else min(abs(self.south), abs(self.north))
        return DEGREE * cos(radians(nearest))

    def contains(self, longitude: Floats, latitude: Floats) -> npt.NDArray[np.bool_]:
        """Return which points are inside."""
        inside = (self.west <= longitude) & (longitude <= self.east)
        return np.asarray(inside & (self.south <= latitude) & (latitude <= self.north))

    def check_inside(self, longitude: Floats, latitude: Floats) -> None:
        """Refuse points outside, and say so if longitude and latitude look swapped."""
        outside = int((~self.contains(longitude, latitude)).sum())
        if outside:
            swapped = bool(self.contains(latitude, longitude).all())
            hint = "longitude and latitude look swapped" if swapped else "give a larger area, or leave them out"
            raise SchemaError(f"{outside:,} places are outside the area; {hint}.")

    def to_plane(self, longitude: Floats, latitude: Floats, *, widest: bool = False) -> tuple[Floats, Floats]:
        """Return points as meters east and north of the southwest corner.

        In the widest plane no distance is too short, and none is longer in that of a smaller area.
        """
        across = self._most_across if widest else self._across
        return (longitude - self.west) * across, (latitude - self.south) * DEGREE

    def to_degrees(self, x: Floats, y: Floats, *, widest: bool = False) -> tuple[Floats, Floats]:
        """Return points of the plane as longitude and latitude."""
        across = self._most_across if widest else self._across
        return self.west + x / across, self.south + y / DEGREE

    def to_dict(self) -> dict[str, float]:
        """Return the sides by name."""
        return {"west": self.west, "south": self.south, "east": self.east, "north": self.north}


def _floor_hundredths(degrees: float) -> float:
    return floor(degrees * ROUNDED) / ROUNDED


def _next_hundredth(degrees: float) -> float:
    return (floor(degrees * ROUNDED) + 1) / ROUNDED  # strictly beyond, so that one point has an area, too


# Degrees with no more decimals than they need, so that files do not show what rounding leaves over.


FINENESS = 4  # by which the last decimal is finer than the grid at least
TOLERANCE = 1e-3  # of the last decimal: more than floating-point numbers are wrong by


def decimals_for_step(step: float) -> int:
    """Return the fewest decimals that make four points out of every step of a grid, which is given in degrees.

    >>> decimals_for_step(0.01), decimals_for_step(0.00009)
    (3, 5)
    """
    return max(0, ceil(-log10(step / FINENESS)))


def round_down(degrees: Floats, decimals: int) -> Floats:
    """Round degrees down; what is a hair above a decimal goes to the one below it, so that nothing is left outside."""
    return np.asarray(np.floor(degrees * 10.0**decimals - TOLERANCE) / 10.0**decimals, dtype=np.float64)


def round_up(degrees: Floats, decimals: int) -> Floats:
    """Round degrees up; what is a hair below a decimal goes to the one above it, so that nothing is left outside."""
    return -round_down(-degrees, decimals)
