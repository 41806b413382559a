"""k-isomorphism: the network consists of k copies of one graph, without edges between them."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.neighborhoods import SAME, inner_graph, same_graph
from sfumato.kinds.promise import KindVerdict
from sfumato.models.words import ModelWords
from sfumato.networks.alignment import column_of, proven_columns
from sfumato.networks.network import Network
from sfumato.networks.promise import GraphPromise, Published
from sfumato.networks.refinement import STEPS, refined

LARGEST = 2_000  # persons of a component that is compared with others


@dataclass(frozen=True, kw_only=True, repr=False)
class KIsomorphism(GraphPromise):
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
    words = ModelWords(
        title="k-isomorphism",
        level="number of copies",
        promise="The network consists of {k} copies of one graph, without edges between them.",
        stops="Every structural attack, and learning relations: every copy is as likely to hold the two persons.",
        open="Relations between copies were removed, so the network no longer shows them.",
    )

    k: int

    def judge(self, published: Published) -> KindVerdict:
        """Count how often each component occurs."""
        graph = self.graph(published)
        copies = proven_columns(graph)
        if copies and (column_of(graph)[graph.edges] @ [1, -1] == 0).all():
            return KindVerdict(self, copies, 0 if copies >= self.k else len(graph))
        found = gcd(*_copies(graph))
        return KindVerdict(self, found, 0 if found >= self.k else len(graph))


def _copies(network: Network) -> list[int]:
    """Return how often each kind of component occurs."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = network.edges
    matrix = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(network), len(network)))
    _, part = connected_components(matrix, directed=False)
    colors = refined(network, len(network))
    order = np.lexsort((colors, part))
    members = np.split(order, np.flatnonzero(np.diff(part[order])) + 1)
    alike: dict[bytes, list[npt.NDArray[np.int64]]] = {}
    for each in members:
        alike.setdefault(colors[each].tobytes(), []).append(each)
    return [count for group in alike.values() for count in _counted(network, colors, group)]


def _counted(network: Network, colors: npt.NDArray[np.int64], group: list[npt.NDArray[np.int64]]) -> list[int]:
    """Return how often each component of a group with equal colors occurs."""
    if len(group[0]) > LARGEST:
        return [1] * len(group)
    kinds: list[tuple[tuple[npt.NDArray[np.int64], ...], npt.NDArray[np.int64]]] = []
    counts: list[int] = []
    for each in group if len(group[0]) > 1 else ():
        graph, mine = _part(network, each), colors[np.sort(each)]
        for place, (other, theirs) in enumerate(kinds):
            if same_graph(other, graph, theirs, mine, STEPS) == SAME:
                counts[place] += 1
                break
        else:
            kinds.append((graph, mine))
            counts.append(1)
    return counts or [len(group)]


def _part(network: Network, members: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], ...]:
    """Return the graph of some persons, as that of the neighbors of one more who knows them all."""
    chosen = np.sort(members).astype(np.int32)
    offsets = np.append(network.offsets, network.offsets[-1] + len(chosen))
    neighbors = np.append(network.neighbors, chosen)
    return inner_graph(offsets, neighbors, len(network), np.full(len(network), -1, dtype=np.int32))
