"""Degrees of which each occurs k times, reached by adding, removing and moving edges."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.degree_groups import level_degrees
from sfumato.coding.kernels.edge_sets import build_edge_set, list_edges
from sfumato.coding.kernels.realizing import join_by_need, reroute_edges, rotate_edges, shortcut_edges
from sfumato.networks.network import Graph, sort_edges
from sfumato.randomness import KeyedRandom


def anonymize_by_edge_changes(network: Graph, k: int, stream: KeyedRandom) -> npt.NDArray[np.int32] | None:
    """Return the edges of a network in which every degree occurs k times; None if some changes were not possible."""
    degrees, rank = network.degrees, stream.permutation(len(network))
    order = rank[np.argsort(-degrees[rank], kind="stable")]
    target = np.empty_like(degrees)
    target[order] = level_degrees(degrees[order], k)[0]
    gains, losses = np.maximum(target - degrees, 0), np.maximum(degrees - target, 0)
    room = int(gains.sum() + losses.sum())
    table, words = build_edge_set(network.edges, len(network), room), stream.random_uint64(room + 1)
    changed = np.empty((room + 1, 2), dtype=np.int64)
    if gains.any():
        join_by_need(gains, rank, table, changed, True)  # noqa: FBT003 - loops take flags by position
    if losses.any():
        join_by_need(losses, rank, table, changed, False)  # noqa: FBT003 - the same
    if gains.any() and losses.any():
        rotate_edges(network.offsets, network.neighbors, gains, losses, rank, table, words)
    if losses.any():
        shortcut_edges(network.offsets, network.neighbors, losses, table)
    if gains.any():
        now = list_edges(table, len(network))
        reroute_edges(gains, table, np.concatenate([now, np.zeros((int(gains.sum()) // 2, 2), dtype=np.int32)]), words)
    if gains.any() or losses.any():
        return None
    return sort_edges(list_edges(table, len(network)))
