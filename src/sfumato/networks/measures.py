"""What a published network has lost: changed edges, and how far its structure is from the original's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.networks.clustered import ClusteredGraph
from sfumato.networks.communities import adjusted_rand_index, louvain_communities
from sfumato.networks.group_counts import group_count_error, group_memberships
from sfumato.networks.network import Graph
from sfumato.networks.promise import PublishedGraph
from sfumato.networks.structure import Interval, average_clustering, average_path_length, largest_eigenvalues

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
