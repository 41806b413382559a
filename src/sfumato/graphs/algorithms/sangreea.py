"""SaNGreeA, the Social Network Greedy Anonymization: super-nodes of persons with alike neighbors and attributes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import is_finite_number, require
from sfumato.core.algorithm import Request
from sfumato.encoding.coded_table import CodedColumn, encode_column
from sfumato.errors import InfeasibleError
from sfumato.graphs._kernels.sangreea import add_shared_neighbors, assign_remaining, grow_super_nodes
from sfumato.graphs.algorithms._base import GraphAlgorithm
from sfumato.graphs.clustered_graph import ClusteredGraph
from sfumato.graphs.graph import Graph
from sfumato.graphs.models._base import PublishedGraph
from sfumato.graphs.models.edge_disclosure import EdgeDisclosure
from sfumato.graphs.models.link_inference import LinkInference
from sfumato.graphs.models.on_clusters import OnClusters
from sfumato.schema.roles import Scale
from sfumato.tables.algorithms._labels import label_ranges
from sfumato.tables.published.solution import SUPPRESSED_TEXT

# Attributes of persons as numbers and nodes of trees, and how super-nodes show them.

Arrays = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int32], npt.NDArray[np.int64]]


def encode_attributes(network: Graph) -> Arrays:
    """Return numbers and their widths, and nodes of trees by level with where each tree begins."""
    coded = _encode_columns(network)
    numbers, widths, nodes, starts = [], [], [], [0]
    for column in coded:
        domain, codes = column.domain, column.codes.astype(np.int64)
        if domain.scale in {Scale.NUMERIC, Scale.ORDINAL}:
            places = np.append(domain.positions, np.nan)
            numbers.append(places[codes])
            widths.append(float(np.ptp(domain.positions)) if len(domain) else 0.0)
            continue
        flat = (np.arange(len(domain)), np.zeros(len(domain), dtype=np.int64))
        levels: tuple[npt.NDArray[Any], ...] = flat if domain.hierarchy is None else tuple(domain.hierarchy.levels)
        for height, level in enumerate(levels):
            top = height == len(levels) - 1
            nodes.append(np.append(level, 0 if top else len(domain))[codes].astype(np.int32))
        starts.append(len(nodes))
    people = len(network)
    return (
        np.array(numbers, dtype=np.float64).reshape(-1, people),
        np.array(widths, dtype=np.float64),
        np.array(nodes, dtype=np.int32).reshape(-1, people),
        np.array(starts, dtype=np.int64),
    )


def generalize_attributes(network: Graph, counted: ClusteredGraph) -> ClusteredGraph:
    """Show the attributes of the persons of super-nodes: quasi-identifiers as their super-nodes have them in common."""
    if network.vertices is None:
        return counted
    shown = {
        column.name: _cluster_labels(column, counted.cluster, len(counted.inner)) for column in _encode_columns(network)
    }
    schema = network.schema
    shown |= {name: network.vertices[name] for name in (*schema.sensitive, *schema.insensitive)}
    return replace(counted, vertices=pa.table(shown) if shown else None, schema=schema)


def _encode_columns(network: Graph) -> list[CodedColumn]:
    if network.vertices is None:
        return []
    return [encode_column(name, network.vertices[name], network.schema) for name in network.schema.quasi_identifiers]


def _cluster_labels(column: CodedColumn, cluster: npt.NDArray[np.int64], count: int) -> pa.Array:
    """Return the text of everybody's super-node for one attribute."""
    domain, codes = column.domain, column.codes.astype(np.int64)
    low, high = np.full(count, len(domain) + 1), np.full(count, -1)
    known = codes != domain.missing
    np.minimum.at(low, cluster[known], codes[known])
    np.maximum.at(high, cluster[known], codes[known])
    missing = np.bincount(cluster[~known], minlength=count) > 0
    if domain.scale is Scale.NOMINAL and domain.hierarchy is None:
        texts = np.full(count, SUPPRESSED_TEXT, dtype=object)
        alone = (low == high) & ~missing
        texts[alone] = np.array([*domain.texts, None], dtype=object)[high[alone]]
        texts[high < 0] = None
        return pa.array(texts[cluster].tolist(), pa.string())
    recoded = label_ranges(domain, low, high, missing & (high >= 0))
    return recoded.texts.take(pa.array(recoded.by_group[cluster]))


