"""Edges outside all triangles, put back into a network whose neighborhoods are alike."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.degree_groups import level_degrees
from sfumato.coding.kernels.edge_sets import build_edge_set
from sfumato.coding.kernels.free_edges import anneal_max_cut, level_free_degrees, restore_edges, undo_changes
from sfumato.networks.network import Graph, sort_edges
from sfumato.networks.refinement import structural_equivalence_classes
from sfumato.randomness import KeyedRandom

ROUNDS = 60
SPARE_SLOTS = 16  # edges that a person may have besides those of the original
MAX_CUT_HEAT, MAX_CUT_TURNS = 5.0, 100  # of the search for two sides, for each person
Edges = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


def restore_free_edges(original: Graph, base: Graph, k: int, stream: KeyedRandom) -> Edges:
    """Return the edges of the base, in which k persons have each neighborhood, and as many free ones as were found.

    An edge is free if it is in no triangle: then both ends have one more neighbor whom no other neighbor knows, and
    nobody else sees a difference. So everybody whose neighborhood was that of k - 1 others needs as many free edges as
    k - 1 of these.
    """
    gone = edge_difference(original.edges, base.edges, len(original))
    possible, kept = original.with_edges(gone), (base.offsets, base.neighbors)
    free = free_edge_arrays(base, gone[:0], possible.degrees)
    restore_edges(kept, free, order_by_max_cut(possible, stream))
    level = target_levels(structural_equivalence_classes(base, "neighborhood"), free[2], k)
    free = free_edge_arrays(base, current_free_edges(free), np.maximum(free[2], level[3]) + SPARE_SLOTS)
    orders = np.stack([stream.permutation(len(base)) for _ in range(ROUNDS)])
    if not level_free_degrees(kept, free, (possible.offsets, possible.neighbors), level, k, orders):
        return base.edges
    while True:
        now = current_free_edges(free)
        lost, fresh = edge_difference(gone, now, len(base)), edge_difference(now, gone, len(base))
        if not undo_changes(kept, free, level, k, lost, fresh):
            return sort_edges(np.concatenate([base.edges, now]))


def order_by_max_cut(possible: Graph, stream: KeyedRandom) -> Edges:
    """Order edges at random, those that go across two sides first: these are in no triangle with each other."""
    side = stream.integers(2, len(possible))
    anneal_max_cut(
        possible.offsets,
        possible.neighbors,
        side,
        stream.random_uint64(2 * MAX_CUT_TURNS * len(possible)),
        MAX_CUT_HEAT,
    )
    shuffled = possible.edges[stream.permutation(possible.n_edges)]
    inside = side[shuffled[:, 0]] == side[shuffled[:, 1]]
    return np.concatenate([shuffled[~inside], shuffled[inside]])


def free_edge_arrays(base: Graph, edges: Edges, room: Ints) -> tuple[Ints, Edges, Ints, Ints]:
    """Return free edges as loops change them, with room for so many of everybody."""
    starts, sizes = np.append(0, np.cumsum(room)), np.bincount(edges.reshape(-1), minlength=len(base))
    slots = np.full(int(starts[-1]), -1, dtype=np.int32)
    ends = np.concatenate([edges, edges[:, ::-1]])
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    within = np.arange(len(ends)) - np.repeat(np.append(0, np.cumsum(sizes)[:-1]), sizes)
    slots[starts[ends[:, 0]] + within] = ends[:, 1]
    table = build_edge_set(np.concatenate([base.edges, edges]), len(base), int(starts[-1]))
    return starts, slots, sizes, table


def target_levels(classes: Ints, sizes: Ints, k: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Return how many free edges everybody shall have, with counts for each class, as `level_free_degrees` reads them."""
    wanted = sizes.copy()
    order = np.lexsort((-sizes, classes))
    for members in np.split(order, np.flatnonzero(np.diff(classes[order])) + 1):
        wanted[members] = level_degrees(sizes[members], k)[0]
    most = np.zeros(int(classes.max()) + 1, dtype=np.int64)
    np.maximum.at(most, classes, wanted)
    first = np.append(0, np.cumsum(most + 2))
    counts = np.bincount(first[classes] + wanted, minlength=int(first[-1]))
    return first[classes], first[classes + 1], counts, wanted


def current_free_edges(free: tuple[Ints, Edges, Ints, Ints]) -> Edges:
    """Return the free edges that there are, the lower number first."""
    starts, slots, sizes, _ = free
    ones = np.repeat(np.arange(len(sizes)), sizes)
    places = np.arange(len(ones)) + np.repeat(starts[:-1] - np.append(0, np.cumsum(sizes)[:-1]), sizes)
    pairs = np.stack([ones, slots[places]], axis=1).astype(np.int32)
    return sort_edges(pairs[pairs[:, 0] < pairs[:, 1]])


def edge_difference(edges: Edges, others: Edges, persons: int) -> Edges:
    """Return the edges that are not among others."""
    keys, known = (each[:, 0].astype(np.int64) * persons + each[:, 1] for each in (edges, others))
    return edges[~np.isin(keys, known)]


def count_edge_changes(network: Graph, found: Edges) -> int:
    """Count the edges that differ."""
    return len(edge_difference(network.edges, found, len(network))) + len(
        edge_difference(found, network.edges, len(network))
    )
