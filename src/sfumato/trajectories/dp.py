"""Made-up ways with differential privacy, from a noisy tree of how ways begin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, exp, isqrt, sqrt
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._neighbors import TRIPS, describe_epsilon
from sfumato._randomness import KeyedRandom
from sfumato._validation import is_integer, require
from sfumato.dp.accountant import UNIT, Accountant, epsilon_cost_units, format_epsilon, recording_refusals
from sfumato.dp.mechanisms import add_discrete_laplace, error_margin, refuse_too_small
from sfumato.errors import InfeasibleError
from sfumato.trajectories._publishing import round_degrees, select_points
from sfumato.trajectories.geometry import Floats
from sfumato.trajectories.grids import PublicPlaces, cell_centers, encode_places
from sfumato.trajectories.trajectories import Points, Trajectories

Integers = npt.NDArray[np.int64]


# Counts of points and trips with differential privacy: every place is counted, also where nobody is.


# Counts of points and trips with differential privacy: every place is counted, also where nobody is.
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


MAX_CHILDREN = 4_000_000
MOST_LENGTH = 100  # of sequences
MAX_POINTS = 10_000_000  # of made-up ways


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SequenceCounts:
    """How often places follow each other, noisy and made consistent: no sequence is rarer than its continuations.

    Parameters
    ----------
    names : the names of the places; the last is elsewhere, that of all points at none of the public ones.
    levels : for every length, the sequences as rows of places and their counts.
    scale, threshold : of the noise, and the noisy count from which on a sequence is kept.
    epsilon : what was paid.
    middles : the longitudes and latitudes of the middles of the places, if they are squares.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Integers, Integers], ...]
    scale: float
    threshold: int
    epsilon: float
    middles: tuple[Floats, Floats] | None = None

    def to_arrow(self) -> pa.Table:
        """Return a row for every sequence: its first place, its second, and so on, and its count."""
        longest = len(self.levels)
        rows = [
            np.pad(sequences, ((0, 0), (0, longest - sequences.shape[1])), constant_values=-1)
            for sequences, _ in self.levels
        ]
        places = np.concatenate([np.zeros((0, longest), dtype=np.int64), *rows])
        names = pa.array(self.names, pa.string())
        columns: dict[str, Any] = {
            f"place{at + 1}": names.take(pa.array(places[:, at], mask=places[:, at] < 0)) for at in range(longest)
        }
        counts = np.concatenate([np.zeros(0, dtype=np.int64), *(counts for _, counts in self.levels)])
        return pa.table({**columns, "count": counts})

    def to_dict(self) -> dict[str, Any]:
        """Return what was counted, as plain values."""
        sizes = [len(counts) for _, counts in self.levels]
        told = {"scale": self.scale, "threshold": self.threshold, "epsilon": f"{self.epsilon:g}", "neighbors": TRIPS}
        return {"places": len(self.names), "sequences": sizes, **told}

    def __repr__(self) -> str:
        kept = ", ".join(f"{len(counts):,}" for _, counts in self.levels)
        return (
            f"Sequences of {len(self.names):,} places: {kept} of growing length; "
            f"{describe_epsilon(self.epsilon, TRIPS)}"
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PrefixTree(SequenceCounts):
    """How many ways begin with which places."""

    def synthesize(self) -> Trajectories:
        """Return as many made-up ways as the counts say; nobody walked any of them.

        Their points are the middles of squares, if places are squares; what is elsewhere is left out of them.
        """
        elsewhere = len(self.names) - 1
        whole: list[tuple[Integers, int]] = []
        for depth, (prefixes, counts) in enumerate(self.levels):
            later = (
                _continuations(prefixes, self.levels[depth + 1])
                if depth + 1 < len(self.levels)
                else np.zeros_like(counts)
            )
            whole += [
                (row[row != elsewhere], int(many))
                for row, many in zip(prefixes, counts - later, strict=True)
                if many > 0 and (row != elsewhere).any()
            ]
        if not whole:
            raise InfeasibleError(
                "Noise hides all ways: no place reaches its threshold; pay more, or name fewer places."
            )
        if sum(len(row) * many for row, many in whole) > MAX_POINTS:
            raise InfeasibleError(
                f"Noise makes up ways of more than {MAX_POINTS:,} points; pay more, or name fewer places."
            )
        lengths = np.concatenate([np.full(many, len(row)) for row, many in whole])
        places = np.concatenate([np.tile(row, many) for row, many in whole])
        offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
        nowhere = np.full(len(self.names), np.nan)
        middles = self.middles or (nowhere, nowhere)
        points = Points(
            individual_of=np.arange(len(lengths)),
            offsets=offsets,
            times=np.arange(len(places)) - np.repeat(offsets[:-1], lengths) + 1,
            longitudes=round_degrees(middles[0])[places],
            latitudes=round_degrees(middles[1])[places],
            places=places,
            names=self.names[:-1],
            timed=False,
        )
        return Trajectories.from_points(points)


def false_positive_probability(scale: float, threshold: int) -> float:
    """Return the chance that a prefix which nobody has is kept all the same.

    >>> (round(false_positive_probability(5.0, ceil(2 * sqrt(2) * 5.0)), 6),
    ... round(false_positive_probability(10.0, ceil(2 * sqrt(2) * 10.0)), 6))
    (0.027375, 0.028886)
    """
    return exp(-threshold / scale) / (1 + exp(-1 / scale))


@recording_refusals
def private_prefix_tree(
    ways: Trajectories,
    *,
    places: PublicPlaces,
    epsilon: float | str,
    accountant: Accountant,
    analyst: str,
    height: int = 5,
    trips: int = 1,
) -> PrefixTree:
    """Count how ways begin, with noise that hides one person with all her ways [1]_.

    Every place may follow every prefix that was kept, whether anybody went there or not, and all get noise: else the
    tree's shape would tell who is there.

    Parameters
    ----------
    ways, epsilon, accountant, analyst : as for `private_density`.
    places : all places, known to everybody beforehand; points at none of them are at one more, elsewhere.
    height : the largest length of a prefix; ways are cut there, or earlier where four million prefixes would be looked
        at.
    trips : at most so many ways of a person are counted, drawn at random.

    References
    ----------
    .. [1] Chen, Fung, Desai, Sossou, "Differentially private transit data publication: a case study on the Montreal
       transportation system", KDD 2012. https://doi.org/10.1145/2339530.2339564
    """
    _check_length("private_prefix_tree", "height", height)
    require(is_integer(trips) and trips >= 1, "private_prefix_tree", "trips", "a whole number of at least 1", trips)
    numbers, names = encode_places(ways, places)
    question = f"prefix tree of {len(names)} places, height {height}"
    paid = spend_budget(ways, (epsilon, accountant, analyst), question, sensitivity=trips * height)
    some = _sample_with_places(ways.points, numbers, trips)
    begins = np.arange(len(some)) - some.offsets[some.trajectory]
    grown = _grow_tree(_n_gram_rows(some, height)[begins == 0], names, height, trips, paid)
    return PrefixTree(**grown, middles=cell_centers(places))


@recording_refusals
def private_n_grams(
    ways: Trajectories,
    *,
    places: PublicPlaces,
    epsilon: float | str,
    accountant: Accountant,
    analyst: str,
    size: int = 3,
    longest: int = 20,
    trips: int = 1,
) -> SequenceCounts:
    """Count which places follow each other directly, wherever in a way, with noise that hides one person [1]_.

    Parameters
    ----------
    ways, places, epsilon, accountant, analyst : as for `private_prefix_tree`.
    size : the largest number of places that follow each other.
    longest : ways are cut to so many points.
    trips : at most so many ways of a person are counted, drawn at random.

    References
    ----------
    .. [1] Chen, Acs, Castelluccia, "Differentially private sequential data publication via variable-length n-grams",
       CCS 2012. https://doi.org/10.1145/2382196.2382263
    """
    _check_length("private_n_grams", "size", size)
    for name, value in (("longest", longest), ("trips", trips)):
        require(is_integer(value) and value >= 1, "private_n_grams", name, "a whole number of at least 1", value)
    numbers, names = encode_places(ways, places)
    question = f"sequences of {len(names)} places, up to {size}"
    paid = spend_budget(ways, (epsilon, accountant, analyst), question, sensitivity=trips * longest * size)
    some = _sample_with_places(ways.points, numbers, trips)
    early = np.arange(len(some)) - some.offsets[some.trajectory] < longest
    grown = _grow_tree(_n_gram_rows(select_points(some, early), size), names, size, trips * longest, paid)
    return SequenceCounts(**grown, middles=cell_centers(places))


def _check_length(owner: str, name: str, length: int) -> None:
    """Refuse sequences so long that a memory may not hold them, however many points there are."""
    good = is_integer(length) and 1 <= length <= MOST_LENGTH
    require(good, owner, name, f"a whole number from 1 to {MOST_LENGTH}", length)


def _grow_tree(rows: Integers, names: tuple[str, ...], height: int, sensitivity: int, paid: Fraction) -> dict[str, Any]:
    """Grow a noisy tree of sequences, level by level: every place may follow every sequence that was kept."""
    levels: list[tuple[Integers, Integers]] = []
    prefixes, parents = np.zeros((1, 0), dtype=np.int64), None
    scale, threshold = 0.0, 0
    for depth in range(height):
        if not 0 < len(prefixes) * len(names) <= MAX_CHILDREN:
            break
        found = add_discrete_laplace(
            _count_children(rows, prefixes, depth, len(names)).ravel(), sensitivity=sensitivity, epsilon=paid / height
        )
        scale, threshold = found.scale, ceil(2 * sqrt(2) * found.scale)
        kept = np.flatnonzero(found.numbers >= threshold)
        prefix, place = np.divmod(kept, len(names))
        chosen = found.numbers[kept] if parents is None else _enforce_consistency(found.numbers[kept], prefix, parents)
        prefixes, parents = np.column_stack([prefixes[prefix], place]), chosen
        levels.append((prefixes, chosen))
    return {
        "names": names,
        "levels": tuple(levels),
        "scale": scale,
        "threshold": threshold,
        "epsilon": float(paid),
    }


def _sample_with_places(points: Points, numbers: Integers, trips: int) -> Points:
    """Return at most so many ways of everybody, with the numbers of public places."""
    return sample_trajectories(replace(points, places=numbers), trips, KeyedRandom())


def _n_gram_rows(points: Points, size: int) -> Integers:
    """Return for every point its place and those that follow in its way, -1 where the way has ended."""
    assert points.places is not None  # noqa: S101 - they were just given
    at = np.arange(len(points))[:, None] + np.arange(size)
    inside = at < points.offsets[1:][points.trajectory][:, None]
    return np.where(inside, points.places[np.minimum(at, len(points) - 1)], -1)


def _count_children(rows: Integers, prefixes: Integers, depth: int, places: int) -> Integers:
    """Count for every prefix and every place the ways that go on so; a row for every prefix."""
    known = {tuple(row): at for at, row in enumerate(prefixes.tolist())}
    going = rows[rows[:, depth] >= 0]
    at = np.array([known.get(tuple(row), -1) for row in going[:, :depth].tolist()], dtype=np.int64)
    there = at >= 0
    cells = at[there] * places + going[there, depth]
    return np.bincount(cells, minlength=len(prefixes) * places).reshape(len(prefixes), places)


def _enforce_consistency(counts: Integers, parent: Integers, of_parent: Integers) -> Integers:
    """Scale the counts of the continuations of a prefix down, so that they are no more than it has."""
    sums = np.bincount(parent, weights=counts, minlength=len(of_parent))
    share = np.minimum(1.0, of_parent / np.maximum(sums, 1.0))
    return np.floor(counts * share[parent]).astype(np.int64)


def _continuations(prefixes: Integers, level: tuple[Integers, Integers]) -> Integers:
    """Return how many ways go on after every prefix."""
    known = {tuple(row): at for at, row in enumerate(prefixes.tolist())}
    longer, counts = level
    at = np.array([known[tuple(row)] for row in longer[:, :-1].tolist()], dtype=np.int64)
    return np.bincount(at, weights=counts, minlength=len(prefixes)).astype(np.int64)
