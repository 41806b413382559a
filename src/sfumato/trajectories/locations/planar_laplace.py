"""Geo-indistinguishability: noise on single places, so that near places can hardly be distinguished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from functools import cached_property, lru_cache
from math import radians, sqrt
from typing import Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import KeyedRandom, secret_from_seed
from sfumato._threads import map_in_threads
from sfumato._validation import is_finite_number, require
from sfumato.errors import InfeasibleError, InvalidParameterError
from sfumato.io._dataframes import Frame, SameBackend, to_arrow
from sfumato.trajectories.geometry import EARTH_RADIUS, Area, Floats, decimals_for_step, haversine
from sfumato.trajectories.locations._chacha20 import ChaCha20Random
from sfumato.trajectories.locations._input import any_positions_of, parse_degrees, position_columns
from sfumato.trajectories.locations._tangent_plane import TangentPlane, wrap_longitudes
from sfumato.trajectories.locations.optimal_mechanism import check_prior
from sfumato.trajectories.locations.spherical_laplace import MIN_EPSILON as LEAST_PLANAR
from sfumato.trajectories.locations.spherical_laplace import SphericalLaplace

Integers = npt.NDArray[np.int64]


# Discrete Laplace noise, exactly: whole numbers drawn by comparing random bits with the digits of their chances.


# Discrete Laplace noise, exactly: whole numbers drawn by comparing random bits with the digits of their chances.
Words = npt.NDArray[np.uint64]
BASE = 1024  # geometric numbers are drawn digit by digit in this base
WORD = 64  # bits that are drawn at once
MIN_RATE, MAX_RATE = 2.0**-40, 40.0
SURE = 46.0  # e to minus it is below 2**-64: all 64 bits of the chance of less are set
GUARD = 25  # decimal digits that rounding may cost at most


@dataclass(frozen=True)
class DiscreteLaplace:
    r"""Noise that is x with a chance in proportion to $e^{-rate |x|}$, for whole numbers x.

    It is the difference of two geometric numbers, the digits of which are independent in any base [1]_. Each digit is
    found by inversion: the first 64 bits of a uniform number are compared with those of the chances that the digit is
    at most 0, 1, and so on. Where they are equal, further bits of both decide. So no chance is rounded, whatever the
    rate is.

    Parameters
    ----------
    rate : from 2**-40 to 40.

    References
    ----------
    .. [1] Steutel, Thiemann, "On the independence of integer and fractional parts", Statistica Neerlandica 43(1), 1989.
    """

    rate: float

    def __post_init__(self) -> None:
        if self.rate < MIN_RATE:
            raise InfeasibleError("Such a small epsilon needs steps too many to count; give a larger one, or steps.")
        if self.rate > MAX_RATE:
            raise InfeasibleError("So large an epsilon hides nobody: nothing would move; give a smaller one.")

    def draw(self, count: int, stream: KeyedRandom) -> Integers:
        """Draw so many numbers."""
        drawn = self._geometric(2 * count, stream)
        return drawn[:count] - drawn[count:]

    def _geometric(self, count: int, stream: KeyedRandom) -> Integers:
        found = np.zeros(count, dtype=np.int64)
        for place, digit in enumerate(_geometric_digits(self.rate)):
            found += digit.draw(count, stream) * BASE**place
        return found


@dataclass(frozen=True)
class GeometricDigit:
    """A digit of a geometric number: d has a chance in proportion to e to minus d times the rate.

    Parameters
    ----------
    rate : per unit of this digit.
    first : whether there are higher ones; the first digit has no upper end, and every number of units is possible.
    """

    rate: Decimal
    first: bool

    def draw(self, count: int, stream: KeyedRandom) -> Integers:
        """Draw so many digits."""
        words, ends = stream.random_uint64(count), _cumulative_words(self)
        found = np.searchsorted(ends, words).astype(np.int64)
        for at in np.flatnonzero(np.append(ends, np.uint64(0))[found] == words):  # 0 is no word above all ends
            found[at] = self.resolve(int(found[at]), int(words[at]), stream)
        return found

    def resolve(self, least: int, bits: int, stream: KeyedRandom) -> int:
        """Return the digit of a uniform number, at least `least`, whose first bits do not tell; draw further ones."""
        digit, known = least, WORD
        while True:
            bits, known = bits << WORD | int(stream.random_uint64(1)[0]), known + WORD
            while (self.first or digit < BASE - 1) and self.cumulative(digit, known) < bits:
                digit += 1
            if not (self.first or digit < BASE - 1) or self.cumulative(digit, known) > bits:
                return digit

    def cumulative(self, digit: int, bits: int) -> int:
        """Return the first bits of the chance of at most this digit."""
        return self.cumulatives(digit, digit + 1, bits)[0]

    def cumulatives(self, start: int, stop: int, bits: int) -> list[int]:
        """Return the first bits of the chances of at most these digits, as whole numbers; no bit is wrong."""
        precision = int(bits * 0.302) + 2 * GUARD
        while True:
            low, high = self._floors(start, stop, bits, precision)
            if low == high:
                return low
            precision *= 2

    def _floors(self, start: int, stop: int, bits: int, precision: int) -> tuple[list[int], list[int]]:
        """Return first bits of chances that are surely too small, and of ones that are surely too large."""
        with localcontext(Context(prec=precision, rounding=ROUND_FLOOR)):
            share, scale = (-self.rate).exp(), Decimal(2) ** bits
            whole = Decimal(1) if self.first else 1 - (-self.rate * BASE).exp()
            slack = scale * Decimal(10) ** (GUARD - precision)
            left, low, high = (-self.rate * start).exp(), [], []
            for _ in range(start, stop):
                left *= share
                chance = (1 - left) / whole * scale
                low.append(int(chance - slack))
                high.append(int(chance + slack))
            return low, high


@lru_cache(maxsize=16)
def _geometric_digits(rate: float) -> tuple[GeometricDigit, ...]:
    """Return the digits of a geometric number, the lowest first."""
    each, found = Decimal(rate), []
    with localcontext(Context(prec=400)):  # a float has fewer digits, so nothing is rounded here
        while each * BASE < Decimal(SURE):
            found.append(GeometricDigit(each, first=False))
            each *= BASE
    return (*found, GeometricDigit(each, first=True))


@lru_cache(maxsize=32)
def _cumulative_words(digit: GeometricDigit) -> Words:
    """Return the first 64 bits of the chances of at most 0, 1, and so on."""
    stop = int(Decimal(SURE) / digit.rate) + 1 if digit.first else BASE - 1
    return np.array(digit.cumulatives(0, stop, WORD), dtype=np.uint64)


Mechanism: TypeAlias = Literal["exact", "planar"]
Places: TypeAlias = "Frame | Sequence[tuple[float, float]] | Floats"

REMAPPED = 4096  # places at once
AT_ONCE = 32_768  # places that noise is drawn for at once: arrays of them fit into the caches of a processor
NUMBERS = 3  # drawn for a place, at least
FINEST = 0.001  # meters, the smallest step
LEAST, MOST = 2e-12, 40.0  # epsilon per step: less needs too many steps to count, with more nothing would move
ROOT = sqrt(2.0)
BINDING = 1e-9  # by which the Euclidean bound is taken smaller, for the square root of 2 is rounded
SAMPLED = 1 << 16  # places of an area, by which the distance after clamping is estimated
PLASTIC = 1.32471795724474602596  # the root of x**3 = x + 1: multiples of its inverse powers spread evenly


@dataclass(frozen=True, kw_only=True)
class PlanarLaplace:
    r"""Move places so that whoever sees the result can hardly distinguish near places [1]_.

    Of two places at distance d, one gives every result at most $e^{\varepsilon d}$ times as often as the other: with
    ln 4 per 200 m, places 200 m apart differ by a factor of 4 at most. The places that are given determine nothing but
    their own results: no plane, bound or refusal depends on where they are.

    Reports of one person add up: n reports cost n times epsilon per meter. So a way cannot be protected point by point.

    Parameters
    ----------
    epsilon : the privacy loss per meter.
    mechanism : `"exact"`, the default where an area is given, snaps places to a grid of its plane and adds whole steps
        of discrete Laplace noise along both axes; the bound holds exactly between points of the grid, and for other
        places as if they were $\sqrt 2$ steps farther apart. `"planar"`, the default without an area, adds noise in
        all directions on the sphere (Laplace noise of the plane, in distances small beside the earth) and rounds it to
        a grid; the bound is that of floating-point numbers, and epsilon is at least 1e-7.
    step : the side of the grid, in meters. Results are degrees, rounded to a quarter of it at most.
    area : a public area, declared beforehand and never drawn from the places; results outside are moved to its rim.
        Places outside are allowed; they are most often reported at the rim. Without an area nothing is clamped.

    References
    ----------
    .. [1] Andrés, Bordenabe, Chatzikokolakis, Palamidessi, "Geo-indistinguishability", CCS 2013.
       https://doi.org/10.1145/2508859.2516735

    Examples
    --------
    >>> PlanarLaplace(epsilon=0.00693).mean_error
    288.6...
    """

    epsilon: float
    mechanism: Mechanism | None = None
    step: float = 10.0
    area: Area | None = None

    def __post_init__(self) -> None:
        require(is_finite_number(self.epsilon) and self.epsilon > 0, self, "epsilon", "a number above 0", self.epsilon)
        require(self.area is None or isinstance(self.area, Area), self, "area", "an sf.trajectories.Area", self.area)
        if self.mechanism is None:
            object.__setattr__(self, "mechanism", "planar" if self.area is None else "exact")
        require(self.mechanism in {"exact", "planar"}, self, "mechanism", '"exact" or "planar"', self.mechanism)
        good = is_finite_number(self.step) and self.step >= FINEST
        require(good, self, "step", f"a number of meters of at least {FINEST}", self.step)
        planar = self.mechanism == "planar"
        least, most = max(LEAST / self.step, LEAST_PLANAR if planar else 0.0), MOST / self.step
        asked = f"from {least:.2g} to {most:.2g} for steps of {self.step:g} m (more hides nobody)"
        require(least <= self.epsilon <= most, self, "epsilon", asked, self.epsilon)
        if planar:
            _ = self._sphere.epsilon_used  # refuses steps that are too small
        elif self.area is None:
            raise InvalidParameterError(
                "Exact noise needs a public area, which fixes its plane; declare one, or use planar noise."
            )

    @property
    def mean_error(self) -> float:
        """How far places are moved on average, in meters; in an area after clamping, on average over its places."""
        return self._sphere.mean if self.area is None else float(self._distances.mean())

    def quantile(self, share: float) -> float:
        """Return the distance, in meters, that this share of places is moved at most; in an area after clamping."""
        require(is_finite_number(share) and 0 <= share < 1, self, "share", "a share from 0 to less than 1", share)
        return self._sphere.quantile(share) if self.area is None else float(np.quantile(self._distances, share))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know about the results; it depends on the parameters only, never on places."""
        found = []
        if self.area is not None:
            found.append("Results are moved into the area; places outside it are allowed, and reported near its rim.")
            if self.mean_error > min(self.area.width, self.area.height) / 4:
                found.append("The noise is large beside the area: most results say little, and many are at its rim.")
        if self.mechanism == "planar":
            found.append("Planar noise is computed with floating-point numbers; only exact noise is proven bit by bit.")
        return tuple(found)

    def perturb(self, places: Places) -> SameBackend:
        """Move places, wherever they are; rows without a place, or with degrees that no place has, are refused.

        Parameters
        ----------
        places : a table with columns `longitude` and `latitude` (or `lon` and `lat`), which comes back with these
            replaced, or an array with a row of longitude and latitude for every place.
        """
        if isinstance(places, np.ndarray | list | tuple):
            return self.perturb_degrees(*parse_degrees(places))
        table, kind = to_arrow(cast("Frame", places))
        for name, side in zip(position_columns(table), self.perturb_degrees(*any_positions_of(table)).T, strict=True):
            table = table.set_column(table.column_names.index(name), name, pa.array(side))
        return kind.restore(table)

    def perturb_degrees(self, longitudes: Floats, latitudes: Floats) -> Floats:
        """Return a row of degrees for every place, with noise; those that leave the area are moved to its rim."""
        found = np.empty((len(longitudes), 2))
        stream = ChaCha20Random(NUMBERS * len(longitudes))

        def move(start: int) -> None:
            part = slice(start, start + AT_ONCE)
            found[part] = self._noisy(longitudes[part], latitudes[part], stream)

        for _ in map_in_threads(move, range(0, len(longitudes), AT_ONCE), len(longitudes)):
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
        x, y = parse_degrees(moved)
        at_x, at_y = parse_degrees(places)
        require(len(at_x) > 0, self, "places", "at least one place", len(at_x))
        share = check_prior(prior, len(at_x))
        apart = haversine(at_x[:, None], at_y[:, None], at_x[None, :], at_y[None, :])
        chosen = np.empty(len(x), dtype=np.int64)
        for start in range(0, len(x), REMAPPED):
            part = slice(start, start + REMAPPED)
            far = haversine(x[part, None], y[part, None], at_x[None, :], at_y[None, :])
            likely = share * np.exp(-self.epsilon * (far - far.min(axis=1, keepdims=True)))
            chosen[part] = (likely @ apart).argmin(axis=1)
        return np.column_stack([at_x[chosen], at_y[chosen]])

    def noisy_steps(self, x: Floats, y: Floats, stream: KeyedRandom) -> tuple[Floats, Floats]:
        """Return places of the plane with exact noise, in whole steps of the grid."""
        noise = DiscreteLaplace(self._axis_epsilon)
        drawn = noise.draw(2 * len(x), stream).astype(np.float64)  # far fewer steps than a float can count
        return np.rint(x / self.step) + drawn[: len(x)], np.rint(y / self.step) + drawn[len(x) :]

    @property
    def decimals(self) -> int:
        """The decimals of degrees that results are rounded to: enough to tell the points of the grid apart."""
        return decimals_for_step(self.step / (radians(1.0) * EARTH_RADIUS))

    def _noisy(self, longitudes: Floats, latitudes: Floats, stream: KeyedRandom) -> Floats:
        """Return a row of degrees for every place, with noise, clamped to the area and rounded."""
        if self.mechanism == "planar" or self.area is None:
            east, north = self._sphere.perturb(longitudes, latitudes, stream)
        else:
            plane = TangentPlane.of(self.area)
            steps = self.noisy_steps(*plane.to_plane(longitudes, latitudes), stream)
            east, north = plane.to_degrees(*(side * self.step for side in steps))
        return np.column_stack(self._clamped(east, north))

    def _clamped(self, longitudes: Floats, latitudes: Floats) -> tuple[Floats, Floats]:
        """Return degrees as they are published: rounded, and moved into the area if there is one."""
        if self.area is None:
            return np.round(wrap_longitudes(longitudes), self.decimals), np.round(latitudes, self.decimals)
        area, middle = self.area, (self.area.west + self.area.east) / 2
        near = np.round(middle + wrap_longitudes(longitudes - middle), self.decimals)
        return near.clip(area.west, area.east), np.round(latitudes, self.decimals).clip(area.south, area.north)

    @property
    def _axis_epsilon(self) -> float:
        """The privacy loss per step along one axis: |dx| + |dy| is at most the square root of 2 times the distance."""
        return self.epsilon * self.step / ROOT * (1 - BINDING)

    @cached_property
    def _sphere(self) -> SphericalLaplace:
        return SphericalLaplace(self.epsilon, self.step)

    @cached_property
    def _distances(self) -> Floats:
        """How far places all over the area are moved: the same for all data, by a public stream."""
        assert self.area is not None  # noqa: S101 - without an area the law is known
        area, at = self.area, np.arange(1, SAMPLED + 1)
        longitudes = area.west + (area.east - area.west) * (at / PLASTIC % 1.0)
        latitudes = area.south + (area.north - area.south) * (at / PLASTIC**2 % 1.0)
        moved = self._noisy(longitudes, latitudes, KeyedRandom(secret_from_seed(0), "distances of noise"))
        return haversine(longitudes, latitudes, moved[:, 0], moved[:, 1])
