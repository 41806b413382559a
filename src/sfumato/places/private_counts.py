"""Counts of points and trips with differential privacy: every place is counted, also where nobody is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.neighbors import TRIPS, describe_epsilon
from sfumato.places.earth import Floats
from sfumato.places.public_places import PublicPlaces, cell_centers, encode_places
from sfumato.places.publishing import round_degrees
from sfumato.places.trajectories import Points, Trajectories
from sfumato.queries.private.accountant import Accountant, recording_refusals
from sfumato.queries.private.budget import UNIT, epsilon_cost_units, format_epsilon
from sfumato.queries.private.noise import add_discrete_laplace, error_margin, refuse_too_small
from sfumato.randomness import KeyedRandom
from sfumato.validation import is_integer, require

Integers = npt.NDArray[np.int64]
MAX_CELLS = 4_000_000
MOST_NAMED = isqrt(MAX_CELLS) - 1  # of trips: pairs of places, and of elsewhere
CONFIDENCE = 0.95
Paying: TypeAlias = tuple[float | str, Accountant, str]  # epsilon, accountant and analyst


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PrivatePlaceCounts:
    """Noisy counts of all places, or of all pairs of a first and a last place.

    Parameters
    ----------
    names : the names of the places; the last is elsewhere, that of all points at none of the public ones.
    counts : a number for every place, or a row of numbers for every first place.
    scale : of the discrete Laplace noise.
    epsilon : what was paid.
    middles : the longitudes and latitudes of the middles of the places, if they are squares.
    """

    names: tuple[str, ...]
    counts: Integers
    scale: float
    epsilon: str
    middles: tuple[Floats, Floats] | None = None

    @property
    def margin(self) -> int:
        """How far a count is off at most, in 95 of 100 cases."""
        return error_margin(self.scale, CONFIDENCE)

    def to_arrow(self) -> pa.Table:
        """Return a row for every count; of squares with the middle of each."""
        at = np.indices(self.counts.shape).reshape(self.counts.ndim, -1)
        heads = ("place",) if self.counts.ndim == 1 else ("first", "last")
        columns: dict[str, Any] = {
            head: pa.array(self.names).take(pa.array(row)) for head, row in zip(heads, at, strict=True)
        }
        if self.middles is not None and self.counts.ndim == 1:
            middles = (pa.array(round_degrees(side), from_pandas=True) for side in self.middles)
            columns |= dict(zip(("longitude", "latitude"), middles, strict=True))
        return pa.table({**columns, "count": self.counts.ravel()})

    def to_dict(self) -> dict[str, Any]:
        """Return what was counted, as plain values."""
        told = {"counts": self.counts.size, "scale": self.scale, "margin": self.margin, "epsilon": self.epsilon}
        return {**told, "neighbors": TRIPS}

    def __repr__(self) -> str:
        what = "places" if self.counts.ndim == 1 else "pairs of places"
        told = f"each within {self.margin:,} in 95 of 100 cases; {describe_epsilon(self.epsilon, TRIPS)}"
        return f"Counts of {self.counts.size:,} {what}, {told}"


@recording_refusals
def private_density(
    ways: Trajectories,
    *,
    places: PublicPlaces,
    epsilon: float | str,
    accountant: Accountant,
    analyst: str,
    points: int = 1,
) -> PrivatePlaceCounts:
    """Count points by place, with noise that hides one person with all her ways.

    Parameters
    ----------
    ways : the trajectories.
    places : all places, known to everybody beforehand; points at none of them are counted at one more, elsewhere.
    epsilon : the privacy loss.
    accountant : what pays it; it belongs to these ways from then on.
    analyst : who asks.
    points : at most so many points of a person are counted, drawn at random.
    """
    cap = _check_cap(points, "points")
    numbers, names = encode_places(ways, places)
    kept = sample_per_individual(ways.points.individual, cap, KeyedRandom())
    counts = np.bincount(numbers[kept], minlength=len(names))
    return replace(
        _noisy_counts(ways, counts, names, cap, (epsilon, accountant, analyst)), middles=cell_centers(places)
    )


@recording_refusals
def private_trips(
    ways: Trajectories,
    *,
    places: PublicPlaces,
    epsilon: float | str,
    accountant: Accountant,
    analyst: str,
    trips: int = 1,
) -> PrivatePlaceCounts:
    """Count ways by their first and last place, with noise that hides one person with all her ways.

    Parameters
    ----------
    ways, places, epsilon, accountant, analyst : as for `private_density`.
    trips : at most so many ways of a person are counted, drawn at random.
    """
    cap = _check_cap(trips, "trips")
    numbers, names = encode_places(ways, places)
    require(len(names) ** 2 <= MAX_CELLS, "private_trips", "places", f"at most {MOST_NAMED:,} places", len(names) - 1)
    kept = sample_per_individual(ways.points.individual_of, cap, KeyedRandom())
    first, last = numbers[ways.points.offsets[:-1]][kept], numbers[ways.points.offsets[1:] - 1][kept]
    counts = np.bincount(first * len(names) + last, minlength=len(names) ** 2).reshape(len(names), -1)
    return _noisy_counts(ways, counts, names, cap, (epsilon, accountant, analyst))


def spend_budget(ways: Trajectories, paying: Paying, question: str, *, sensitivity: int) -> Fraction:
    """Pay for a question about ways before it is answered, and return the exact epsilon.

    A person changes the answer by at most `sensitivity` in total.
    """
    epsilon, accountant, analyst = paying
    units = epsilon_cost_units(epsilon, question)
    refuse_too_small(sensitivity, Fraction(units, UNIT))
    accountant.bind_table(ways.digest(), TRIPS)
    accountant.spend(analyst, format_epsilon(units), question)
    return Fraction(units, UNIT)


def sample_per_individual(owner: Integers, most: int, stream: KeyedRandom) -> Integers:
    """Choose at most so many things of every person, at random."""
    shuffled = stream.permutation(len(owner))
    order = shuffled[np.argsort(owner[shuffled], kind="stable")]
    sizes = np.bincount(owner)
    rank = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[rank < most])


def sample_trajectories(points: Points, most: int, stream: KeyedRandom) -> Points:
    """Keep at most so many ways of every person, drawn at random."""
    return points.take(sample_per_individual(points.individual_of, most, stream))


def _check_cap(cap: int, name: str) -> int:
    require(is_integer(cap) and cap >= 1, "places", name, "a whole number of at least 1", cap)
    return cap


def _noisy_counts(
    ways: Trajectories,
    counts: npt.NDArray[np.int64],
    names: tuple[str, ...],
    cap: int,
    paying: Paying,
) -> PrivatePlaceCounts:
    epsilon = spend_budget(ways, paying, f"counts of {counts.size} cells", sensitivity=cap)
    found = add_discrete_laplace(counts.ravel().astype(np.int64), sensitivity=cap, epsilon=epsilon)
    units = epsilon_cost_units(paying[0], "places")
    return PrivatePlaceCounts(
        names=names, counts=found.numbers.reshape(counts.shape), scale=found.scale, epsilon=format_epsilon(units)
    )
