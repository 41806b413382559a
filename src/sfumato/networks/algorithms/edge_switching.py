"""Switching of edges: everybody keeps her number of neighbors, and no shown edge is sure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.switching import switch_away
from sfumato.exceptions import InfeasibleError
from sfumato.kinds.search import KindRequest
from sfumato.networks.network import Network, SwitchedEdges
from sfumato.networks.promise import Published
from sfumato.networks.promises.edge_confidence import EdgeConfidence
from sfumato.networks.search import NetworkSearch
from sfumato.randomness import Stream, repeatable_secret
from sfumato.validation import is_whole, require

TRIES = 100  # for each edge
DRAWS = 20  # of edges to be switched
FEWEST_RUNS = 10


@dataclass(frozen=True, kw_only=True, repr=False)
class EdgeSwitching(NetworkSearch):
    """Switch a share of the edges, drawn at random: x-y and u-v become x-v and u-y [1]_.

    Everybody keeps her number of neighbors. If the belief in an edge may be at most 1 - p, a share p of the edges is
    switched, none of them to a pair that is related in the original. Their number is published, so the belief of
    somebody who knows nothing else is the exact share of edges that were not switched; that is what `EdgeConfidence`
    promises. Who also knows the degrees of two persons believes more of some pairs, and for this there is no formula:
    the switching is repeated, and the mean share of original edges among those shown between persons of the same two
    degrees is told (`belief-by-degrees`), with a 95 % interval over the runs and the largest share. It is measured, not
    promised.

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
    serves: ClassVar = (EdgeConfidence,)

    runs: int = 20

    def __post_init__(self) -> None:
        good = is_whole(self.runs) and self.runs >= FEWEST_RUNS
        require(good, self, "runs", f"a whole number of at least {FEWEST_RUNS}", self.runs)

    def find(self, request: KindRequest[Published]) -> Network:
        """Switch as many edges as the limit asks for."""
        network, limit = request.data, min(each.limit for each in request.models)
        assert isinstance(network, Network)  # noqa: S101 - originals are graphs
        count = _asked(network.size, limit)
        if not count:
            return network.with_edges(network.edges)
        edges, _ = switched(network, count, request.stream)
        return replace(network.with_edges(edges), noise=SwitchedEdges(count=count))

    def told(self, original: Network, request: KindRequest[Published]) -> Mapping[str, float]:
        """Return what somebody believes who knows the degrees of two persons, measured over repeated runs."""
        count = _asked(original.size, min(each.limit for each in request.models))
        if not count:
            return {}
        # these runs protect nobody, and so a seed repeats them
        shares = [
            _shares(original, *switched(original, count, Stream(repeatable_secret(run)))) for run in range(self.runs)
        ]
        means = np.array([each.mean() for each in shares])
        from scipy.stats import t

        reach = float(t.ppf(0.975, self.runs - 1) * means.std(ddof=1) / np.sqrt(self.runs))
        return {
            "belief-by-degrees": float(means.mean()),
            "belief-by-degrees-low": float(means.mean()) - reach,
            "belief-by-degrees-high": min(float(means.mean()) + reach, 1.0),
            "largest-belief-by-degrees": float(np.mean([each.max() for each in shares])),
        }


def switched(network: Network, count: int, stream: Stream) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Switch so many edges; return all edges, and which of them are original."""
    for _ in range(DRAWS):
        edges, chosen = network.edges.copy(), stream.permutation(network.size)[:count]
        if not switch_away(edges, chosen, len(network), stream.words(TRIES * count)):
            kept = np.ones(len(edges), dtype=np.bool_)
            kept[chosen] = False
            return edges, kept
    raise InfeasibleError(
        f"No other pairs were found for {count:,} edges that must be switched; allow a larger belief."
    )


def _asked(edges: int, limit: float) -> int:
    """Return how many of the edges must be switched; one alone cannot be."""
    count = max(int((1 - limit) * edges) - 1, 0)
    while count < edges and (edges - count) / edges > limit:
        count += 1
    return max(count, 2) if count and edges > 1 else count


def _shares(network: Network, edges: npt.NDArray[np.int32], kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Return for every shown edge the share of original ones among those between persons of the same two degrees."""
    ends = np.sort(network.degrees[edges], axis=1)
    _, kind = np.unique(ends[:, 0] * (len(network) + 1) + ends[:, 1], return_inverse=True)
    kind = kind.reshape(-1)
    return np.asarray((np.bincount(kind, weights=kept) / np.bincount(kind))[kind])
