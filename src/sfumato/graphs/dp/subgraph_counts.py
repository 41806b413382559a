"""The number of stars of a network with differential privacy for edges, by the ladder mechanism."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from itertools import accumulate
from math import comb

import numpy as np
import numpy.typing as npt

from sfumato._neighbors import EDGE
from sfumato._randomness import KeyedRandom
from sfumato._validation import require
from sfumato.dp.accountant import Accountant, recording_refusals
from sfumato.dp.mechanisms import add_discrete_laplace
from sfumato.errors import InfeasibleError
from sfumato.graphs._kernels.dp import highest_degree_partners, triangle_statistics
from sfumato.graphs.dp._accounting import check_graph, spend_budget
from sfumato.graphs.graph import Graph

Integers = npt.NDArray[np.int64]


# The ladder mechanism: noise as large as what one edge can change in this network, or near it.


# The ladder mechanism: noise as large as what one edge can change in this network, or near it.
BATCH = 64  # draws of which half are at least 0
DIGITS = 60
SLACK = 1 - Fraction(1, 2**30)  # far more than all roundings of so many digits together
UNBOUNDED = Context(prec=DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX)
WORDS, WORD_BITS, HALF = 4, 64, 32


class LocalSensitivityAtDistance(ABC):
    """How far one edge can move a count after others changed [1]_.

    Numbers are ordered by rungs: the true one, then as many on either side as one edge can change, then as many as one
    edge can change after another one changed, and so on; a number is the less likely, the higher its rung.

    References
    ----------
    .. [1] Zhang, Cormode, Procopiuc, Srivastava, Xiao, "Private release of graph statistics using ladder functions",
       SIGMOD 2015. https://doi.org/10.1145/2723372.2737785
    """

    global_sensitivity: int  # what one edge can change in any network of so many persons
    converged: int  # after so many changes, an edge can change as much as in any network

    @abstractmethod
    def local_sensitivities(self, count: int) -> Integers:
        """Return how many numbers each of the first rungs above the true number has: I(0), I(1) and so on."""

    def draw(self, epsilon: Fraction) -> int:
        """Draw the distance from the true number: rung z has the weight exp(-|z| epsilon / 2) times its width.

        The rung is drawn by inversion of the chances of all rungs until widths converge, whatever the network is:
        rejection would take the longer, the fewer numbers a rung has, and so its duration would tell how far an edge
        can move the count. Chances are rounded, and epsilon is smaller by more than all roundings; the draw is exact.
        """
        stream = KeyedRandom()
        drawn = add_discrete_laplace(np.zeros(BATCH, dtype=np.int64), sensitivity=2, epsilon=epsilon * SLACK)
        while not (drawn.numbers >= 0).any():
            drawn = add_discrete_laplace(np.zeros(BATCH, dtype=np.int64), sensitivity=2, epsilon=epsilon * SLACK)
        beyond = int(drawn.numbers[drawn.numbers >= 0][0])  # geometric
        widths = self.local_sensitivities(self.converged)
        rung = _inverted(_chances_beyond(widths.tolist(), self.global_sensitivity, drawn.scale), stream)
        rung += beyond if rung > len(widths) else 0
        size = int(widths[rung - 1]) if 0 < rung <= len(widths) else self.global_sensitivity
        place, sign = int(stream.integers(max(size, 1), 1)[0]), 1 - 2 * int(stream.integers(2, 1)[0])
        return 0 if rung == 0 else sign * (self._below(widths, rung - 1) + 1 + place)

    def _below(self, widths: Integers, rungs: int) -> int:
        """Return how many numbers the first rungs above the true number have."""
        first = widths[:rungs]
        high, low = first >> HALF, first & (2**HALF - 1)  # sums of 64 bits could be too small for stars
        return (int(high.sum()) << HALF) + int(low.sum()) + max(rungs - len(widths), 0) * self.global_sensitivity


def _chances_beyond(widths: list[int], most: int, scale: float) -> list[Decimal]:
    """Return how likely each rung or a higher one is, times a factor, of rung 0 to the first after all widths."""
    with localcontext(UNBOUNDED):
        ratio = (-1 / Decimal(scale)).exp()
        heights = list(accumulate(widths, lambda height, _: height * ratio, initial=ratio))
        tail = 2 * most * heights.pop() / (1 - ratio)
        sizes = [*(2 * width * height for width, height in zip(widths, heights, strict=True)), tail]
        return list(accumulate([*sizes[::-1], Decimal(1)]))[::-1]


def _inverted(beyond: list[Decimal], stream: KeyedRandom) -> int:
    """Draw a rung, the last one that is more likely than a number between 0 and 1 that gets as many bits as needed."""
    drawn, bits = 0, 0
    while True:
        for word in stream.random_uint64(WORDS).tolist():
            drawn, bits = (drawn << WORD_BITS) + word, bits + WORD_BITS
        with localcontext(UNBOUNDED) as exact:
            exact.prec = DIGITS + 2 * bits
            low, high = (beyond[0] * end / 2**bits for end in (drawn, drawn + 1))
        possible, certain = (int(sum(each > low for each in beyond)), int(sum(each >= high for each in beyond)))
        if possible == certain:
            return certain - 1


def pareto_front(one: Integers, other: Integers) -> tuple[Integers, Integers]:
    """Keep the pairs of numbers that no other pair beats in both; the first descend, and the second ascend."""
    order = np.lexsort((-other, -one))
    first, second = one[order], other[order]
    better = np.diff(np.maximum.accumulate(second), prepend=-1) > 0
    return first[better], second[better]


STARS_CALLER = "private_stars"
LEAVES = (2, 3)


@dataclass(frozen=True, kw_only=True)
class PrivateStars:
    """A noisy number of stars.

    Parameters
    ----------
    stars : the number, between 0 and the most that so many persons can have.
    leaves : how many leaves each has.
    persons : the number of persons, which is public.
    epsilon : what was paid, as an exact decimal number.
    neighbors : what the epsilon is about.
    """

    stars: int
    leaves: int
    persons: int
    epsilon: str
    neighbors: str = EDGE


@recording_refusals
def private_stars(
    network: Graph, *, leaves: int = 2, epsilon: float | str, accountant: Accountant, analyst: str
) -> PrivateStars:
    """Count stars, persons with some of their neighbors, with pure differential privacy for edges.

    A person with d neighbors is in the middle of d (d - 1) / 2 stars with two leaves. One edge changes as many stars
    as its two persons have choices of the other leaves, which is far less in most networks than in the worst one; the
    ladder mechanism uses it as `private_triangles` does.

    Parameters
    ----------
    network, epsilon, accountant, analyst : as for `private_degrees`; there must be more persons than leaves.
    leaves : how many leaves a star has, 2 or 3.

    Examples
    --------
    >>> friends = Graph.from_edges([(0, 1), (0, 2), (0, 3), (1, 2)])
    >>> count_stars(friends, 2), star_sensitivity(friends, 2).local_sensitivities(3).tolist()
    (5, [3, 4, 4])
    """
    check_graph(network)
    require(leaves in LEAVES, STARS_CALLER, "leaves", " or ".join(map(str, LEAVES)), leaves)
    persons = len(network)
    if persons <= leaves:
        raise InfeasibleError("Stars need more persons than leaves; count them in a larger network.")
    exact, paid = spend_budget(network, epsilon, accountant, analyst, f"stars with {leaves} leaves of a network")
    found = count_stars(network, leaves) + star_sensitivity(network, leaves).draw(exact)
    most = persons * comb(persons - 1, leaves)
    return PrivateStars(stars=min(max(found, 0), most), leaves=leaves, persons=persons, epsilon=paid)


@dataclass(frozen=True, kw_only=True, eq=False)
class StarSensitivity(LocalSensitivityAtDistance):
    """How far one edge can move the number of stars after others changed.

    Parameters
    ----------
    high, low : for pairs of persons, how many others they know, the more sociable one first.
    persons : the number of persons.
    leaves : how many leaves a star has.
    """

    high: Integers
    low: Integers
    persons: int
    leaves: int

    @property
    def global_sensitivity(self) -> int:  # type: ignore[override]  # it follows from the others
        """What one edge can change in any network: the stars of two persons who know everybody."""
        return 2 * comb(self.persons - 2, self.leaves - 1)

    @property
    def converged(self) -> int:  # type: ignore[override]  # the same
        """After so many changes, two persons can know everybody."""
        return 2 * self.persons

    def local_sensitivities(self, count: int) -> Integers:
        """Return the most stars that an edge can change after 0, 1, 2 ... others changed.

        Each change gives one person of a pair another neighbor, and since stars grow faster than neighbors, it is best
        that the more sociable one gets all until she knows everybody.
        """
        found, changes = np.zeros(count, dtype=np.int64), np.arange(count)
        others = self.persons - 2
        for high, low in zip(self.high.tolist(), self.low.tolist(), strict=True):
            first = np.minimum(high + changes, others)
            second = np.minimum(low + changes - (first - high), others)
            np.maximum(
                found,
                binomial_coefficients(first, self.leaves - 1) + binomial_coefficients(second, self.leaves - 1),
                out=found,
            )
        return found


def binomial_coefficients(numbers: Integers, taken: int) -> Integers:
    """Return in how many ways so many of each number can be taken.

    >>> binomial_coefficients(np.array([0, 1, 4]), 2).tolist()
    [0, 0, 6]
    """
    found = np.ones_like(numbers)
    for step in range(taken):
        found = found * (numbers - step) // (step + 1)
    return found


def count_stars(network: Graph, leaves: int) -> int:
    """Count stars exactly; for the owner's eyes only."""
    return sum(comb(degree, leaves) * int(often) for degree, often in enumerate(np.bincount(network.degrees)))


