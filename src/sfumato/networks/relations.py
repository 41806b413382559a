"""Relations: what an edge is of, where two persons can be related in several kinds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.exceptions import SchemaError
from sfumato.networks.clustered import ClusteredNetwork
from sfumato.networks.edge_tables import lists_of
from sfumato.networks.network import Network
from sfumato.networks.promise import Published

UNKNOWN = -1


def relations(network: Network) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], list[str]]:
    """Return for every relation its edge and the number of its kind, -1 if that is unknown, and the kinds by number.

    Edges without kinds are one relation of unknown kind each.
    """
    if network.kinds is None:
        return np.arange(network.size), np.full(network.size, UNKNOWN, dtype=np.int64), []
    coded = network.kinds.flatten().dictionary_encode()
    kind = pc.fill_null(coded.indices, UNKNOWN).to_numpy(zero_copy_only=False).astype(np.int64)
    edge = pc.list_parent_indices(network.kinds).to_numpy(zero_copy_only=False)
    return np.asarray(edge, dtype=np.int64), kind, [str(each) for each in coded.dictionary.to_pylist()]


def with_relations(network: Network, kept: npt.NDArray[np.bool_]) -> Network:
    """Return the network with some of its relations; an edge without any is no longer there."""
    edge = relations(network)[0][kept]
    edges, starts = np.unique(edge, return_index=True)
    assert network.kinds is not None  # noqa: S101 - asked only where there are some
    kinds = network.kinds.flatten().filter(pa.array(kept))
    return replace(network.with_edges(network.edges[edges]), kinds=lists_of(starts, kinds))


def without_kind(network: Network, kind: str) -> Network:
    """Remove all relations of a kind, and those of unknown kind, which may be of it."""
    if network.kinds is None:
        raise SchemaError("The edges have no kinds, so none of them is sensitive; name the column of the kinds.")
    other = pc.fill_null(pc.not_equal(network.kinds.flatten(), kind), False)  # noqa: FBT003 - what is unknown goes
    if not pc.any(pc.equal(network.kinds.flatten(), kind)).as_py():
        raise SchemaError("No edge is of the sensitive kind; name a kind that occurs.")
    return with_relations(network, other.to_numpy(zero_copy_only=False).astype(np.bool_))


def clustered_relations(network: Network, cluster: npt.NDArray[np.integer]) -> ClusteredNetwork:
    """Count the relations of every kind inside and between super-nodes."""
    edge, kind, names = relations(network)
    label, nodes = np.asarray(cluster, dtype=np.int64), int(cluster.max()) + 1
    ends = np.sort(label[network.edges[edge]], axis=1)
    place = ends[:, 0] * nodes + ends[:, 1]
    counts = {}
    for number, name in enumerate(names):
        keys, found = np.unique(place[kind == number], return_counts=True)
        counts[name] = np.stack([keys // nodes, keys % nodes, found], axis=1)
    return ClusteredNetwork.of_kinds(network.keys, label, counts)


def relations_lost(original: Network, published: Published) -> dict[str, float]:
    """Return how many relations are still shown or counted and how many are not, where kinds are published."""
    if published.kinds is None:
        return {}
    if isinstance(published, ClusteredNetwork):
        shown = sum(int(rows[:, 2].sum()) for rows in published.kinds.values())
    else:
        shown = len(relations(published)[0])
    return {"relations-kept": shown, "relations-removed": len(relations(original)[0]) - shown}
