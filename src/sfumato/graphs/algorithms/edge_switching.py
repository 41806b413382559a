"""Switching of edges: everybody keeps her number of neighbors, and no shown edge is sure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato._randomness import KeyedRandom, secret_from_seed
from sfumato._validation import is_integer, require
from sfumato.core.algorithm import Request
from sfumato.errors import InfeasibleError
from sfumato.graphs._kernels.random_graphs import switch_to_other_pairs
from sfumato.graphs.algorithms._base import GraphAlgorithm
from sfumato.graphs.graph import Graph, SwitchedEdges
from sfumato.graphs.models._base import PublishedGraph
from sfumato.graphs.models.edge_disclosure import EdgeDisclosure
from sfumato.graphs.models.l_opacity import DegreePairTypes

TRIES = 100  # for each edge
DRAWS = 20  # of edges to be switched
MIN_RUNS = 10


@dataclass(frozen=True, kw_only=True, repr=False)
class EdgeSwitching(GraphAlgorithm):
    """Switch a share of the edges, drawn at random: x-y and u-v become x-v and u-y [1]_.

    Everybody keeps her number of neighbors. If the belief in an edge may be at most 1 - p, a share p of the edges is
    switched, none of them to a pair that is related in the original. Their number is published, so the belief of
    somebody who knows nothing else is the exact share of edges that were not switched; that is what `EdgeDisclosure`
    promises. Who also knows the degrees of two persons believes more of some pairs, and for this there is no formula:
    the switching is repeated, and the share of original edges is counted among those shown between persons of the same
    two degrees. The mean of this belief over original edges that are shown is told (`belief-by-degrees`) with its 95 %
    interval over the runs, and the largest one. It is measured and not promised, and on networks with hubs it is large;
    so is what the published network itself tells of edges between hubs and with common neighbors (`larger-belief`).

    Parameters
    ----------
    runs : how many times the switching is repeated to measure that belief, at least 10.

    References
    ----------
    .. [1] Ying, Wu, "Randomizing social networks: a spectrum preserving approach", SDM 2008.
       https://doi.org/10.1137/1.9781611972788.67
    """

    name = "edge-switching"
    reference = "Ying, Wu 2008, https://doi.org/10.1137/1.9781611972788.67"
    supports: ClassVar = (EdgeDisclosure,)

    runs: int = 20

    def __post_init__(self) -> None:
        good = is_integer(self.runs) and self.runs >= MIN_RUNS
        require(good, self, "runs", f"a whole number of at least {MIN_RUNS}", self.runs)

    def search(self, request: Request[PublishedGraph]) -> Graph:
        """Switch as many edges as the limit asks for."""
        network, limit = request.data, min(each.limit for each in request.models)
        assert isinstance(network, Graph)  # noqa: S101 - originals are graphs
        count = _required_switches(network.n_edges, limit)
        if not count:
            return network.with_edges(network.edges)
        edges, _ = switch_edges(network, count, request.stream)
        return replace(network.with_edges(edges), noise=SwitchedEdges(count=count))

    def search_metrics(self, original: Graph, request: Request[PublishedGraph]) -> Mapping[str, float]:
        """Return what somebody believes who knows the degrees of two persons, measured over repeated runs."""
        count = _required_switches(original.n_edges, min(each.limit for each in request.models))
        if not count:
            return {}
        found = [switch_edges(original, count, KeyedRandom(secret_from_seed(run))) for run in range(self.runs)]
        means, largest = _posteriors(DegreePairTypes.from_degrees(original.degrees), found)
        from scipy.stats import t

        reach = float(t.ppf(0.975, self.runs - 1) * means.std(ddof=1) / np.sqrt(self.runs))
        return {
            "belief-by-degrees": float(means.mean()),
            "belief-by-degrees-low": max(float(means.mean()) - reach, 0.0),
            "belief-by-degrees-high": min(float(means.mean()) + reach, 1.0),
            "largest-belief-by-degrees": largest,
        }


def switch_edges(
    network: Graph, count: int, stream: KeyedRandom
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Switch so many edges; return all edges, and which of them are original."""
    for _ in range(DRAWS):
        edges, chosen = network.edges.copy(), stream.permutation(network.n_edges)[:count]
        if not switch_to_other_pairs(edges, chosen, len(network), stream.random_uint64(TRIES * count)):
            kept = np.ones(len(edges), dtype=np.bool_)
            kept[chosen] = False
            return edges, kept
    raise InfeasibleError(
        f"No other pairs were found for {count:,} edges that must be switched; allow a larger belief."
    )


def _required_switches(edges: int, limit: float) -> int:
    """Return how many of the edges must be switched; one alone cannot be."""
    count = max(int((1 - limit) * edges) - 1, 0)
    while count < edges and (edges - count) / edges > limit:
        count += 1
    return max(count, 2) if count and edges > 1 else count


def _posteriors(
    types: DegreePairTypes, runs: Sequence[tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]]
) -> tuple[npt.NDArray[np.float64], float]:
    """Return for each run the mean belief in its original edges, as the other runs tell it, and the largest of all.

    The belief in an edge is the share of original ones among those shown between persons of the same two degrees; it is
    1 where the other runs show none.
    """
    kinds, which = np.unique(np.concatenate([types.edge_pair_types(edges) for edges, _ in runs]), return_inverse=True)
    kind = which.reshape(len(runs), -1)
    shown = np.bincount(kind.reshape(-1), minlength=len(kinds))
    kept = np.bincount(kind.reshape(-1), weights=np.concatenate([stays for _, stays in runs]), minlength=len(kinds))
    means = []
    for mine, (_, stays) in zip(kind, runs, strict=True):
        others = shown - np.bincount(mine, minlength=len(kinds))
        right = kept - np.bincount(mine, weights=stays, minlength=len(kinds))
        belief = np.where(others > 0, right / np.maximum(others, 1), 1.0)
        means.append(belief[mine[stays]].mean() if stays.any() else 0.0)
    return np.array(means), float((kept / shown).max())
