"""Relations: what an edge is of, where two persons can be related in several kinds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import SchemaError
from sfumato.graphs._input import group_edge_types
from sfumato.graphs.clustered_graph import ClusteredGraph
from sfumato.graphs.graph import Graph
from sfumato.graphs.models._base import PublishedGraph

UNKNOWN = -1


def typed_edges(network: Graph) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], list[str]]:
    """Return for every relation its edge and the number of its kind, -1 if that is unknown, and the kinds by number.

    Edges without kinds are one relation of unknown kind each.
    """
    if network.edge_types is None:
        return np.arange(network.n_edges), np.full(network.n_edges, UNKNOWN, dtype=np.int64), []
    coded = network.edge_types.flatten().dictionary_encode()
    kind = pc.fill_null(coded.indices, UNKNOWN).to_numpy(zero_copy_only=False).astype(np.int64)
    edge = pc.list_parent_indices(network.edge_types).to_numpy(zero_copy_only=False)
    return np.asarray(edge, dtype=np.int64), kind, [str(each) for each in coded.dictionary.to_pylist()]


def keep_typed_edges(network: Graph, kept: npt.NDArray[np.bool_]) -> Graph:
    """Return the network with some of its relations; an edge without any is no longer there."""
    edge = typed_edges(network)[0][kept]
    edges, starts = np.unique(edge, return_index=True)
    assert network.edge_types is not None  # noqa: S101 - asked only where there are some
    kinds = network.edge_types.flatten().filter(pa.array(kept))
    return replace(network.with_edges(network.edges[edges]), edge_types=group_edge_types(starts, kinds))


def without_edge_type(network: Graph, kind: str) -> Graph:
    """Remove all relations of a kind, and those of unknown kind, which may be of it."""
    if network.edge_types is None:
        raise SchemaError("The edges have no kinds, so none of them is sensitive; name the column of the kinds.")
    other = pc.fill_null(pc.not_equal(network.edge_types.flatten(), kind), False)  # noqa: FBT003 - what is unknown goes
    if not pc.any(pc.equal(network.edge_types.flatten(), kind)).as_py():
        raise SchemaError("No edge is of the sensitive kind; name a kind that occurs.")
    return keep_typed_edges(network, other.to_numpy(zero_copy_only=False).astype(np.bool_))


def count_typed_edges(network: Graph, cluster: npt.NDArray[np.integer]) -> ClusteredGraph:
    """Count the relations of every kind inside and between super-nodes."""
    edge, kind, names = typed_edges(network)
    label, nodes = np.asarray(cluster, dtype=np.int64), int(cluster.max()) + 1
    ends = np.sort(label[network.edges[edge]], axis=1)
    place = ends[:, 0] * nodes + ends[:, 1]
    counts = {}
    for number, name in enumerate(names):
        keys, found = np.unique(place[kind == number], return_counts=True)
        counts[name] = np.stack([keys // nodes, keys % nodes, found], axis=1)
    return ClusteredGraph.from_edge_types(network.keys, label, counts)


def typed_edge_metrics(original: Graph, published: PublishedGraph) -> dict[str, float]:
    """Return how many relations are still shown or counted and how many are not, where kinds are published."""
    if published.edge_types is None:
        return {}
    if isinstance(published, ClusteredGraph):
        shown = sum(int(rows[:, 2].sum()) for rows in published.edge_types.values())
    else:
        shown = len(typed_edges(published)[0])
    return {"relations-kept": shown, "relations-removed": len(typed_edges(original)[0]) - shown}
