"""Random change of edges, so that no shown edge is sure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato._randomness import KeyedRandom
from sfumato.core.algorithm import Request
from sfumato.errors import SchemaError
from sfumato.graphs._edge_types import without_edge_type
from sfumato.graphs.algorithms._base import GraphAlgorithm
from sfumato.graphs.clustered_graph import pairs_from_numbers
from sfumato.graphs.graph import EdgeNoise, Graph, sort_edges
from sfumato.graphs.models._base import PublishedGraph
from sfumato.graphs.models.edge_disclosure import EdgeDisclosure

TOLERANCE = 1e-12  # what more is removed than must be, so that rounding breaks no promise


@dataclass(frozen=True, kw_only=True, repr=False)
class RandomPerturbation(GraphAlgorithm):
    """Remove edges at random and add others, as many as are expected to be removed; hide one kind of edges entirely.

    If the belief in an edge may be at most 1 - p, every edge is removed with chance p, and every other pair is added
    with the chance that keeps the expected number of edges: then a shown edge is original with chance 1 - p exactly,
    for somebody who knows nothing but the density. Ten percent of noise leave ninety percent of certainty. Who looks at
    hubs, or at persons with common neighbors, believes more, and nearly everything in most networks: that is measured
    (`larger-belief`) and not promised. Both chances are published with the network, so that everybody can judge it.
    Relations of a sensitive kind are removed before, all of them [1]_; two persons stay related who are so in another
    kind as well.

    Parameters
    ----------
    sensitive : the kind of relations that are never shown, if there is one.

    References
    ----------
    .. [1] Zheleva, Getoor, "Preserving the privacy of sensitive relationships in graph data", PinKDD 2007.
       https://doi.org/10.1007/978-3-540-78478-4_9
    """

    name = "random-change"
    reference = "Zheleva, Getoor 2007, https://doi.org/10.1007/978-3-540-78478-4_9"
    supports: ClassVar = (EdgeDisclosure,)

    sensitive: str | None = None

    def search(self, request: Request[PublishedGraph]) -> Graph:
        """Remove and add edges at random."""
        network = request.data
        assert isinstance(network, Graph)  # noqa: S101 - originals are graphs
        shown = (network if self.sensitive is None else without_edge_type(network, self.sensitive)).edges
        limit = min(each.limit for each in request.models)
        pairs = len(network) * (len(network) - 1) // 2
        others = pairs - len(shown)
        if limit == 1 or not len(shown):
            return network.with_edges(shown)
        removed = 1 - limit + TOLERANCE
        if removed * len(shown) > others:
            raise SchemaError("The network has too few pairs without an edge to hide its edges; allow a larger belief.")
        added = removed * len(shown) / others
        kept = shown[request.stream.uniform(len(shown)) >= removed]
        fresh = _sample_pairs(network, shown, pairs, added, request.stream)
        noise = EdgeNoise(removed=removed, added=added)
        return replace(network.with_edges(np.concatenate([kept, fresh])), noise=noise)


def _sample_pairs(
    network: Graph, shown: npt.NDArray[np.int32], pairs: int, chance: float, stream: KeyedRandom
) -> npt.NDArray[np.int32]:
    """Choose each pair that is not shown with a chance, by the gaps between chosen ones."""
    expected = pairs * chance
    found, last = [], -1
    while last < pairs:
        gaps = np.floor(np.log(stream.uniform(int(expected + 6 * np.sqrt(expected) + 8))) / np.log1p(-chance))
        places = last + np.cumsum(gaps.astype(np.int64) + 1)
        found.append(places[places < pairs])
        last = int(places[-1])
    low, high = pairs_from_numbers(np.concatenate(found))
    taken = np.isin(low * len(network) + high, shown[:, 0].astype(np.int64) * len(network) + shown[:, 1])
    return sort_edges(np.stack([low, high], axis=1)[~taken])
