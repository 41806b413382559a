"""The number of stars of a network with differential privacy for edges, by the ladder mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from sfumato.coding.kernels.star_partners import highest_degree_partners
from sfumato.exceptions import InfeasibleError
from sfumato.neighbors import EDGE
from sfumato.networks.ladder import Integers, LocalSensitivityAtDistance, pareto_front
from sfumato.networks.network import Graph
from sfumato.networks.paying import check_graph, spend_budget
from sfumato.queries.private.accountant import Accountant, recording_refusals
from sfumato.validation import require

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
    >>> count_stars(friends, 2), star_sensitivity(friends, 2).widths(3).tolist()
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
