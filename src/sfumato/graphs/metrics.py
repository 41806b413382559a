"""What a published network has lost: changed edges, and how far its structure is from the original's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato._randomness import seeded_generator
from sfumato.encoding.coded_table import encode_column
from sfumato.graphs._kernels.isomorphism import neighborhood_degrees
from sfumato.graphs._kernels.metrics import louvain_pass, sum_path_lengths
from sfumato.graphs.clustered_graph import ClusteredGraph
from sfumato.graphs.graph import Edges, Graph
from sfumato.graphs.models._base import PublishedGraph
from sfumato.queries.published_columns import read_column

# The structure of a network in figures: clustering, lengths of paths, and eigenvalues.

SOURCES = 1_000  # persons from whom paths are measured
EIGENVALUES = 10
TOLERANCE = 1e-6  # of vectors; eigenvalues are off by its square only
SMALL = 500  # persons up to whom all eigenvalues are found: fewer by steps need more different ones than there may be
Z_95 = 1.959964  # deviations of the normal distribution, for intervals of 95 %


class Interval(NamedTuple):
    """A figure, and between which it lies."""

    value: float
    low: float
    high: float


def average_clustering(network: Graph) -> float:
    """Return the mean share of a person's pairs of neighbors who know each other; 0 for fewer than two neighbors."""
    rows = np.empty(len(network.neighbors), dtype=np.int64)
    neighborhood_degrees(network.offsets, network.neighbors, np.zeros(len(network), dtype=np.int64), 1, rows)
    sums = np.append(0, np.cumsum(rows))
    degrees = network.degrees
    pairs = degrees * (degrees - 1)
    closed = sums[network.offsets[1:]] - sums[network.offsets[:-1]]
    return float((closed / np.maximum(pairs, 1)).mean())


def average_path_length(network: Graph, *, sources: int = SOURCES, seed: int = 0) -> Interval:
    """Return the mean number of steps between two persons whom a path joins, with an interval of 95 %.

    Paths are measured from some persons to all others; from all persons if there are no more, and then the figure is
    exact. The interval is that of a ratio in a sample without replacement.
    """
    persons = len(network)
    drawn = seeded_generator(seed).choice(persons, min(sources, persons), replace=False)
    totals, reached = np.empty((2, len(drawn)), dtype=np.int64)
    sum_path_lengths(network.offsets, network.neighbors, drawn, totals, reached)
    mean = totals.sum() / max(reached.sum(), 1)
    spread = float(((totals - mean * reached) ** 2).sum()) / max(len(drawn) - 1, 1)
    error = np.sqrt((1 - len(drawn) / persons) * spread / len(drawn)) / max(reached.mean(), 1e-9)
    return Interval(float(mean), float(max(mean - Z_95 * error, 0)), float(mean + Z_95 * error))


