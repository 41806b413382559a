"""A network published as super-nodes: who is in one, and how many edges there are inside and between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._optional import import_optional
from sfumato._randomness import draw_seed, seeded_generator
from sfumato.errors import ReadError, WriteError
from sfumato.graphs._convert import ForeignGraph
from sfumato.graphs._kernels.random_graphs import make_distinct
from sfumato.graphs.graph import Graph
from sfumato.schema.schema import Schema

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ClusteredGraph:
    """Super-nodes of persons, with counts of edges instead of edges.

    Parameters
    ----------
    keys : the key of every person.
    cluster : the super-node of every person, numbered from 0.
    inner : the number of edges inside each super-node.
    between : rows of two super-nodes, the lower number first, and the number of edges between them, ascending.
    edge_types : if kinds of edges are published, for each kind rows of two super-nodes, which may be the same, and a
        number of relations; `inner` and `between` are then their sums, but at most the number of pairs.
    vertices : what is published of every person, a row each, if anything is.
    schema : the roles of the columns of `vertices`.

    Examples
    --------
    >>> network = Graph.from_edges([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)])
    >>> two = ClusteredGraph.from_clusters(network, np.array([0, 0, 0, 1, 1, 1]))
    >>> two.inner.tolist(), two.between.tolist()
    ([3, 3], [[0, 1, 1]])
    >>> two.edge_probabilities()[0].tolist()
    [1.0, 1.0]
    """

    keys: pa.Array
    cluster: Counts
    inner: Counts
    between: Counts
    edge_types: Mapping[str, Counts] | None = None
    vertices: pa.Table | None = None
    schema: Schema = field(default_factory=Schema)

    def __post_init__(self) -> None:
        inner, between = self._pairs
        wrong = len(self.cluster) != len(self.keys) or (self.sizes == 0).any()
        wrong = wrong or (self.inner > inner).any() or (self.between[:, 2] > between).any()
        wrong = wrong or (self.inner < 0).any() or (self.between[:, 2] < 1).any()
        if wrong or not self._edge_types_are_consistent():
            raise ReadError("The counts of edges do not fit the super-nodes; write the release again.")

    @classmethod
    def from_clusters(cls, network: Graph, cluster: npt.NDArray[np.integer]) -> ClusteredGraph:
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

    @classmethod
    def from_edge_types(cls, keys: pa.Array, cluster: Counts, kinds: Mapping[str, Counts]) -> ClusteredGraph:
        """Make super-nodes of the relations that are counted for each kind."""
        inner, between = _sum_edge_types(np.bincount(cluster), kinds)
        return cls(keys=keys, cluster=cluster, inner=inner, between=between, edge_types=kinds)

    def _edge_types_are_consistent(self) -> bool:
        """Return whether relations of each kind are at most one for each pair, and sum up to the edges."""
        if self.edge_types is None:
            return True
        for rows in self.edge_types.values():
            low, high, count = rows.T
            places = low * len(self.inner) + high
            if (low < 0).any() or (high < low).any() or (high >= len(self.inner)).any() or (np.diff(places) <= 0).any():
                return False
            if (count < 1).any() or (count > pair_counts(self.sizes, rows)).any():
                return False
        inner, between = _sum_edge_types(self.sizes, self.edge_types)
        return np.array_equal(inner, self.inner) and np.array_equal(between, self.between)

    @cached_property
    def sizes(self) -> Counts:
        """The number of persons in each super-node."""
        return np.bincount(self.cluster, minlength=len(self.inner))

    @property
    def _pairs(self) -> tuple[Counts, Counts]:
        sizes = self.sizes.astype(np.int64)
        return sizes * (sizes - 1) // 2, sizes[self.between[:, 0]] * sizes[self.between[:, 1]]

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return int(self.inner.sum() + self.between[:, 2].sum())

    def __len__(self) -> int:
        return len(self.keys)

    def edge_probabilities(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return how likely two persons are related: inside each super-node, and for each row of `between`."""
        inner, between = self._pairs
        return self.inner / np.maximum(inner, 1), self.between[:, 2] / np.maximum(between, 1)

    def structural_loss(self) -> float:
        """Return the structural information loss of Campan and Truta, as a share of the largest possible one."""
        inner, between = self._pairs
        inside = 2 * self.inner * (1 - self.inner / np.maximum(inner, 1))
        outside = 2 * self.between[:, 2] * (1 - self.between[:, 2] / np.maximum(between, 1))
        return float(inside.sum() + outside.sum()) / max(len(self) * (len(self) - 1) / 4, 1)

    def log_possible_graphs(self) -> float:
        """Return the natural logarithm of the number of graphs that have these counts."""
        from scipy.special import gammaln

        inner, between = self._pairs
        pairs, edges = np.concatenate([inner, between]), np.concatenate([self.inner, self.between[:, 2]])
        return float((gammaln(pairs + 1) - gammaln(edges + 1) - gammaln(pairs - edges + 1)).sum())

    def sample(self, *, seed: int | None = None) -> Graph:
        """Draw one of the graphs that have these counts, all as likely; a seed repeats the draw.

        Relations of each kind are drawn on their own, and persons are related who are so in any kind.
        """
        rng = seeded_generator(draw_seed() if seed is None else seed)
        bare = Graph(keys=self.keys, edges=np.zeros((0, 2), dtype=np.int32))
        if self.edge_types is None:
            inside = np.flatnonzero(self.inner)
            own = np.stack([inside, inside, self.inner[inside]], axis=1)
            return bare.with_edges(self._drawn(np.concatenate([own, self.between]), rng))
        drawn = [bare.with_edges(self._drawn(rows, rng)).edges for rows in self.edge_types.values()]
        return bare.with_edges(np.unique(np.concatenate([bare.edges, *drawn]), axis=0))

    def _drawn(self, rows: Counts, rng: np.random.Generator) -> Counts:
        """Draw as many pairs for each row of two super-nodes, which may be the same, as it counts."""
        order = np.argsort(self.cluster, kind="stable")
        first = np.append(0, np.cumsum(self.sizes))
        chosen = _draw_distinct(pair_counts(self.sizes, rows), rows[:, 2], rng)
        one, other = np.repeat(rows[:, :2], rows[:, 2], axis=0).T
        inside = one == other
        low, high = np.divmod(chosen, self.sizes[other])
        low[inside], high[inside] = pairs_from_numbers(chosen[inside])
        return np.asarray(order[np.stack([first[one] + low, first[other] + high], axis=1)])

    def to_networkx(self) -> ForeignGraph:
        """Return the super-nodes as a NetworkX graph with their sizes and counts; needs the extra `networks`."""
        networkx = import_optional("networkx", extra="networks", error=WriteError)
        graph = networkx.Graph()
        for node, (size, inner) in enumerate(zip(self.sizes.tolist(), self.inner.tolist(), strict=True)):
            graph.add_node(node, size=size, inner=inner)
        graph.add_edges_from((one, other, {"edges": edges}) for one, other, edges in self.between.tolist())
        return graph

    def __repr__(self) -> str:
        return f"ClusteredGraph of {len(self):,} persons in {len(self.inner):,} super-nodes and {self.n_edges:,} edges"