def star_sensitivity(network: Graph, leaves: int) -> StarSensitivity:
    """Find how far edges can move the number of stars; for the owner's eyes only.

    The best partner of a person is the stranger or the neighbor of highest degree, so nobody else is looked at.
    """
    degrees = network.degrees
    found = np.empty((len(network), 2), dtype=np.int64)
    highest_degree_partners(network.offsets, network.neighbors, np.argsort(-degrees, kind="stable"), found)
    mine = np.stack([degrees, degrees - 1], axis=1)  # the edge itself does not count
    theirs = found - [0, 1]
    there = found >= 0
    high, low = np.maximum(mine, theirs)[there], np.minimum(mine, theirs)[there]
    first, second = pareto_front(high, low)
    return StarSensitivity(high=first, low=second, persons=len(network), leaves=leaves)


# The number of triangles of a network with differential privacy for edges, by the ladder mechanism.

CORNERS = 3
NOBODY = -(2**40)  # far below what any pair shares


@dataclass(frozen=True, kw_only=True)
class PrivateTriangles:
    """A noisy number of triangles.

    Parameters
    ----------
    triangles : the number, between 0 and the most that so many persons can have.
    persons : the number of persons, which is public.
    epsilon : what was paid, as an exact decimal number.
    neighbors : what the epsilon is about.
    """

    triangles: int
    persons: int
    epsilon: str
    neighbors: str = EDGE


