"""The number of triangles of a network with differential privacy for edges, by the ladder mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from sfumato.coding.kernels.shared_neighbors import triangle_statistics
from sfumato.exceptions import InfeasibleError
from sfumato.neighbors import EDGE
from sfumato.networks.ladder import Integers, LocalSensitivityAtDistance
from sfumato.networks.network import Graph
from sfumato.networks.paying import spend_budget
from sfumato.queries.private.accountant import Accountant, recording_refusals

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
    most : what one edge can change in any network: the number of other persons.
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
