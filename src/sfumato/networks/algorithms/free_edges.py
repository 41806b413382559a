"""Edges outside all triangles, put back into a network whose neighborhoods are alike."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.degree_groups import leveled
from sfumato.coding.kernels.edge_sets import edge_set
from sfumato.coding.kernels.free_edges import anneal_sides, level_free, put_back, spare
from sfumato.networks.network import Network, sorted_edges
from sfumato.networks.refinement import structure_classes
from sfumato.randomness import Stream

ROUNDS = 60
ROOM = 16  # edges that a person may have besides those of the original
HEAT, TURNS = 5.0, 100  # of the search for two sides, for each person
Edges = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


def with_free_edges(original: Network, base: Network, k: int, stream: Stream) -> Edges:
    """Return the edges of the base, in which k persons have each neighborhood, and as many free ones as were found.

    An edge is free if it is in no triangle: then both ends have one more neighbor whom no other neighbor knows, and
    nobody else sees a difference. So everybody whose neighborhood was that of k - 1 others needs as many free edges as
    k - 1 of these.
    """
    gone = without(original.edges, base.edges, len(original))
    possible, kept = original.with_edges(gone), (base.offsets, base.neighbors)
    free = arrays_of(base, gone[:0], possible.degrees)
    put_back(kept, free, across_first(possible, stream))
    level = wanted_levels(structure_classes(base, "neighborhood"), free[2], k)
    free = arrays_of(base, current(free), np.maximum(free[2], level[3]) + ROOM)
    orders = np.stack([stream.permutation(len(base)) for _ in range(ROUNDS)])
    if not level_free(kept, free, (possible.offsets, possible.neighbors), level, k, orders):
        return base.edges
    while True:
        now = current(free)
        lost, fresh = without(gone, now, len(base)), without(now, gone, len(base))
        if not spare(kept, free, level, k, lost, fresh):
            return sorted_edges(np.concatenate([base.edges, now]))


def across_first(possible: Network, stream: Stream) -> Edges:
    """Order edges at random, those that go across two sides first: these are in no triangle with each other."""
    side = stream.below(2, len(possible))
    anneal_sides(possible.offsets, possible.neighbors, side, stream.words(2 * TURNS * len(possible)), HEAT)
    shuffled = possible.edges[stream.permutation(possible.size)]
    inside = side[shuffled[:, 0]] == side[shuffled[:, 1]]
    return np.concatenate([shuffled[~inside], shuffled[inside]])


def arrays_of(base: Network, edges: Edges, room: Ints) -> tuple[Ints, Edges, Ints, Ints]:
    """Return free edges as loops change them, with room for so many of everybody."""
    starts, sizes = np.append(0, np.cumsum(room)), np.bincount(edges.reshape(-1), minlength=len(base))
    slots = np.full(int(starts[-1]), -1, dtype=np.int32)
    ends = np.concatenate([edges, edges[:, ::-1]])
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    within = np.arange(len(ends)) - np.repeat(np.append(0, np.cumsum(sizes)[:-1]), sizes)
    slots[starts[ends[:, 0]] + within] = ends[:, 1]
    table = edge_set(np.concatenate([base.edges, edges]), len(base), int(starts[-1]))
    return starts, slots, sizes, table


def wanted_levels(classes: Ints, sizes: Ints, k: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Return how many free edges everybody shall have, with counts for each class, as `level_free` reads them."""
    wanted = sizes.copy()
    order = np.lexsort((-sizes, classes))
    for members in np.split(order, np.flatnonzero(np.diff(classes[order])) + 1):
        wanted[members] = leveled(sizes[members], k)[0]
    most = np.zeros(int(classes.max()) + 1, dtype=np.int64)
    np.maximum.at(most, classes, wanted)
    first = np.append(0, np.cumsum(most + 2))
    counts = np.bincount(first[classes] + wanted, minlength=int(first[-1]))
    return first[classes], first[classes + 1], counts, wanted


def current(free: tuple[Ints, Edges, Ints, Ints]) -> Edges:
    """Return the free edges that there are, the lower number first."""
    starts, slots, sizes, _ = free
    ones = np.repeat(np.arange(len(sizes)), sizes)
    places = np.arange(len(ones)) + np.repeat(starts[:-1] - np.append(0, np.cumsum(sizes)[:-1]), sizes)
    pairs = np.stack([ones, slots[places]], axis=1).astype(np.int32)
    return sorted_edges(pairs[pairs[:, 0] < pairs[:, 1]])


def without(edges: Edges, others: Edges, persons: int) -> Edges:
    """Return the edges that are not among others."""
    keys, known = (each[:, 0].astype(np.int64) * persons + each[:, 1] for each in (edges, others))
    return edges[~np.isin(keys, known)]


def changes(network: Network, found: Edges) -> int:
    """Count the edges that differ."""
    return len(without(network.edges, found, len(network))) + len(without(found, network.edges, len(network)))
