"""Geo-indistinguishability: noise on single places, so that near places are told apart only a little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, inf, log, nextafter, pi, radians, sqrt
from typing import Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.coding.keystream import Keystream
from sfumato.exceptions import InvalidParameterError
from sfumato.places.discrete_laplace import DiscreteLaplace
from sfumato.places.earth import RADIUS, Area, Floats, haversine
from sfumato.places.optimal_noise import checked_prior
from sfumato.places.positions import degrees_of, known_positions, position_columns, positions_of
from sfumato.places.rounding import decimals_of
from sfumato.randomness import Stream
from sfumato.table.frames import Frame, SameKind, to_arrow
from sfumato.threads import in_threads
from sfumato.validation import is_number, require

Mechanism: TypeAlias = Literal["exact", "planar"]
Places: TypeAlias = "Frame | Sequence[tuple[float, float]] | Floats"

FARTHEST = 50_000.0  # meters, up to which rounded planar noise keeps its promise
ANGLE = 2 * pi * 2.0**-52  # the finest difference of two drawn angles
REMAPPED = 4096  # places at once
AT_ONCE = 32_768  # places that noise is drawn for at once: arrays of them fit into the caches of a processor
NUMBERS = 3  # drawn for a place, at least
FINEST = 0.001  # meters, the smallest step
LEAST, MOST = 2e-12, 40.0  # epsilon per step: less needs too many steps to count, with more nothing would move
ROOT = sqrt(2.0)
BINDING = 1e-9  # by which the Euclidean bound is taken smaller, for the square root of 2 is rounded


@dataclass(frozen=True, kw_only=True)
class PlanarLaplace:
    r"""Move places so that whoever sees the result can hardly tell near places apart [1]_.

    Of two places at distance d, one gives every result at most $e^{\varepsilon d}$ times as often as the other: with
    ln 4 per 200 m, places 200 m apart differ by a factor of 4 at most. Noise comes from the operating system, and is
    larger than said here by as much as distances in the plane of the area may be too short.

    Reports of one person add up: n reports cost n times epsilon per meter. So a way cannot be protected point by point.

    Parameters
    ----------
    epsilon : the privacy loss per meter.
    mechanism : `"exact"` snaps places to a grid and adds whole steps of discrete Laplace noise along both axes; the
        bound holds exactly between points of the grid, and for other places as if they were $\sqrt 2$ steps farther
        apart. `"planar"` adds noise of the same law in all directions and rounds it to the grid; the bound holds up to
        50 km.
    step : the side of the grid, in meters. Results are degrees, rounded to a quarter of it at most.
    area : the public area that results are moved back into and that fixes the plane; by default it is drawn around the
        places that are given, which tells where they are to a hundredth of a degree.

    References
    ----------
    .. [1] Andrés, Bordenabe, Chatzikokolakis, Palamidessi, "Geo-indistinguishability", CCS 2013.
       https://doi.org/10.1145/2508859.2516735

    Examples
    --------
    >>> PlanarLaplace(epsilon=0.00693).mean_error
    331.2...
    """

    epsilon: float
    mechanism: Mechanism = "exact"
    step: float = 10.0
    area: Area | None = None

    def __post_init__(self) -> None:
        require(is_number(self.epsilon) and self.epsilon > 0, self, "epsilon", "a number above 0", self.epsilon)
        require(self.mechanism in {"exact", "planar"}, self, "mechanism", '"exact" or "planar"', self.mechanism)
        good = is_number(self.step) and self.step >= FINEST
        require(good, self, "step", f"a number of meters of at least {FINEST}", self.step)
        require(self.area is None or isinstance(self.area, Area), self, "area", "an sf.places.Area", self.area)
        least, most = LEAST / self.step, MOST / self.step
        asked = f"from {least:.2g} to {most:.2g} for steps of {self.step:g} m (more hides nobody)"
        require(least <= self.epsilon <= most, self, "epsilon", asked, self.epsilon)
        if self.mechanism == "planar":
            _ = self._planar_epsilon  # refuses steps that are too small

    @property
    def mean_error(self) -> float:
        """How far places are moved on average, in meters."""
        if self.mechanism == "planar":
            return 2 / self._planar_epsilon
        return float(self._exact_law[0])

    def quantile(self, share: float) -> float:
        """Return the distance, in meters, that this share of places is moved at most."""
        require(is_number(share) and 0 <= share < 1, self, "share", "a share from 0 to less than 1", share)
        if self.mechanism == "planar":
            from scipy.special import lambertw

            return float(-(lambertw((share - 1) / np.e, -1).real + 1) / self._planar_epsilon)
        _, distances, chances = self._exact_law
        return float(distances[np.searchsorted(np.cumsum(chances), share * chances.sum())])

    def perturb(self, places: Places) -> SameKind:
        """Move places.

        Parameters
        ----------
        places : a table with columns `longitude` and `latitude` (or `lon` and `lat`), which comes back with these
            replaced, or an array with a row of longitude and latitude for every place.
        """
        if isinstance(places, np.ndarray | list | tuple):
            return self.moved(*known_positions(places))
        table, kind = to_arrow(cast("Frame", places))
        for name, side in zip(position_columns(table), self.moved(*positions_of(table)).T, strict=True):
            table = table.set_column(table.column_names.index(name), name, pa.array(side))
        return kind.restore(table)

    def moved(self, longitudes: Floats, latitudes: Floats) -> Floats:
        """Return a row of degrees for every place, with noise; those that leave the area are moved to its rim."""
        found = np.empty((len(longitudes), 2))
        if not len(longitudes):
            return found
        area = self.area or Area.around(longitudes, latitudes)
        area.refuse_outside(longitudes, latitudes)
        surely = replace(self, epsilon=self.epsilon / (1 + area.error))
        stream = Keystream(NUMBERS * len(longitudes))

        def move(start: int) -> None:
            part = slice(start, start + AT_ONCE)
            steps = surely.noisy_steps(*area.to_plane(longitudes[part], latitudes[part]), stream)
            ends = (area.width // self.step, area.height // self.step)
            kept = (np.clip(side, 0.0, end) * self.step for side, end in zip(steps, ends, strict=True))
            found[part, 0], found[part, 1] = self._written(area, *kept)

        for _ in in_threads(move, range(0, len(longitudes), AT_ONCE), len(longitudes)):
            pass
        return found

    def remap(self, moved: npt.ArrayLike, places: npt.ArrayLike, prior: npt.ArrayLike | None = None) -> Floats:
        """Move noisy places on to the public places that are the best guess, which costs no privacy.

        The best guess has the least expected distance from where the person may be, given a public prior and the noise.

        Parameters
        ----------
        moved : an array of longitude and latitude, as `perturb` returns it.
        places : public places, a row of longitude and latitude for each.
        prior : how likely somebody is at each of them; by default all alike.
        """
        x, y = degrees_of(moved)
        at_x, at_y = degrees_of(places)
        require(len(at_x) > 0, self, "places", "at least one place", len(at_x))
        share = checked_prior(prior, len(at_x))
        apart = haversine(at_x[:, None], at_y[:, None], at_x[None, :], at_y[None, :])
        chosen = np.empty(len(x), dtype=np.int64)
        for start in range(0, len(x), REMAPPED):
            part = slice(start, start + REMAPPED)
            far = haversine(x[part, None], y[part, None], at_x[None, :], at_y[None, :])
            likely = share * np.exp(-self.epsilon * (far - far.min(axis=1, keepdims=True)))
            chosen[part] = (likely @ apart).argmin(axis=1)
        return np.column_stack([at_x[chosen], at_y[chosen]])

    def noisy_steps(self, x: Floats, y: Floats, stream: Stream) -> tuple[Floats, Floats]:
        """Return places of the plane with noise, in whole steps of the grid."""
        if self.mechanism == "planar":
            across, along = self._drawn(len(x), stream)
            return np.rint((x + across) / self.step), np.rint((y + along) / self.step)
        noise = DiscreteLaplace(self._axis_epsilon)
        drawn = noise.draw(2 * len(x), stream).astype(np.float64)  # far fewer steps than a float can count
        return np.rint(x / self.step) + drawn[: len(x)], np.rint(y / self.step) + drawn[len(x) :]

    @property
    def decimals(self) -> int:
        """The decimals of degrees that results are rounded to: enough to tell the points of the grid apart."""
        return decimals_of(self.step / (radians(1.0) * RADIUS))

    def _written(self, area: Area, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return points of the plane as degrees, rounded; none leaves the area by rounding."""
        longitudes, latitudes = (np.round(side, self.decimals) for side in area.to_degrees(x, y))
        return longitudes.clip(area.west, area.east), latitudes.clip(area.south, area.north)

    @property
    def _axis_epsilon(self) -> float:
        """The privacy loss per step along one axis: |dx| + |dy| is at most the square root of 2 times the distance."""
        return self.epsilon * self.step / ROOT * (1 - BINDING)

    @cached_property
    def _planar_epsilon(self) -> float:
        """The largest epsilon of continuous noise that keeps ours once its floating-point numbers are rounded."""
        fine = self.step / (FARTHEST * ANGLE)

        def kept(tried: float) -> float:
            grown = 2 * exp(tried * self.step)
            return inf if fine <= grown else tried + log((fine + grown) / (fine - grown)) / self.step

        tried = self.epsilon
        for _ in range(100):
            if kept(tried) <= self.epsilon:
                return tried
            tried = nextafter(self.epsilon - (kept(tried) - tried), 0.0)
            if tried <= 0:
                break
        raise InvalidParameterError("PlanarLaplace.step is too small for planar noise; give larger steps.")

    def _drawn(self, count: int, stream: Stream) -> tuple[Floats, Floats]:
        """Draw noise in all directions: the radius is the sum of two exponential numbers."""
        angle, first, second = stream.uniform(3 * count).reshape(3, count)
        radius = np.log(first * second) / -self._planar_epsilon
        angle *= 2 * pi
        return radius * np.cos(angle), radius * np.sin(angle)

    @cached_property
    def _exact_law(self) -> tuple[float, Floats, Floats]:
        """The mean distance of the exact mechanism, its distances in order, and how likely they are."""
        rate = self._axis_epsilon
        most = min(int(40 / rate) + 2, 1500)
        scale = max(1, round(40 / rate / most))  # where steps are much finer than the noise, several are taken as one
        chance = np.exp(-rate * scale * np.arange(most + 1))
        near, far = np.triu_indices(most + 1)  # an eighth of the plane, and how many of the eight are alike
        alike = np.where(near > 0, 2, 1) * np.where(far > 0, 2, 1) * np.where(near < far, 2, 1)
        chances = chance[near] * chance[far] * alike
        chances /= chances.sum()
        distances = scale * self.step * np.hypot(near, far)
        order = np.argsort(distances, kind="stable")
        return float(distances @ chances), distances[order], chances[order]
