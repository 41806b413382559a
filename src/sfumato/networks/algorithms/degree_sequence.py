"""k-degree anonymity by the cheapest sequence of degrees, which edges then realize."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.degree_groups import NEVER, level_degrees, raise_degrees
from sfumato.coding.kernels.every_graph import nearest_anonymous_graph
from sfumato.exceptions import InfeasibleError
from sfumato.kinds.search import Request
from sfumato.networks.algorithms.added_edges import anonymize_by_additions
from sfumato.networks.algorithms.moved_edges import anonymize_by_edge_changes
from sfumato.networks.network import Graph
from sfumato.networks.promise import PublishedGraph
from sfumato.networks.promises.k_degree import KDegreeAnonymity
from sfumato.networks.search import GraphAlgorithm, required_k
from sfumato.randomness import KeyedRandom
from sfumato.validation import require

MAX_EXHAUSTIVE = 7  # persons of networks whose graphs are all tried
SMALL = 5_000  # edges of networks that are searched several times
TRIES = 30


@dataclass(frozen=True, kw_only=True, repr=False)
class DegreeSequence(GraphAlgorithm):
    r"""Find the cheapest degrees of which each occurs $k$ times, and change few edges to reach them [1]_.

    Degrees are sorted, and groups of $k$ to $2k - 1$ persons get one degree each, by dynamic programming in
    $O(n k)$ for $n$ persons. With edges added and removed, groups move to their medians: first edges are added between
    persons who need some and removed between persons who have too many, then ends of edges move from one to the other.
    With edges only added, groups rise to their largest degree. Somebody who needs many more neighbors then needs as
    many partners, which must rise, too: no network that contains the original has fewer raises than the bound that is
    told (`least-raises-of-any-supergraph`), and the sum that dynamic programming finds (`least-raises`) is mostly out
    of reach. Networks of up to 5,000 edges are searched 30 times, in both ways where edges may be removed, and the
    fewest changes win. Of up to seven persons all graphs are tried, so that nothing needs fewer changes. Where nothing
    else is found, everybody gets the same degree, as long as this takes at most 10 million edges.

    Parameters
    ----------
    edges : `"change"` adds and removes edges; `"add"` keeps all edges of the original.

    References
    ----------
    .. [1] Liu, Terzi, "Towards identity anonymization on graphs", SIGMOD 2008.
       https://doi.org/10.1145/1376616.1376629
    """

    name = "degree-sequence"
    reference = "Liu, Terzi 2008, https://doi.org/10.1145/1376616.1376629"
    supports: ClassVar = (KDegreeAnonymity,)

    edges: Literal["change", "add"] = "change"

    def __post_init__(self) -> None:
        require(self.edges in {"change", "add"}, self, "edges", '"change" or "add"', self.edges)

    def search(self, request: Request[PublishedGraph]) -> Graph:
        """Change edges until every degree occurs k times."""
        network, k = _original_graph(request), required_k(request)
        if len(network) <= MAX_EXHAUSTIVE:
            return network.with_edges(self._search_exhaustively(network, k, request.stream))
        best: npt.NDArray[np.int32] | None = None
        tries = TRIES if network.n_edges <= SMALL else 1
        for turn in range(tries):
            request.progress(turn / tries)
            for found in self._search_once(network, k, request.stream):
                if best is None or _count_changes(network, found) < _count_changes(network, best):
                    best = found
        if best is None:
            raise InfeasibleError(
                f"No network was found in which every degree occurs {k:,} times by this way of changing edges; "
                "choose a smaller k or edges='change'."
            )
        return network.with_edges(best)

    def _search_once(self, network: Graph, k: int, stream: KeyedRandom) -> list[npt.NDArray[np.int32]]:
        """Search once in every way that is allowed; in large networks only until something is found."""
        found = None if self.edges == "add" else anonymize_by_edge_changes(network, k, stream)
        if found is not None and network.n_edges > SMALL:
            return [found]
        return [each for each in (found, anonymize_by_additions(network, k, stream)) if each is not None]

    def _search_exhaustively(self, network: Graph, k: int, stream: KeyedRandom) -> npt.NDArray[np.int32]:
        """Try all graphs, in random order."""
        pairs = np.stack(np.triu_indices(len(network), 1), axis=1)
        pairs = pairs[stream.permutation(len(pairs))]
        before = np.zeros((len(network), len(network)), dtype=np.bool_)
        before[network.edges[:, 0], network.edges[:, 1]] = True
        joined = before[pairs[:, 0], pairs[:, 1]]
        return pairs[nearest_anonymous_graph(pairs, joined, len(network), k, self.edges == "add")].astype(np.int32)

    def search_metrics(self, original: Graph, request: Request[PublishedGraph]) -> Mapping[str, float]:
        """Return the bounds on the changes."""
        k = required_k(request)
        degrees = np.sort(original.degrees)[::-1].copy()
        if self.edges == "change":
            return {"least-degree-changes": level_degrees(degrees, k)[1]}
        _, even, least = raise_degrees(degrees, k)
        top = 2 * int((degrees[0] - degrees[:k]).sum()) - k * (k - 1)
        bounds = {"least-raises": least, "least-even-raises": even, "least-raises-of-any-supergraph": max(top, least)}
        return {name: bound for name, bound in bounds.items() if bound < NEVER}


def _original_graph(request: Request[PublishedGraph]) -> Graph:
    assert isinstance(request.data, Graph)  # noqa: S101 - originals are graphs
    return request.data


def _count_changes(network: Graph, found: npt.NDArray[np.int32]) -> int:
    """Count the edges that differ."""
    before, after = (each[:, 0].astype(np.int64) * len(network) + each[:, 1] for each in (network.edges, found))
    return len(np.setxor1d(before, after, assume_unique=True))