ALL_PAIRS = 20_000  # persons up to whom everybody is a candidate
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, repr=False)
class SaNGreeA(GraphAlgorithm):
    r"""Grow super-nodes of $k$ persons, each time by the person who loses least [1]_.

    A super-node begins with the free person who has most neighbors. Whoever joins has the least weighted sum of two
    losses: how much the attributes must be generalized, and the mean share of other persons that only one of two is
    related to. A remainder of fewer than $k$ joins the super-nodes that lose least. $k$ is the smallest group that any
    model allows; super-nodes that break a model merge with the nearest one until all keep it. The work grows as
    $n^2$ for $n$ persons; above 20,000 only persons within two steps are candidates, and the next in the order where
    there are none, so that the work grows as the number of pairs with a common neighbor.

    Parameters
    ----------
    attributes : the weight of attributes, in [0, 1]; the rest is that of the structure.

    References
    ----------
    .. [1] Campan, Truta, "A clustering approach for data and structural anonymity in social networks", PinKDD 2008.
       https://doi.org/10.1007/978-3-642-01718-6_4
    """

    name = "sangreea"
    reference = "Campan, Truta 2008, https://doi.org/10.1007/978-3-642-01718-6_4"
    supports: ClassVar = (OnClusters, EdgeDisclosure)

    attributes: float = 0.5

    def __post_init__(self) -> None:
        good = is_finite_number(self.attributes) and 0 <= self.attributes <= 1
        require(good, self, "attributes", "a number from 0 to 1", self.attributes)

    def search(self, request: Request[PublishedGraph]) -> ClusteredGraph:
        """Grow super-nodes, and merge those that break a model."""
        network = request.data
        assert isinstance(network, Graph)  # noqa: S101 - originals are graphs
        return merge_until_satisfied(network, self.grow_clusters(network, min_cluster_size(request)), request)

    def grow_clusters(self, network: Graph, least: int) -> Labels:
        """Return the super-node of every person."""
        arrays = encode_attributes(network)
        weight = float(self.attributes) if len(arrays[1]) + len(arrays[3]) > 1 else 0.0
        order = np.argsort(-network.degrees, kind="stable")
        label, joined = grow_super_nodes(network.offsets, network.neighbors, order, least, weight, arrays, ALL_PAIRS)
        full = len(network) // least
        rest = joined[full * least :]
        label[rest] = -1
        assign_remaining(network.offsets, network.neighbors, rest, weight, arrays, label, full)
        return label


def min_cluster_size(request: Request[PublishedGraph]) -> int:
    """Return the smallest super-node that any model allows."""
    models = [each.model.min_group_size for each in request.models if isinstance(each, OnClusters)]
    least = max(models, default=1)
    if least > len(request.data):
        raise InfeasibleError(
            f"A super-node needs {least:,} persons, and the network has {len(request.data):,}; promise less."
        )
    return least


def merge_until_satisfied(
    network: Graph,
    label: Labels,
    request: Request[PublishedGraph],
    counted: Callable[[Graph, Labels], ClusteredGraph] = ClusteredGraph.from_clusters,
) -> ClusteredGraph:
    """Merge super-nodes that break a model with the nearest one until all keep it; `counted` counts their edges."""
    while True:
        found = generalize_attributes(network, counted(network, label))
        bad = _violating_super_nodes(found, request)
        if not len(bad):
            return found
        count = len(found.inner)
        if count == 1:
            raise InfeasibleError("Even one super-node of all persons breaks the models; promise less.")
        request.progress(1 - count / len(network))
        label = _merge_nearest(network, label, bad, count)


def _violating_super_nodes(found: ClusteredGraph, request: Request[PublishedGraph]) -> npt.NDArray[np.int64]:
    """Return the super-nodes that break a model, the two of a pair that is believed too much included."""
    bad = np.zeros(len(found.inner), dtype=np.bool_)
    for promise in request.models:
        if isinstance(promise, OnClusters):
            bad |= promise.violating_super_nodes(found)
        elif isinstance(promise, EdgeDisclosure | LinkInference):
            bad[promise.violating_super_nodes(found)] = True
    return np.flatnonzero(bad)


def _merge_nearest(network: Graph, label: Labels, bad: npt.NDArray[np.int64], count: int) -> Labels:
    """Let every super-node of a list that nobody joined yet join the nearest other one, by mean distance."""
    into, taken = np.arange(count), np.zeros(count, dtype=np.bool_)
    sizes, degrees = np.bincount(label), network.degrees
    sums = np.bincount(label, weights=degrees)
    order = np.argsort(label, kind="stable")
    starts = np.append(0, np.cumsum(sizes))
    for node in bad.tolist():
        if taken[node]:
            continue
        shared = np.zeros(len(network), dtype=np.int64)
        for person in order[starts[node] : starts[node + 1]].tolist():
            add_shared_neighbors(network.offsets, network.neighbors, person, shared)
        common = np.bincount(label, weights=shared, minlength=count)
        apart = sums[node] / sizes[node] + sums / sizes - 2 * common / (sizes * sizes[node])
        apart[node] = np.inf
        nearest = int(np.argmin(np.where(taken, np.inf, apart)))
        if np.isfinite(apart[nearest]) and not taken[nearest]:
            into[node] = nearest
            taken[[node, nearest]] = True
    if not taken.any():  # a single one is left over
        into[bad[0]] = int(np.argmin(np.where(np.arange(count) == bad[0], np.inf, sizes)))
    return np.unique(into[label], return_inverse=True)[1].reshape(-1).astype(np.int64)
