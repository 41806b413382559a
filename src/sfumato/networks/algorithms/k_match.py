"""k-match: rows of k persons who can take each other's place, and the edges that this needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.coding.kernels.aligning import anneal_rows, count_classes
from sfumato.kinds.search import KindRequest
from sfumato.networks.algorithms.sangreea import Sangreea
from sfumato.networks.network import Network, sorted_edges
from sfumato.networks.promise import Published
from sfumato.networks.promises.edge_confidence import EdgeConfidence
from sfumato.networks.promises.k_automorphism import KAutomorphism
from sfumato.networks.promises.k_candidates import KCandidates
from sfumato.networks.promises.k_degree import KDegree
from sfumato.networks.promises.k_isomorphism import KIsomorphism
from sfumato.networks.promises.k_neighborhood import KNeighborhood
from sfumato.networks.refinement import refined
from sfumato.networks.search import NetworkSearch, asked_k
from sfumato.randomness import Stream
from sfumato.validation import is_whole, require

MOST_CLASSES = 200_000_000  # that are counted one by one
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, repr=False)
class KMatch(NetworkSearch):
    r"""Arrange persons in rows of $k$, and add what is missing so that all can move one place on at once [1]_.

    Every arrangement keeps `KAutomorphism`, and so `KDegree`, `KCandidates` and `KNeighborhood`; the search only makes
    it cheap. It starts from rows of alike neighbors, of alike degrees, or of columns along a path through the network,
    whichever needs fewest edges, and lets persons change places by simulated annealing. For `KIsomorphism` and
    `EdgeConfidence` edges between columns are removed first. Persons without relations fill the last row, which
    the release tells. Networks of so many persons that $n^2 / k$ exceeds 200 million keep their first rows.

    Parameters
    ----------
    turns : how many changes are tried for each person.

    References
    ----------
    .. [1] Zou, Chen, Özsu, "k-automorphism: a general framework for privacy preserving network publication",
       VLDB 2009. https://doi.org/10.14778/1687627.1687734
    """

    name = "k-match"
    reference = "Zou, Chen, Özsu 2009, https://doi.org/10.14778/1687627.1687734"
    serves: ClassVar = (KAutomorphism, KIsomorphism, KCandidates, KNeighborhood, KDegree, EdgeConfidence)

    turns: int = 100

    def __post_init__(self) -> None:
        require(is_whole(self.turns) and self.turns >= 0, self, "turns", "a whole number of at least 0", self.turns)

    def find(self, request: KindRequest[Published]) -> Network:
        """Arrange persons, and close the edges under moving one place on."""
        original = request.data
        assert isinstance(original, Network)  # noqa: S101 - originals are graphs
        limits = [each.limit for each in request.models if isinstance(each, EdgeConfidence)]
        wide = max([asked_k(request), *(int(np.ceil(1 / limit - 1e-12)) for limit in limits)])
        copies = bool(limits) or any(isinstance(each, KIsomorphism) for each in request.models)
        if wide == 1:
            return original.with_edges(original.edges)
        network = filled(original, wide)
        place = self._arranged(network, wide, request.stream, copies=copies)
        rows = np.empty((len(network) // wide, wide), dtype=np.int64)
        rows[place // wide, place % wide] = np.arange(len(network))
        edges = closed(network, place, wide, copies=copies)
        return replace(network.with_edges(edges), alignment=rows)

    def _arranged(self, network: Network, wide: int, stream: Stream, *, copies: bool) -> Places:
        """Return the place of every person, row by row."""
        rows = len(network) // wide
        if rows * rows * wide > MOST_CLASSES:
            return starts(network, wide)[0]
        best, least = np.zeros(0, dtype=np.int64), -1
        for place in starts(network, wide):
            counts = np.zeros(rows * rows * wide, dtype=np.int16)
            cost = count_classes(network.edges, place // wide, place % wide, wide, counts, copies)
            if least < 0 or cost < least:
                best, least = place, cost
        counts = np.zeros(rows * rows * wide, dtype=np.int16)
        row, column = best // wide, best % wide
        count_classes(network.edges, row, column, wide, counts, copies)
        words = stream.words(3 * self.turns * len(network))
        graph = network.offsets, network.neighbors
        anneal_rows(graph, row, column, wide, counts, words, wide / 2, copies)
        return row * wide + column


def filled(network: Network, wide: int) -> Network:
    """Add persons without relations until all rows are full."""
    missing = -len(network) % wide
    keys = pa.array(np.arange(len(network) + missing))
    return Network(keys=keys, edges=network.edges)


def starts(network: Network, wide: int) -> list[Places]:
    """Return the places of every person in some simple arrangements."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    count = len(network)
    alike = Sangreea(attributes=0).grown(network, wide)
    by_node = np.argsort(alike, kind="stable")
    by_degree = np.lexsort((refined(network, 2), -network.degrees))
    ones = np.ones(len(network.neighbors), dtype=np.int8)
    matrix = csr_array((ones, network.neighbors, network.offsets), shape=(count, count))
    along = np.asarray(reverse_cuthill_mckee(matrix, symmetric_mode=True), dtype=np.int64)
    blocks = along.reshape(wide, -1)
    ranked = np.take_along_axis(blocks, np.argsort(-network.degrees[blocks], axis=1, kind="stable"), axis=1)
    found = []
    for order in (by_node, by_degree, np.ascontiguousarray(ranked.T).reshape(-1)):
        place = np.empty(count, dtype=np.int64)
        place[order] = np.arange(count)
        found.append(place)
    return found


def closed(network: Network, place: Places, wide: int, *, copies: bool) -> npt.NDArray[np.int32]:
    """Return the edges of a network in which all can move one place on."""
    ends = network.edges.astype(np.int64)
    at = np.empty(len(network), dtype=np.int64)
    at[place] = np.arange(len(network))
    row, column = place[ends] // wide, place[ends] % wide
    if copies:
        inside = column[:, 0] == column[:, 1]
        row, column = row[inside], column[inside]
    moved = [(row * wide + (column + step) % wide) for step in range(wide)]
    found = np.unique(np.sort(at[np.concatenate(moved)], axis=1), axis=0)
    return sorted_edges(found)
