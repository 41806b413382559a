"""A network published as super-nodes: who is in one, and how many edges there are inside and between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.exceptions import ReadError, WriteError
from sfumato.networks.exchange import ForeignGraph
from sfumato.networks.network import Network
from sfumato.randomness import draw_seed, generator
from sfumato.schema.schema import Schema
from sfumato.table.extras import optional_library

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ClusteredNetwork:
    """Super-nodes of persons, with counts of edges instead of edges.

    Parameters
    ----------
    keys : the key of every person.
    cluster : the super-node of every person, numbered from 0.
    inner : the number of edges inside each super-node.
    between : rows of two super-nodes, the lower number first, and the number of edges between them, ascending.
    persons : what is published of every person, a row each, if anything is.
    schema : the roles of the columns of `persons`.

    Examples
    --------
    >>> network = Network.from_edges([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)])
    >>> two = ClusteredNetwork.of(network, np.array([0, 0, 0, 1, 1, 1]))
    >>> two.inner.tolist(), two.between.tolist()
    ([3, 3], [[0, 1, 1]])
    >>> two.beliefs()[0].tolist()
    [1.0, 1.0]
    """

    keys: pa.Array
    cluster: Counts
    inner: Counts
    between: Counts
    persons: pa.Table | None = None
    schema: Schema = field(default_factory=Schema)

    def __post_init__(self) -> None:
        inner, between = self._pairs
        wrong = len(self.cluster) != len(self.keys) or (self.sizes == 0).any()
        wrong = wrong or (self.inner > inner).any() or (self.between[:, 2] > between).any()
        if wrong or (self.inner < 0).any() or (self.between[:, 2] < 1).any():
            raise ReadError("The counts of edges do not fit the super-nodes; write the release again.")

    @classmethod
    def of(cls, network: Network, cluster: npt.NDArray[np.integer]) -> ClusteredNetwork:
        """Count the edges of a network inside and between super-nodes."""
        label, count = np.asarray(cluster, dtype=np.int64), int(cluster.max()) + 1
        ends = np.sort(label[network.edges], axis=1)
        inside = ends[:, 0] == ends[:, 1]
        keys, edges = np.unique(ends[~inside, 0] * count + ends[~inside, 1], return_counts=True)
        return cls(
            keys=network.keys,
            cluster=label,
            inner=np.bincount(ends[inside, 0], minlength=count),
            between=np.stack([keys // count, keys % count, edges], axis=1),
        )

    @cached_property
    def sizes(self) -> Counts:
        """The number of persons in each super-node."""
        return np.bincount(self.cluster, minlength=len(self.inner))

    @property
    def _pairs(self) -> tuple[Counts, Counts]:
        sizes = self.sizes.astype(np.int64)
        return sizes * (sizes - 1) // 2, sizes[self.between[:, 0]] * sizes[self.between[:, 1]]

    @property
    def size(self) -> int:
        """The number of edges."""
        return int(self.inner.sum() + self.between[:, 2].sum())

    def __len__(self) -> int:
        return len(self.keys)

    def beliefs(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return how likely two persons are related: inside each super-node, and for each row of `between`."""
        inner, between = self._pairs
        return self.inner / np.maximum(inner, 1), self.between[:, 2] / np.maximum(between, 1)

    def structural_loss(self) -> float:
        """Return the structural information loss of Campan and Truta, as a share of the largest possible one."""
        inner, between = self._pairs
        inside = 2 * self.inner * (1 - self.inner / np.maximum(inner, 1))
        outside = 2 * self.between[:, 2] * (1 - self.between[:, 2] / np.maximum(between, 1))
        return float(inside.sum() + outside.sum()) / max(len(self) * (len(self) - 1) / 4, 1)

    def log_graphs(self) -> float:
        """Return the natural logarithm of the number of graphs that have these counts."""
        from scipy.special import gammaln

        inner, between = self._pairs
        pairs, edges = np.concatenate([inner, between]), np.concatenate([self.inner, self.between[:, 2]])
        return float((gammaln(pairs + 1) - gammaln(edges + 1) - gammaln(pairs - edges + 1)).sum())

    def sample(self, *, seed: int | None = None) -> Network:
        """Draw one of the graphs that have these counts, all as likely; a seed repeats the draw."""
        rng = generator(draw_seed() if seed is None else seed)
        order = np.argsort(self.cluster, kind="stable")
        starts = np.append(0, np.cumsum(self.sizes))
        inner, between = self._pairs
        found = []
        for node, edges in enumerate(self.inner.tolist()):
            chosen = rng.choice(int(inner[node]), edges, replace=False) if edges else np.zeros(0, dtype=np.int64)
            low, high = pairs_numbered(chosen)
            found.append(order[starts[node] + np.stack([low, high], axis=1)])
        for (one, other, edges), pairs in zip(self.between.tolist(), between.tolist(), strict=True):
            chosen = rng.choice(pairs, edges, replace=False)
            size = int(self.sizes[other])
            ends = np.stack([starts[one] + chosen // size, starts[other] + chosen % size], axis=1)
            found.append(order[ends])
        bare = Network(keys=self.keys, edges=np.zeros((0, 2), dtype=np.int32))
        return bare.with_edges(np.concatenate(found))

    def to_networkx(self) -> ForeignGraph:
        """Return the super-nodes as a NetworkX graph with their sizes and counts; needs the extra `networks`."""
        networkx = optional_library("networkx", extra="networks", error=WriteError)
        graph = networkx.Graph()
        for node, (size, inner) in enumerate(zip(self.sizes.tolist(), self.inner.tolist(), strict=True)):
            graph.add_node(node, size=size, inner=inner)
        graph.add_edges_from((one, other, {"edges": edges}) for one, other, edges in self.between.tolist())
        return graph

    def __repr__(self) -> str:
        return f"ClusteredNetwork of {len(self):,} persons in {len(self.inner):,} super-nodes and {self.size:,} edges"


def pairs_numbered(numbers: Counts) -> tuple[Counts, Counts]:
    """Return the pair of each number when pairs 0-1, 0-2, 1-2, 0-3 ... are numbered from 0."""
    high = np.floor((1 + np.sqrt(1 + 8 * numbers.astype(np.float64))) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > numbers
    high += (high + 1) * high // 2 <= numbers
    return numbers - high * (high - 1) // 2, high
