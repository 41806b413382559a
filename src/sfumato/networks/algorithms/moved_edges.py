"""Degrees of which each occurs k times, reached by adding, removing and moving edges."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.degree_groups import leveled
from sfumato.coding.kernels.edge_sets import edge_set, listed
from sfumato.coding.kernels.realizing import join, reroute, rotate, shorten
from sfumato.networks.network import Network, sorted_edges
from sfumato.randomness import Stream


def moved_edges(network: Network, k: int, stream: Stream) -> npt.NDArray[np.int32] | None:
    """Return the edges of a network in which every degree occurs k times; None if some changes were not possible."""
    degrees, rank = network.degrees, stream.permutation(len(network))
    order = rank[np.argsort(-degrees[rank], kind="stable")]
    target = np.empty_like(degrees)
    target[order] = leveled(degrees[order], k)[0]
    gains, losses = np.maximum(target - degrees, 0), np.maximum(degrees - target, 0)
    room = int(gains.sum() + losses.sum())
    table, words = edge_set(network.edges, len(network), room), stream.words(room + 1)
    changed = np.empty((room + 1, 2), dtype=np.int64)
    if gains.any():
        join(gains, rank, table, changed, True)  # noqa: FBT003 - loops take flags by position
    if losses.any():
        join(losses, rank, table, changed, False)  # noqa: FBT003 - the same
    if gains.any() and losses.any():
        rotate(network.offsets, network.neighbors, gains, losses, rank, table, words)
    if losses.any():
        shorten(network.offsets, network.neighbors, losses, table)
    if gains.any():
        now = listed(table, len(network))
        reroute(gains, table, np.concatenate([now, np.zeros((int(gains.sum()) // 2, 2), dtype=np.int32)]), words)
    if gains.any() or losses.any():
        return None
    return sorted_edges(listed(table, len(network)))