def largest_eigenvalues(network: Graph) -> npt.NDArray[np.float64]:
    """Return the largest eigenvalues of the adjacency matrix, at most 10, descending."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import eigsh

    size = len(network)
    ones = np.ones(len(network.neighbors))
    matrix = csr_array((ones, network.neighbors, network.offsets), shape=(size, size))
    if size <= SMALL or not network.n_edges:
        return np.asarray(np.linalg.eigvalsh(matrix.toarray())[::-1][:EIGENVALUES], dtype=np.float64)
    start = seeded_generator(0).random(size)
    found = eigsh(matrix, EIGENVALUES, which="LA", v0=start, tol=TOLERANCE, return_eigenvectors=False)
    return np.sort(np.asarray(found, dtype=np.float64))[::-1]


# Communities of a network, and how many of them a published network keeps.

Labels = npt.NDArray[np.int64]


def louvain_communities(network: Graph, *, seed: int = 0) -> Labels:
    """Give every person the number of her community, by the method of Louvain [1]_.

    Persons, in an order drawn by the seed, move to the neighbors among whom they have most relations beyond chance;
    then whole communities do, until nothing gains. The same seed finds the same communities.

    References
    ----------
    .. [1] Blondel, Guillaume, Lambiotte, Lefebvre, "Fast unfolding of communities in large networks", 2008.
       https://doi.org/10.1088/1742-5468/2008/10/P10008

    Examples
    --------
    >>> friends = Graph.from_edges([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)])
    >>> found = louvain_communities(friends)
    >>> found[0] == found[1] == found[2] != found[3] == found[4] == found[5]
    np.True_
    """
    found = np.empty(len(network), dtype=np.int64)
    found[seeded_generator(seed).permutation(len(network))] = np.arange(len(network))
    ends = np.concatenate([network.edges, network.edges[:, ::-1]]).astype(np.int64)
    weights, inner = np.ones(len(ends), dtype=np.int64), np.zeros(len(network), dtype=np.int64)
    ends = found[ends]
    while True:
        ends, weights, inner = _merge_parallel_edges(ends, weights, inner)
        offsets = np.append(0, np.cumsum(np.bincount(ends[:, 0], minlength=len(inner))))
        label = np.arange(len(inner))
        if not louvain_pass(offsets, np.ascontiguousarray(ends[:, 1]), weights, inner, label):
            return found
        kept, label = np.unique(label, return_inverse=True)
        inner = np.bincount(label, weights=inner, minlength=len(kept)).astype(np.int64)
        found, ends = label[found], label[ends]


def _merge_parallel_edges(ends: Labels, weights: Labels, inner: Labels) -> tuple[Labels, Labels, Labels]:
    """Add up the weights of equal pairs, in ascending order; pairs of a node and itself become inner weight."""
    count = len(inner)
    keys, place = np.unique(ends[:, 0] * count + ends[:, 1], return_inverse=True)
    sums = np.bincount(place, weights=weights, minlength=len(keys)).astype(np.int64)
    pairs = np.stack([keys // count, keys % count], axis=1)
    own = pairs[:, 0] == pairs[:, 1]
    more = np.bincount(pairs[own, 0], weights=sums[own], minlength=count).astype(np.int64)
    return pairs[~own], sums[~own], inner + more


def adjusted_rand_index(one: Labels, other: Labels) -> float:
    """Return the adjusted Rand index of two partitions: 1 if they are the same, about 0 if one says nothing [1]_.

    References
    ----------
    .. [1] Hubert, Arabie, "Comparing partitions", 1985. https://doi.org/10.1007/BF01908075

    Examples
    --------
    >>> adjusted_rand_index(np.array([0, 0, 1, 1]), np.array([5, 5, 3, 3]))
    1.0
    """
    both = _count_pairs(np.unique(one * (int(other.max(initial=0)) + 1) + other, return_counts=True)[1])
    mine, theirs = (_count_pairs(np.unique(each, return_counts=True)[1]) for each in (one, other))
    chance = mine * theirs / max(_count_pairs(np.array([len(one)])), 1)
    most = (mine + theirs) / 2
    return float((both - chance) / (most - chance)) if most != chance else 1.0


def _count_pairs(sizes: Labels) -> float:
    return float((sizes * (sizes - 1) / 2).sum())


# Edges between groups of persons with some attributes: how well a published network tells their number.

Shares = npt.NDArray[np.float64]
QUARTERS = 4  # groups of an attribute with an order
MAX_VALUES = 8  # groups of one without: its most frequent values


class GroupMembership(NamedTuple):
    """How far every person is in each group of one attribute: by the original, and by what is published."""

    before: Shares
    after: Shares


def group_memberships(original: Graph, published: ClusteredGraph) -> list[GroupMembership]:
    """Return who is in which group, for every published attribute that has at least two groups.

    Groups are the quarters of an attribute with an order, and the eight most frequent values of any other; a missing
    value is in none. A published cell is read as by `sf.queries.estimate`: all values that it covers are as likely.
    """
    found: list[GroupMembership] = []
    if original.vertices is None or published.vertices is None:
        return found
    for name in published.vertices.column_names:
        column = encode_column(name, original.vertices[name], original.schema)
        domain, codes = column.domain, column.codes.astype(np.int64)
        groups = _value_groups(codes[codes != domain.missing], len(domain), ordered=domain.scale.ordered)
        known = domain, bool((codes == domain.missing).any())
        shown = read_column(published.vertices, name, published.schema, (), known)
        shares = [shown.pieces.evaluate(group).share[shown.cells] for group in groups]
        if len(groups) > 1:
            before = np.concatenate([groups, np.zeros((len(groups), 1), dtype=np.bool_)], axis=1)[:, codes]
            found.append(GroupMembership(before.T.astype(np.float64), np.stack(shares, axis=1)))
    return found


def _value_groups(codes: npt.NDArray[np.int64], values: int, *, ordered: bool) -> npt.NDArray[np.bool_]:
    """Return which values are in each group."""
    counts = np.bincount(codes, minlength=values)
    if not ordered:
        often = np.argsort(-counts, kind="stable")[:MAX_VALUES]
        return np.asarray(np.eye(values, dtype=np.bool_)[often[counts[often] > 0]])
    before = np.cumsum(counts) - counts
    quarter = before * QUARTERS // max(int(counts.sum()), 1)
    return np.stack([quarter == each for each in np.unique(quarter)])


def count_edges_between(edges: Edges, shares: Shares) -> Shares:
    """Count the edges between every two groups, which have no person in common, and inside each on the diagonal."""
    ends = shares[edges[:, 0]].T @ shares[edges[:, 1]]
    both = ends + ends.T
    both[np.diag_indices_from(both)] /= 2
    return np.asarray(both)


def group_count_error(original: Graph, drawn: Graph, groups: list[GroupMembership]) -> float:
    """Return the mean relative error of the counts between two groups of one attribute, where there is any edge."""
    errors = []
    for before, after in groups:
        upper = np.triu_indices(before.shape[1])
        truth, told = count_edges_between(original.edges, before)[upper], count_edges_between(drawn.edges, after)[upper]
        errors.append(np.abs(told - truth)[truth > 0] / truth[truth > 0])
    asked = np.concatenate(errors)
    return float(asked.mean()) if len(asked) else 0.0


SAMPLES = 20  # graphs that stand for super-nodes
HUBS = 0.05  # of the persons, those with the most shown edges
CLOSEST = 0.1  # of the shown edges, those with the most common neighbors


class GraphStatistics(NamedTuple):
    """What is compared of two graphs."""

    clustering: float
    path_length: Interval
    eigenvalues: npt.NDArray[np.float64]
    communities: npt.NDArray[np.int64]

    @classmethod
    def from_graph(cls, network: Graph) -> GraphStatistics:
        """Look at a graph."""
        return cls(
            average_clustering(network),
            average_path_length(network),
            largest_eigenvalues(network),
            louvain_communities(network),
        )


def compute_metrics(original: Graph, published: PublishedGraph) -> dict[str, float]:
    """Measure what was lost; persons have the same numbers in both, and those of the original come first.

    Figures of super-nodes are means over graphs drawn from their counts, and `-low` and `-high` the least and the
    largest of them. `path-length` is measured from some persons, and its `-low` and `-high` tell the interval as well.
    """
    before = GraphStatistics.from_graph(original)
    if isinstance(published, ClusteredGraph):
        drawn = [published.sample(seed=seed) for seed in range(SAMPLES)]
        found = [_compare(original, before, graph) for graph in drawn]
        groups = group_memberships(original, published)
        if groups:
            errors = [group_count_error(original, graph, groups) for graph in drawn]
            found = [
                each | {"group-count-error": Interval(off, off, off)} for each, off in zip(found, errors, strict=True)
            ]
        return _super_node_metrics(published) | _summarize(before, found)
    return _edge_change_metrics(original, published) | _summarize(before, [_compare(original, before, published)])


def _compare(original: Graph, before: GraphStatistics, graph: Graph) -> dict[str, Interval]:
    """Compare one graph with the original."""
    after, most = GraphStatistics.from_graph(graph), len(before.eigenvalues)
    apart = np.abs(before.eigenvalues - after.eigenvalues[:most]).mean()
    exact = {
        "degree-distance": _degree_distance(original, graph),
        "clustering-after": after.clustering,
        "largest-eigenvalue-after": float(after.eigenvalues[0]),
        "eigenvalue-distance": float(apart),
        "communities-kept": adjusted_rand_index(before.communities, after.communities[: len(original)]),
    }
    return {name: Interval(value, value, value) for name, value in exact.items()} | {
        "path-length-after": after.path_length
    }


def _summarize(before: GraphStatistics, after: Sequence[dict[str, Interval]]) -> dict[str, float]:
    """Return the figures of the original beside means over some graphs, with ranges where these differ."""
    known = {
        "clustering": Interval(before.clustering, before.clustering, before.clustering),
        "path-length": before.path_length,
        "largest-eigenvalue": Interval(*[float(before.eigenvalues[0])] * 3),
    }
    found: dict[str, float] = {}
    for name in after[0]:
        all_ = [each[name] for each in after]
        if name.endswith("-after"):
            found |= _spread(name.replace("-after", "-before"), known[name.removesuffix("-after")])
        mean = float(np.mean([each.value for each in all_]))
        found |= _spread(name, Interval(mean, min(each.low for each in all_), max(each.high for each in all_)))
    return found


def _spread(name: str, figure: Interval) -> dict[str, float]:
    if figure.low == figure.high:
        return {name: figure.value}
    return {name: figure.value, f"{name}-low": figure.low, f"{name}-high": figure.high}


def _super_node_metrics(published: ClusteredGraph) -> dict[str, float]:
    inner, between = published.edge_probabilities()
    return {
        "edges-generalized": published.n_edges,
        "super-nodes": len(published.inner),
        "cliques": int((inner[published.sizes > 1] == 1).sum()),
        "largest-belief": max(float(inner.max(initial=0)), float(between.max(initial=0))),
        "structural-loss": published.structural_loss(),
        "log-graphs": published.log_possible_graphs(),
    }


def _edge_change_metrics(original: Graph, published: Graph) -> dict[str, float]:
    persons = max(len(original), len(published))
    before, after = (each.edges[:, 0].astype(np.int64) * persons + each.edges[:, 1] for each in (original, published))
    true = np.isin(after, before, assume_unique=True)
    kept = int(np.count_nonzero(true))
    added = len(published) - len(original)
    return {
        "edges-added": len(after) - kept,
        "edges-removed": len(before) - kept,
        "edges-kept": kept,
        **({"persons-added": added} if added else {}),
        **({} if published.noise is None else _larger_beliefs(published, true)),
    }


def _larger_beliefs(published: Graph, true: npt.NDArray[np.bool_]) -> dict[str, float]:
    """Return which share of shown edges is true where more are: between hubs, and between persons with most in common.

    Everybody sees in the published network which edges these are.
    """
    if not len(true):
        return {}
    edges, degrees = published.edges, published.degrees
    least = np.sort(degrees)[::-1][max(int(np.ceil(HUBS * len(degrees))), 2) - 1]
    common = _common_neighbors(published)
    closest = np.sort(common)[::-1][max(int(np.ceil(CLOSEST * len(common))), 1) - 1]
    chosen = {
        "belief-between-hubs": (degrees[edges] >= least).all(axis=1),
        "belief-with-common-neighbors": common >= max(closest, 1),
    }
    found = {name: float(true[which].mean()) for name, which in chosen.items() if which.any()}
    return {**found, "larger-belief": max([*found.values(), float(true.mean())])}


def _common_neighbors(network: Graph) -> npt.NDArray[np.int64]:
    """Count for every edge the persons who are neighbors of both."""
    from scipy.sparse import csr_array

    low, high = network.edges.T
    ones = np.ones(2 * len(low), dtype=np.int64)
    matrix = csr_array(
        (ones, (np.concatenate([low, high]), np.concatenate([high, low]))), shape=(len(network), len(network))
    )
    step = 100_000
    parts = [
        matrix[low[first : first + step]].multiply(matrix[high[first : first + step]]).sum(axis=1)
        for first in range(0, len(low), step)
    ]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64)


def _degree_distance(original: Graph, published: Graph) -> float:
    """Return the earth mover's distance of the two distributions of degrees, in neighbors per person."""
    most = int(max(original.degrees.max(), published.degrees.max()))
    shares = [np.bincount(each.degrees, minlength=most + 1) / len(each) for each in (original, published)]
    return float(np.abs(np.cumsum(shares[0] - shares[1])).sum())