@recording_refusals
def private_triangles(
    network: Graph, *, epsilon: float | str, accountant: Accountant, analyst: str
) -> PrivateTriangles:
    """Count triangles, with pure differential privacy for edges, by the ladder mechanism [1]_.

    One edge can be in as many triangles as there are other persons, but in most networks no edge is in nearly as many,
    nor after a few changes. So numbers are ordered by rungs: the true one, then as many on either side as one edge can
    change, then as many as one edge can change after another one changed, and so on; a number is the less likely, the
    higher its rung. Draws are exact.

    Parameters
    ----------
    network, epsilon, accountant, analyst : as for `private_degrees`; there must be at least three persons.

    References
    ----------
    .. [1] Zhang, Cormode, Procopiuc, Srivastava, Xiao, "Private release of graph statistics using ladder functions",
       SIGMOD 2015. https://doi.org/10.1145/2723372.2737785
    """
    persons = len(network)
    if persons < CORNERS:
        raise InfeasibleError("Triangles need at least three persons; count them in a larger network.")
    exact, paid = spend_budget(network, epsilon, accountant, analyst, "triangles of a network")
    count, ladder = triangle_sensitivity(network)
    found = count + ladder.draw(exact)
    return PrivateTriangles(triangles=min(max(found, 0), comb(persons, CORNERS)), persons=persons, epsilon=paid)


@dataclass(frozen=True, kw_only=True, eq=False)
class TriangleSensitivity(LocalSensitivityAtDistance):
    """How far one edge can move the number of triangles after others changed.

    Parameters
    ----------
    shared : numbers of common neighbors that pairs of persons have.
    halves : for each of these, the most persons who know exactly one of such a pair.
    global_sensitivity : what one edge can change in any network: the number of other persons.
    """

    shared: Integers
    halves: Integers
    global_sensitivity: int

    def local_sensitivities(self, count: int) -> Integers:
        """Return the most triangles that an edge can change after 0, 1, 2 ... others changed.

        Each change gives a pair another common neighbor while somebody knows one of the two, and half of one later. Of
        pairs that still have such neighbors, those that share most count; of others, by what both numbers come to. The
        work is the same for all networks of so many persons.
        """
        changes = np.arange(count)
        still, used = (np.full(count + 1, NOBODY) for _ in range(2))
        halves = np.minimum(self.halves, count)
        np.maximum.at(still, halves, self.shared)
        np.maximum.at(used, halves, 2 * self.shared + halves)
        whole = np.maximum.accumulate(still[::-1])[::-1][:count] + changes
        half = (np.append(NOBODY, np.maximum.accumulate(used)[: count - 1])[:count] + changes) // 2
        return np.clip(np.maximum(whole, half), 0, self.global_sensitivity)

    @property
    def converged(self) -> int:  # type: ignore[override]  # it follows from the others
        """After so many changes, an edge can change as much as in any network."""
        return 2 * self.global_sensitivity + 1


def triangle_sensitivity(network: Graph) -> tuple[int, TriangleSensitivity]:
    """Count triangles exactly, and find how far edges can move the count; for the owner's eyes only."""
    order = np.argsort(-network.degrees, kind="stable")
    triangles, halves = triangle_statistics(network.offsets, network.neighbors, order)
    known = np.flatnonzero(halves >= 0)
    return int(triangles), TriangleSensitivity(shared=known, halves=halves[known], global_sensitivity=len(network) - 2)
