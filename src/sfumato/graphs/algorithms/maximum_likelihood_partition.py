"""Super-nodes of which as few graphs as possible are possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_integer, require
from sfumato.core.algorithm import Request
from sfumato.graphs._kernels.maximum_likelihood_partition import WORDS, anneal_partition, linked_lists, log_factorials
from sfumato.graphs.algorithms._base import GraphAlgorithm
from sfumato.graphs.algorithms.sangreea import SaNGreeA, merge_until_satisfied, min_cluster_size
from sfumato.graphs.clustered_graph import ClusteredGraph
from sfumato.graphs.graph import Graph
from sfumato.graphs.models._base import PublishedGraph
from sfumato.graphs.models.edge_disclosure import EdgeDisclosure
from sfumato.graphs.models.on_clusters import OnClusters

MAX_NODES = 5_000  # super-nodes whose pairs are counted in one matrix
KNOWN = 1 << 16  # factorials whose logarithms are computed once
PARTS = 50  # of the turns; the best end of one is taken
HEAT = 1.0  # how much more the logarithm may be at first


@dataclass(frozen=True, kw_only=True, repr=False)
class MaximumLikelihoodPartition(GraphAlgorithm):
    r"""Find super-nodes that leave as few graphs possible as it can, so that samples are like the original [1]_.

    It starts from the super-nodes of `Sangreea` and lowers the logarithm of the number of graphs with the same counts
    by simulated annealing: it moves persons to the super-nodes of their neighbors' neighbors or exchanges two, merges
    two super-nodes, divides two in another way, and splits those that are large enough. How long it takes depends on
    `turns` and not on a clock, so that a recipe finds the same again. Nothing is known of how far the result is from
    the best one. Attributes are generalized as the super-nodes need it. Super-nodes that break a model then merge, as
    in `Sangreea`. A network of more than 5,000 super-nodes stays as it started.

    Parameters
    ----------
    turns : how many changes are tried for each person.

    References
    ----------
    .. [1] Hay, Miklau, Jensen, Towsley, Li, "Resisting structural re-identification in anonymized social networks",
       VLDB Journal 19(6), 2010. https://doi.org/10.1007/s00778-010-0210-x
    """

    name = "likely-partition"
    reference = "Hay, Miklau, Jensen, Towsley, Li 2010, https://doi.org/10.1007/s00778-010-0210-x"
    supports: ClassVar = (OnClusters, EdgeDisclosure)

    turns: int = 100

    def __post_init__(self) -> None:
        require(is_integer(self.turns) and self.turns >= 0, self, "turns", "a whole number of at least 0", self.turns)

    def search(self, request: Request[PublishedGraph]) -> ClusteredGraph:
        """Move persons between super-nodes, and merge those that break a model."""
        network, least = request.data, min_cluster_size(request)
        assert isinstance(network, Graph)  # noqa: S101 - originals are graphs
        label = SaNGreeA(attributes=0).grow_clusters(network, least)
        if int(label.max()) < MAX_NODES:
            label = self._improve(network, label, least, request)
        return merge_until_satisfied(network, label, request)

    def _improve(
        self, network: Graph, label: npt.NDArray[np.int64], least: int, request: Request[PublishedGraph]
    ) -> npt.NDArray[np.int64]:
        """Return the best super-nodes that were seen at the end of any part of the turns."""
        counted = ClusteredGraph.from_clusters(network, label)
        count, graph = len(counted.inner), (network.offsets, network.neighbors)
        edges = np.zeros((count, count), dtype=np.int64)
        one, other, between = counted.between.T
        edges[one, other] = edges[other, one] = between
        np.fill_diagonal(edges, counted.inner)
        state = label, edges, counted.sizes.astype(np.int64), *linked_lists(label, count)
        known = log_factorials(min(len(network) ** 2, KNOWN))
        best, most, won = label.copy(), 0.0, 0.0
        for part in range(PARTS):
            request.progress(part / PARTS)
            words = request.stream.random_uint64(WORDS * (self.turns * len(network) // PARTS))
            heats = HEAT * (1 - part / PARTS), HEAT * (1 - (part + 1) / PARTS)
            won += anneal_partition(graph, state, known, least, words, heats)
            if won > most:
                best, most = label.copy(), won
        return np.unique(best, return_inverse=True)[1].reshape(-1).astype(np.int64)
