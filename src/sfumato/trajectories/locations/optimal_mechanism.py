"""The mechanism that keeps geo-indistinguishability and moves places least, for a public prior on few places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato._randomness import KeyedRandom
from sfumato._validation import is_finite_number, require
from sfumato.errors import InfeasibleError, SchemaError
from sfumato.trajectories.geometry import haversine
from sfumato.trajectories.locations._input import parse_degrees

Floats = npt.NDArray[np.float64]
Pairs = npt.NDArray[np.int64]
MAX_PLACES = 100
MAX_EXACT = 25  # places up to which all pairs are constrained
STRETCH = 1.1  # by how much the ways over a spanner are longer than the distances
FAR = 18.0  # epsilon times distance, from which on a ratio may be so large that the uniform choice alone keeps it
FARTHEST = 40.0  # epsilon times distance, above which no larger ratio is allowed; it would not be found in parts
PARTS = 2**60  # of one, by which shares are drawn
TIGHT = 1 - 1e-12  # bounds are taken a little smaller, for their powers are rounded


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OptimalMechanism:
    r"""Report one of a few public places instead of the true one, and move as little as epsilon allows [1]_.

    Of places at distance d, each reports any place at most $e^{\varepsilon d}$ times as often as the other. Among all
    such mechanisms the one with the smallest expected distance is found by linear programming. Above 25 places only
    near pairs are constrained, by a smaller epsilon that suffices for all; this costs a few percent. The solver is
    exact to some seven digits; the result is mixed with a uniform choice until every ratio is kept, in whole parts by
    which reports are drawn.

    Parameters
    ----------
    epsilon : the privacy loss per meter.
    places : longitude and latitude of every place, at most 100 rows.
    prior : how likely a person is at each place, known to everybody; by default all alike.

    References
    ----------
    .. [1] Bordenabe, Chatzikokolakis, Palamidessi, "Optimal geo-indistinguishable mechanisms for location privacy",
       CCS 2014. https://doi.org/10.1145/2660267.2660345
    """

    epsilon: float
    places: npt.ArrayLike
    prior: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        require(is_finite_number(self.epsilon) and self.epsilon > 0, self, "epsilon", "a number above 0", self.epsilon)
        places = self._places
        good = places.ndim == 2 and places.shape[1] == 2 and 2 <= len(places) <= MAX_PLACES  # noqa: PLR2004 - degrees
        require(good, self, "places", f"2 to {MAX_PLACES} rows of longitude and latitude", type(self.places).__name__)
        parse_degrees(places)
        if len(np.unique(places, axis=0)) < len(places):
            raise SchemaError("Some places are given more than once; give each once, with its whole share.")
        check_prior(self.prior, len(places))

    @cached_property
    def _places(self) -> Floats:
        return np.asarray(self.places, dtype=np.float64)

    @cached_property
    def distances(self) -> Floats:
        """The distances of all pairs of places, in meters."""
        x, y = self._places.T
        return haversine(x[:, None], y[:, None], x[None, :], y[None, :])

    @cached_property
    def matrix(self) -> Floats:
        """How often every place reports each, a row for every true place."""
        return self._parts / float(PARTS)

    @cached_property
    def _parts(self) -> Pairs:
        return solve_mechanism(self.distances, check_prior(self.prior, len(self._places)), self.epsilon)

    @property
    def mean_error(self) -> float:
        """The expected distance between true and reported place, in meters."""
        prior = check_prior(self.prior, len(self._places))
        return float((prior[:, None] * self.matrix * self.distances).sum())

    def perturb(self, true: npt.NDArray[np.int64] | list[int]) -> Pairs:
        """Draw the reported place of every true place, both by their numbers."""
        numbers, count = np.asarray(true, dtype=np.int64), len(self._places)
        if len(numbers) and (numbers.min() < 0 or numbers.max() >= count):
            raise SchemaError(f"Places are numbered from 0 to {count - 1}; some number is not among them.")
        drawn, found = KeyedRandom().integers(PARTS, len(numbers)), np.empty(len(numbers), dtype=np.int64)
        for place, ends in enumerate(np.cumsum(self._parts, axis=1)):
            there = numbers == place
            found[there] = np.searchsorted(ends, drawn[there], side="right")
        return found


def check_prior(prior: npt.ArrayLike | None, count: int) -> Floats:
    """Return a prior as shares that sum to 1; by default all alike."""
    if prior is None:
        return np.full(count, 1 / count)
    shares = np.asarray(prior, dtype=np.float64)
    if shares.shape != (count,) or not np.isfinite(shares).all() or (shares < 0).any() or not shares.sum():
        raise SchemaError(f"The prior must have {count} shares of at least 0, one for every place.")
    return np.asarray(shares / shares.sum(), dtype=np.float64)


def solve_mechanism(distances: Floats, prior: Floats, epsilon: float) -> Pairs:
    """Find the mechanism with the smallest expected distance, in whole parts; distances and epsilon have one unit."""
    if len(distances) <= MAX_EXACT:
        pairs, used = _all_pairs(len(distances)), epsilon
    else:
        pairs, used = greedy_spanner(distances, STRETCH), epsilon / STRETCH
    near = pairs[used * distances[tuple(pairs.T)] <= FAR]
    solved = _solve_linear_program(distances, prior, near, used) if len(near) else np.eye(len(distances))
    return mix_with_uniform(solved, distances, epsilon)


def _all_pairs(count: int) -> Pairs:
    first, second = np.nonzero(~np.eye(count, dtype=np.bool_))
    return np.column_stack([first, second])


def greedy_spanner(distances: Floats, stretch: float) -> Pairs:
    """Choose pairs, shortest first, such that the way over chosen ones is at most `stretch` times any distance."""
    count = len(distances)
    reach = np.where(np.eye(count, dtype=np.bool_), 0.0, np.inf)
    chosen = []
    first, second = np.triu_indices(count, 1)
    for number in np.argsort(distances[first, second], kind="stable"):
        a, b = first[number], second[number]
        if reach[a, b] > stretch * distances[a, b]:
            chosen += [(a, b), (b, a)]
            around = np.minimum(
                reach[:, [a]] + distances[a, b] + reach[[b], :], reach[:, [b]] + distances[a, b] + reach[[a], :]
            )
            reach = np.minimum(reach, around)
    return np.array(chosen, dtype=np.int64)


def _solve_linear_program(distances: Floats, prior: Floats, pairs: Pairs, epsilon: float) -> Floats:
    """Solve the linear program of the smallest expected distance."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    count, many = len(distances), len(pairs)
    column = np.tile(np.arange(count), many)
    row = np.arange(many * count)
    first, second = (np.repeat(side, count) * count + column for side in pairs.T)
    factor = np.repeat(np.exp(epsilon * distances[pairs[:, 0], pairs[:, 1]]), count)
    bounds: Any = coo_array(
        (np.concatenate([np.ones(many * count), -factor]), (np.tile(row, 2), np.concatenate([first, second]))),
        shape=(many * count, count * count),
    )
    sums: Any = coo_array(
        (np.ones(count * count), (np.repeat(np.arange(count), count), np.arange(count * count))),
        shape=(count, count * count),
    )
    found = linprog(
        (prior[:, None] * distances).ravel(),
        A_ub=bounds.tocsr(),
        b_ub=np.zeros(many * count),
        A_eq=sums.tocsr(),
        b_eq=np.ones(count),
        bounds=(0, 1),
        method="highs-ipm",  # several times as fast here as the simplex method
    )
    if found.x is None:
        raise InfeasibleError("The solver found no mechanism; give a smaller epsilon, or fewer places.")
    shares = np.maximum(found.x.reshape(count, count), 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True), dtype=np.float64)


def mix_with_uniform(matrix: Floats, distances: Floats, epsilon: float) -> Pairs:
    """Mix a mechanism with a uniform choice, as little as is needed to keep every ratio in whole parts.

    Parts are what is drawn by, so no ratio is lost to rounding.
    """
    allowed = np.where(distances > 0, np.exp(np.minimum(epsilon * distances, FARTHEST)) * TIGHT, 1.0)
    for share in np.concatenate([[0.0], 2.0 ** np.arange(-50, 1)]):
        parts = _whole_parts((1 - share) * matrix + share / len(matrix))
        if all((parts <= allowed[:, [other]] * parts[[other], :]).all() for other in range(len(parts))):
            return parts
    raise InfeasibleError("No mechanism keeps so small an epsilon; give a larger one.")


def _whole_parts(shares: Floats) -> Pairs:
    """Return shares as whole numbers that sum to all parts; the largest one takes what rounding leaves."""
    parts = np.floor(shares * float(PARTS)).astype(np.int64)
    parts[np.arange(len(parts)), parts.argmax(axis=1)] += PARTS - parts.sum(axis=1)
    return parts