def pair_counts(sizes: Counts, rows: Counts) -> Counts:
    """Return how many pairs of persons there are for rows of two super-nodes, which may be the same."""
    one, other = sizes[rows[:, 0]].astype(np.int64), sizes[rows[:, 1]].astype(np.int64)
    return np.where(rows[:, 0] == rows[:, 1], one * (one - 1) // 2, one * other)


def _sum_edge_types(sizes: Counts, kinds: Mapping[str, Counts]) -> tuple[Counts, Counts]:
    """Sum relations of all kinds inside and between super-nodes; no sum exceeds the number of pairs."""
    rows = np.concatenate([np.zeros((0, 3), dtype=np.int64), *kinds.values()])
    keys, place = np.unique(rows[:, 0] * len(sizes) + rows[:, 1], return_inverse=True)
    sums = np.bincount(place.reshape(-1), weights=rows[:, 2], minlength=len(keys)).astype(np.int64)
    found = np.stack([keys // len(sizes), keys % len(sizes), sums], axis=1)
    found[:, 2] = np.minimum(found[:, 2], pair_counts(sizes, found))
    inside, inner = found[:, 0] == found[:, 1], np.zeros(len(sizes), dtype=np.int64)
    inner[found[inside, 0]] = found[inside, 2]
    return inner, found[~inside]


def _draw_distinct(limits: Counts, counts: Counts, rng: np.random.Generator) -> Counts:
    """Draw so many different numbers below each limit, one block after the other."""
    starts = np.append(0, np.cumsum(counts))
    step = np.arange(starts[-1]) - np.repeat(starts[:-1], counts)
    drawn: Counts = rng.integers(0, np.repeat(limits - counts, counts) + step + 1)
    if len(drawn):
        make_distinct(starts, limits, drawn)
    return drawn


def pairs_from_numbers(numbers: Counts) -> tuple[Counts, Counts]:
    """Return the pair of each number when pairs 0-1, 0-2, 1-2, 0-3 ... are numbered from 0."""
    high = np.floor((1 + np.sqrt(1 + 8 * numbers.astype(np.float64))) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > numbers
    high += (high + 1) * high // 2 <= numbers
    return numbers - high * (high - 1) // 2, high
