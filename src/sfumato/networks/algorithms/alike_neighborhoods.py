"""Neighborhoods made alike: edges change until everybody's neighbors are related as those of k - 1 others."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.alike_neighborhoods import anneal_neighborhoods, initial_state
from sfumato.coding.kernels.growing_neighborhoods import ALONE, grow_neighborhoods
from sfumato.exceptions import InfeasibleError
from sfumato.kinds.search import Request
from sfumato.networks.algorithms.alike_rows import anonymize_by_alignment
from sfumato.networks.network import Graph
from sfumato.networks.promise import PublishedGraph
from sfumato.networks.promises.k_degree import KDegreeAnonymity
from sfumato.networks.promises.k_neighborhood import KNeighborhoodAnonymity
from sfumato.networks.search import GraphAlgorithm, required_k
from sfumato.validation import is_integer, require

LARGEST = 500  # persons, all of whom are compared with each other
MAX_ANNEALED = 200  # persons of networks to which edges are only added
STEPS = 20  # after which the search says how far it is
ANNEALING_HEAT, SLICES = 3.0, 50  # the first temperature, and the parts of a search between which it says how far it is


@dataclass(frozen=True, kw_only=True, repr=False)
class NeighborhoodAnonymization(GraphAlgorithm):
    r"""Change edges until everybody's neighbors are related as those of $k - 1$ others, for `KNeighborhoodAnonymity`.

    With edges added and removed, networks of up to 500 persons change by simulated annealing, which weighs the number
    of changed edges against how far everybody is from looking like $k - 1$ others; the fewest changes win that leave
    nobody alone. Its time grows with the square of the number of persons.

    Larger networks, and those for which it finds nothing, get rows of $k$ persons as `KMatch` finds them. Where a
    network is dense, rows change so that they can move one place on. Elsewhere edges stay that are in no triangle: they
    add somebody to a neighborhood whom nobody else in it knows, so only their number has to be that of $k - 1$ others.
    This always ends, and takes about as long as `KMatch`. On dense networks four edges in ten change; most of these
    are removed, and with them most triangles.

    With edges only added, it goes Zhou and Pei's way [1]_: the largest neighborhood that is not finished and the
    $k - 1$ cheapest others are made equal. Their components are matched, equal ones first, the others from their best
    known persons outwards; edges that one lacks are added, and missing neighbors are unfinished persons of least
    degree. Whoever sees a new edge in her neighborhood is unfinished again. It ends, on networks with hubs near the
    complete graph or in it, and serves up to 200 persons.

    Parameters
    ----------
    edges : `"change"` adds and removes edges; `"add"` keeps all edges of the original.
    turns : how many changes are tried for each person where edges are also removed; more need fewer edges.

    References
    ----------
    .. [1] Zhou, Pei, "Preserving privacy in social networks against neighborhood attacks", ICDE 2008.
       https://doi.org/10.1109/ICDE.2008.4497459
    """

    name = "alike-neighborhoods"
    reference = "Zhou, Pei 2008, https://doi.org/10.1109/ICDE.2008.4497459"
    supports: ClassVar = (KNeighborhoodAnonymity, KDegreeAnonymity)  # who has a like neighborhood has as many neighbors

    edges: Literal["change", "add"] = "change"
    turns: int = 1_000

    def __post_init__(self) -> None:
        require(self.edges in {"change", "add"}, self, "edges", '"change" or "add"', self.edges)
        require(is_integer(self.turns) and self.turns >= 1, self, "turns", "a whole number of at least 1", self.turns)

    def search(self, request: Request[PublishedGraph]) -> Graph:
        """Change edges until k persons have each neighborhood."""
        network, k = request.data, required_k(request)
        assert isinstance(network, Graph)  # noqa: S101 - originals are graphs
        bare = Graph(keys=network.keys, edges=network.edges)
        if k == 1:
            return bare
        if self.edges == "add":
            return _grow_neighborhoods(bare, k, request)
        found = self._annealed(bare, k, request) if len(bare) <= LARGEST else None
        if found is None or KNeighborhoodAnonymity(k=k).evaluate(found).violations:
            found = bare.with_edges(anonymize_by_alignment(bare, k, self.turns, request.stream, request.progress))
        return found

    def _annealed(self, network: Graph, k: int, request: Request[PublishedGraph]) -> Graph | None:
        """Return the best network that annealing found, if any; hashes guided it, so somebody must compare in full."""
        related = _adjacency_matrix(network)
        graphs, kept = (related.copy(), related, related.copy()), initial_state(related, k)
        for start, end in itertools.pairwise(np.linspace(0, 1, SLICES + 1)):
            least = int(kept[2][2])
            request.progress(float(start), f"{least:,} edges change" if least >= 0 else "")
            turns = int(end * self.turns * len(network)) - int(start * self.turns * len(network))
            heats = float(ANNEALING_HEAT * (1 - start)), float(ANNEALING_HEAT * (1 - end))
            anneal_neighborhoods(graphs, k, kept, request.stream.random_uint64(6 * turns), heats)
        return network.with_edges(np.argwhere(np.triu(graphs[2]))) if kept[2][2] >= 0 else None


def _grow_neighborhoods(network: Graph, k: int, request: Request[PublishedGraph]) -> Graph:
    """Return a network with more edges, in which k persons have each neighborhood."""
    if len(network) > MAX_ANNEALED:
        raise InfeasibleError(
            f"NeighborhoodAnonymization only adds edges to networks of up to {MAX_ANNEALED:,} persons, and this one has "
            f"{len(network):,}; choose edges='change', or search by KMatch."
        )
    related, group = _adjacency_matrix(network), np.full(len(network), ALONE, dtype=np.int64)
    order, left = request.stream.permutation(len(network)), len(network)
    while left:
        request.progress(1 - left / len(network), f"{int(related.sum()) // 2 - network.n_edges:,} edges were added")
        left = grow_neighborhoods(related, group, k, order, STEPS)
    return network.with_edges(np.argwhere(np.triu(related)))


def _adjacency_matrix(network: Graph) -> npt.NDArray[np.bool_]:
    """Return who is related to whom."""
    related: npt.NDArray[np.bool_] = np.zeros((len(network), len(network)), dtype=np.bool_)
    related[network.edges[:, 0], network.edges[:, 1]] = related[network.edges[:, 1], network.edges[:, 0]] = True
    return related
