"""k-isomorphism: the network consists of k copies of one graph, without edges between them."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np
import numpy.typing as npt

from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Verdict
from sfumato.graphs._kernels.isomorphism import SAME, are_isomorphic, neighborhood_graph
from sfumato.graphs.graph import Graph
from sfumato.graphs.models._base import GraphAnonymityModel, PublishedGraph
from sfumato.graphs.models.k_automorphism import alignment_columns, verified_column_count
from sfumato.graphs.vertex_refinement import STEPS, refine_vertices

LARGEST = 2_000  # persons of a component that is compared with others


@dataclass(frozen=True, kw_only=True, repr=False)
class KIsomorphism(GraphAnonymityModel):
    """Require that the network consists of k copies of one graph, and no edge leads from copy to copy [1]_.

    Then a relation of two persons is believed with at most 1/k, besides all that `KAutomorphism` promises. Components
    are compared with each other; those of more than 2,000 persons only by the rows of `Network.alignment`, and count as
    different where nobody shows these.

    Parameters
    ----------
    k : the number of copies.

    References
    ----------
    .. [1] Cheng, Fu, Liu, "K-isomorphism: privacy preserving network publication against structural attacks",
       SIGMOD 2010. https://doi.org/10.1145/1807167.1807218
    """

    name = "k-isomorphism"
    reference = "Cheng, Fu, Liu 2010, https://doi.org/10.1145/1807167.1807218"
    words = ModelDescription(
        title="k-isomorphism",
        level="number of copies",
        promise="The network consists of {k} copies of one graph, without edges between them.",
        stops="Every structural attack, and learning relations: every copy is as likely to hold the two persons.",
        open="Relations between copies were removed, so the network no longer shows them.",
    )

    k: int

    def evaluate(self, published: PublishedGraph) -> Verdict:
        """Count how often each component occurs."""
        graph = self.require_graph(published)
        copies = verified_column_count(graph)
        if copies and (alignment_columns(graph)[graph.edges] @ [1, -1] == 0).all():
            return Verdict(self, copies, 0 if copies >= self.k else len(graph))
        found = gcd(*_component_multiplicities(graph))
        return Verdict(self, found, 0 if found >= self.k else len(graph))


def _component_multiplicities(network: Graph) -> list[int]:
    """Return how often each kind of component occurs."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = network.edges
    matrix = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(network), len(network)))
    _, part = connected_components(matrix, directed=False)
    colors = refine_vertices(network, len(network))
    order = np.lexsort((colors, part))
    members = np.split(order, np.flatnonzero(np.diff(part[order])) + 1)
    alike: dict[bytes, list[npt.NDArray[np.int64]]] = {}
    for each in members:
        alike.setdefault(colors[each].tobytes(), []).append(each)
    return [count for group in alike.values() for count in _count_isomorphic(network, colors, group)]


def _count_isomorphic(network: Graph, colors: npt.NDArray[np.int64], group: list[npt.NDArray[np.int64]]) -> list[int]:
    """Return how often each component of a group with equal colors occurs."""
    if len(group[0]) > LARGEST:
        return [1] * len(group)
    kinds: list[tuple[tuple[npt.NDArray[np.int64], ...], npt.NDArray[np.int64]]] = []
    counts: list[int] = []
    for each in group if len(group[0]) > 1 else ():
        graph, mine = _component_graph(network, each), colors[np.sort(each)]
        for place, (other, theirs) in enumerate(kinds):
            if are_isomorphic(other, graph, theirs, mine, STEPS) == SAME:
                counts[place] += 1
                break
        else:
            kinds.append((graph, mine))
            counts.append(1)
    return counts or [len(group)]


def _component_graph(network: Graph, members: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], ...]:
    """Return the graph of some persons, as that of the neighbors of one more who knows them all."""
    chosen = np.sort(members).astype(np.int32)
    offsets = np.append(network.offsets, network.offsets[-1] + len(chosen))
    neighbors = np.append(network.neighbors, chosen)
    return neighborhood_graph(offsets, neighbors, len(network), np.full(len(network), -1, dtype=np.int32))
