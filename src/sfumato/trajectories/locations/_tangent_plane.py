"""The plane that touches the earth in the middle of a public area."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, degrees, radians, sin

import numpy as np

from sfumato.trajectories.geometry import EARTH_RADIUS, Area, Floats

MAX_RADIUS = 1 - 1e-12  # of the radius of the earth: farther out, the plane shows no place


@dataclass(frozen=True)
class TangentPlane:
    """Orthographic projection of the earth to the plane that touches it in one point.

    It projects points of space at right angles to the plane, so no two places of the whole earth are farther apart in
    it than along the great circle: noise in the plane keeps every bound per meter, also for places outside the area.

    Parameters
    ----------
    longitude, latitude : the point, in degrees.
    """

    longitude: float
    latitude: float

    @classmethod
    def of(cls, area: Area) -> TangentPlane:
        """Return the plane that touches the middle of an area."""
        return cls((area.west + area.east) / 2, area.reference_latitude)

    def to_plane(self, longitudes: Floats, latitudes: Floats) -> tuple[Floats, Floats]:
        """Return meters east and north of the point."""
        east, north, height = np.radians(longitudes - self.longitude), np.radians(latitudes), radians(self.latitude)
        x = EARTH_RADIUS * np.cos(north) * np.sin(east)
        return x, EARTH_RADIUS * (cos(height) * np.sin(north) - sin(height) * np.cos(north) * np.cos(east))

    def to_degrees(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return longitudes and latitudes; points of the plane beyond the earth are moved to its rim."""
        height, far = radians(self.latitude), np.hypot(x, y) / EARTH_RADIUS
        shrunk = np.where(far > MAX_RADIUS, MAX_RADIUS / np.maximum(far, MAX_RADIUS), 1.0) / EARTH_RADIUS
        across, along = x * shrunk, y * shrunk
        up = np.sqrt(np.maximum(1 - across**2 - along**2, 0.0))
        latitudes = np.arcsin(np.clip(along * cos(height) + up * sin(height), -1.0, 1.0))
        longitudes = np.arctan2(across, up * cos(height) - along * sin(height))
        return self.longitude + np.degrees(longitudes), np.degrees(latitudes)


def wrap_longitudes(longitudes: Floats) -> Floats:
    """Return angles of degrees as the equal ones from -180 to less than 180."""
    return np.asarray((longitudes + degrees(np.pi)) % 360.0 - 180.0, dtype=np.float64)
