"""Noise in all directions on the whole earth, with a density that decreases exponentially with the distance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log, nextafter, pi

import numpy as np

from sfumato._randomness import KeyedRandom
from sfumato.errors import InvalidParameterError
from sfumato.trajectories.geometry import DEGREE, EARTH_RADIUS, Floats
from sfumato.trajectories.locations._tangent_plane import wrap_longitudes

MAX_DISTANCE = pi * EARTH_RADIUS  # meters, half of the way around the earth
ANGLE = 2 * pi * 2.0**-52  # the finest difference of two drawn angles
MIN_EPSILON = 1e-7  # epsilon per meter: with less, noise is larger than the earth
MAX_EXPONENT = 60.0  # epsilon times distance, beyond which chances are smaller than 1e-24
GRID = 1 << 16  # distances at which the law is computed
TURN = 360.0


@dataclass(frozen=True)
class SphericalLaplace:
    r"""Move places by a distance r in a random direction, with a density in proportion to $e^{-\varepsilon r}$ [1]_.

    The density is taken per square meter of the sphere. By symmetry its total is the same around every place, so of two
    places at distance d one gives a result at most $e^{\varepsilon d}$ times as often as the other, wherever they are:
    neither a plane nor an area is needed. In a small part of the earth the law is that of the planar Laplace mechanism.
    Results are rounded to a grid that is the same for all data; epsilon is made smaller by what floating-point numbers
    may add [1]_.

    Parameters
    ----------
    epsilon : the privacy loss per meter.
    step : the side of the grid, in meters.

    References
    ----------
    .. [1] Andrés, Bordenabe, Chatzikokolakis, Palamidessi, "Geo-indistinguishability", CCS 2013.
       https://doi.org/10.1145/2508859.2516735
    """

    epsilon: float
    step: float

    @cached_property
    def epsilon_used(self) -> float:
        """The largest epsilon of continuous noise that keeps ours once its floating-point numbers are rounded."""
        fine = self.step / (MAX_DISTANCE * ANGLE)

        def kept(tried: float) -> float:
            grown = 2 * exp(min(tried * self.step, 700.0))
            return inf if fine <= grown else tried + log((fine + grown) / (fine - grown)) / self.step

        tried = self.epsilon
        for _ in range(100):
            if kept(tried) <= self.epsilon:
                return tried
            tried = nextafter(self.epsilon - (kept(tried) - tried), 0.0)
            if tried <= 0:
                break
        raise InvalidParameterError("PlanarLaplace.step is too small for planar noise; give larger steps.")

    def perturb(self, longitudes: Floats, latitudes: Floats, stream: KeyedRandom) -> tuple[Floats, Floats]:
        """Return longitudes and latitudes with noise, on the grid."""
        east, north = np.radians(longitudes), np.radians(latitudes)
        direction, far = 2 * pi * stream.uniform(len(east)), self._angles(len(east), stream)
        ahead, aside = np.sin(far) * np.cos(direction), np.sin(far) * np.sin(direction)
        level = np.cos(far) * np.cos(north) - ahead * np.sin(north)
        height = np.cos(far) * np.sin(north) + ahead * np.cos(north)
        x, y = (
            level * np.cos(east) - aside * np.sin(east),
            level * np.sin(east) + aside * np.cos(east),
        )
        return self._on_grid(np.degrees(np.arctan2(y, x)), np.degrees(np.arctan2(height, np.hypot(x, y))))

    def _on_grid(self, longitudes: Floats, latitudes: Floats) -> tuple[Floats, Floats]:
        """Round to rows of parallels and, in each, to columns that are at least as wide as rows are high."""
        high = self.step / DEGREE
        rows = np.clip(np.rint(latitudes / high) * high, -TURN / 4, TURN / 4)
        columns = np.maximum(np.floor(TURN * np.cos(np.radians(rows)) / high), 1.0)
        return wrap_longitudes(np.rint(longitudes * columns / TURN) * (TURN / columns)), rows

    def _angles(self, count: int, stream: KeyedRandom) -> Floats:
        """Draw distances as angles: planar ones, kept with the share of the circle's length that the sphere has."""
        found = np.empty(0)
        while len(found) < count:
            first, second, kept = stream.uniform(3 * (count - len(found))).reshape(3, -1)
            angles = np.log(first * second) / -(self.epsilon_used * EARTH_RADIUS)
            found = np.concatenate([found, angles[(angles < pi) & (kept < np.sinc(angles / pi))]])
        return found

    @cached_property
    def distribution(self) -> tuple[Floats, Floats]:
        """Distances in meters, in order, and the chance of being moved at most so far."""
        rate = self.epsilon_used * EARTH_RADIUS
        angles = np.linspace(0.0, min(pi, MAX_EXPONENT / rate), GRID)
        below = 1 - np.exp(-rate * angles) * (np.cos(angles) + rate * np.sin(angles))
        return angles * EARTH_RADIUS, below / (1 + exp(-rate * pi))

    @property
    def mean(self) -> float:
        """The mean distance, in meters."""
        distances, below = self.distribution
        return float(np.trapezoid(1 - below, distances))

    def quantile(self, share: float) -> float:
        """Return the distance that this share of places is moved at most."""
        distances, below = self.distribution
        return float(np.interp(share, below, distances))
