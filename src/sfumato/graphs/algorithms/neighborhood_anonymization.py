"""Neighborhoods made alike: edges change until everybody's neighbors are related as those of k - 1 others."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from sfumato._progress import Progress, scale_progress
from sfumato._randomness import KeyedRandom
from sfumato._validation import is_integer, require
from sfumato.core.algorithm import Request
from sfumato.errors import InfeasibleError
from sfumato.graphs._kernels.degree_sequence import level_degrees
from sfumato.graphs._kernels.edge_set import build_edge_set
from sfumato.graphs._kernels.k_match import class_sizes, number_classes
from sfumato.graphs._kernels.neighborhood_annealing import anneal_neighborhoods, initial_state
from sfumato.graphs._kernels.neighborhood_growth import ALONE, grow_neighborhoods
from sfumato.graphs._kernels.triangle_free_edges import (
    anneal_max_cut,
    choose_aligned_rows,
    level_free_degrees,
    restore_edges,
    undo_changes,
)
from sfumato.graphs.algorithms._base import GraphAlgorithm, required_k
from sfumato.graphs.algorithms.k_match import Places, arrange_vertices, pad_rows, shift_columns
from sfumato.graphs.graph import Graph, sort_edges
from sfumato.graphs.models._base import PublishedGraph
from sfumato.graphs.models.k_degree_anonymity import KDegreeAnonymity
from sfumato.graphs.models.k_neighborhood_anonymity import KNeighborhoodAnonymity
from sfumato.graphs.vertex_refinement import structural_equivalence_classes

Ints = npt.NDArray[np.int64]


# Edges outside all triangles, put back into a network whose neighborhoods are alike.

ROUNDS = 60
SPARE_SLOTS = 16  # edges that a person may have besides those of the original
MAX_CUT_HEAT, MAX_CUT_TURNS = 5.0, 100  # of the search for two sides, for each person
Edges = npt.NDArray[np.int32]


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
    """Return the wanted number of free edges of each vertex, with counts per class, for `level_free_degrees`."""
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


# Neighborhoods made alike in large networks: dense parts move in rows, and elsewhere edges are in no triangle.

FREE = 0.55  # share of edges that two sides keep where no rows are chosen
CROSS_SHARES = (0.1, 0.2, 0.3)  # shares to try of edges that stay between chosen and other persons
ALIGNMENT_HEAT, ALIGNMENT_TURNS = 20.0, 300  # of the choice, for each row


def anonymize_by_alignment(network: Graph, k: int, turns: int, stream: KeyedRandom, progress: Progress) -> Edges:
    """Return edges of a network in which k persons have each neighborhood.

    Persons are arranged as for `KMatch`. Pairs to which an edge moves are joined if most of them were edges and both
    rows are chosen. All others are removed, and put back as far as they are in no triangle. Rows are chosen where this
    saves edges, in some ways, and the fewest changes win; one of the ways chooses none.
    """
    full = pad_rows(network, k)
    place = arrange_vertices(full, (k, False, True), turns, stream, scale_progress(progress, 0.0, 0.9))
    best = network.edges[:0]
    for step, across in enumerate((*CROSS_SHARES, None)):
        progress(0.9 + 0.1 * step / (len(CROSS_SHARES) + 1), f"{count_edge_changes(network, best):,} edges change")
        chosen = np.zeros(len(full) // k, dtype=np.bool_)
        if across is not None:
            chosen = _choose_rows(full, place, k, across, stream)
        chosen[place[len(network) :] // k] = False  # rows with persons who are not published
        found = restore_free_edges(network, network.with_edges(_pairs_to_join(full, place, k, chosen)), k, stream)
        if count_edge_changes(network, found) < count_edge_changes(network, best):
            best = found
    return best


def _pairs_to_join(full: Graph, place: Places, k: int, chosen: npt.NDArray[np.bool_]) -> Edges:
    """Return all pairs of chosen rows of which most were edges."""
    known, first, counts = _pair_classes(full, place, k)
    keep = 2 * counts > class_sizes(known, k, len(chosen))
    keep &= chosen[known // k // len(chosen)] & chosen[known // k % len(chosen)]
    return shift_columns(full.edges[first[keep]], place, k)


def _choose_rows(full: Graph, place: Places, k: int, across: float, stream: KeyedRandom) -> npt.NDArray[np.bool_]:
    """Choose rows in which joining what moves together saves more edges than two sides would."""
    rows = len(full) // k
    known, _, counts = _pair_classes(full, place, k)
    saved, one, other = np.maximum(2 * counts - class_sizes(known, k, rows), 0), known // k // rows, known // k % rows
    within = one == other
    inside = np.bincount(one[within], weights=(saved - FREE * counts)[within], minlength=rows)
    ends = np.concatenate([one[~within], other[~within]])
    order = np.argsort(ends, kind="stable")
    both, edges = (np.tile(each[~within], 2)[order].astype(np.float64) for each in (saved, counts))
    offsets = np.append(0, np.cumsum(np.bincount(ends, minlength=rows)))
    others = np.concatenate([other[~within], one[~within]])[order]
    gains = both, across * edges, FREE * edges
    return choose_aligned_rows(
        offsets, others, gains, inside, stream.random_uint64(2 * ALIGNMENT_TURNS * rows), ALIGNMENT_HEAT
    )


def _pair_classes(full: Graph, place: Places, k: int) -> tuple[Places, Places, Places]:
    """Return the classes of pairs that move together and have an edge, an edge of each, and how many they have."""
    numbers = number_classes(full.edges, place // k, place % k, k)
    return np.unique(numbers, return_index=True, return_counts=True)


LARGEST = 500  # persons, all of whom are compared with each other
MAX_ANNEALED = 200  # persons of networks to which edges are only added
STEPS = 20  # after which the search says how far it is
ANNEALING_HEAT, SLICES = 3.0, 50  # the first temperature, and the parts of a search between which it says how far it is


@dataclass(frozen=True, kw_only=True, repr=False)
class NeighborhoodAnonymization(GraphAlgorithm):
    r"""Change edges until everybody's neighbors are related as those of $k - 1$ others, for `KNeighborhoodAnonymity`.

    With edges added and removed, networks of up to 500 persons change by simulated annealing, which weighs the number
    of changed edges against how far everybody is from looking like $k - 1$ others; the fewest changes win that leave
    nobody alone. Its time grows with the square of the number of persons.

    Larger networks, and those for which it finds nothing, get rows of $k$ persons as `KMatch` finds them. Where a
    network is dense, rows change so that they can move one place on. Elsewhere edges stay that are in no triangle: they
    add somebody to a neighborhood whom nobody else in it knows, so only their number has to be that of $k - 1$ others.
    This always ends, and takes about as long as `KMatch`. On dense networks four edges in ten change; most of these
    are removed, and with them most triangles.

    With edges only added, it goes Zhou and Pei's way [1]_: the largest neighborhood that is not finished and the
    $k - 1$ cheapest others are made equal. Their components are matched, equal ones first, the others from their best
    known persons outwards; edges that one lacks are added, and missing neighbors are unfinished persons of least
    degree. Whoever sees a new edge in her neighborhood is unfinished again. It ends, on networks with hubs near the
    complete graph or in it, and serves up to 200 persons.

    Parameters
    ----------
    edges : `"change"` adds and removes edges; `"add"` keeps all edges of the original.
    turns : how many changes are tried for each person where edges are also removed; more need fewer edges.

    References
    ----------
    .. [1] Zhou, Pei, "Preserving privacy in social networks against neighborhood attacks", ICDE 2008.
       https://doi.org/10.1109/ICDE.2008.4497459
    """

    name = "alike-neighborhoods"
    reference = "Zhou, Pei 2008, https://doi.org/10.1109/ICDE.2008.4497459"
    supports: ClassVar = (KNeighborhoodAnonymity, KDegreeAnonymity)  # who has a like neighborhood has as many neighbors

    edges: Literal["change", "add"] = "change"
    turns: int = 1_000

    def __post_init__(self) -> None:
        require(self.edges in {"change", "add"}, self, "edges", '"change" or "add"', self.edges)
        require(is_integer(self.turns) and self.turns >= 1, self, "turns", "a whole number of at least 1", self.turns)

    def search(self, request: Request[PublishedGraph]) -> Graph:
        """Change edges until k persons have each neighborhood."""
        network, k = request.data, required_k(request)
        assert isinstance(network, Graph)  # noqa: S101 - originals are graphs
        bare = Graph(keys=network.keys, edges=network.edges)
        if k == 1:
            return bare
        if self.edges == "add":
            return _grow_neighborhoods(bare, k, request)
        found = self._annealed(bare, k, request) if len(bare) <= LARGEST else None
        if found is None or KNeighborhoodAnonymity(k=k).evaluate(found).violations:
            found = bare.with_edges(anonymize_by_alignment(bare, k, self.turns, request.stream, request.progress))
        return found

    def _annealed(self, network: Graph, k: int, request: Request[PublishedGraph]) -> Graph | None:
        """Return the best network that annealing found, if any; hashes guided it, so somebody must compare in full."""
        related = _adjacency_matrix(network)
        graphs, kept = (related.copy(), related, related.copy()), initial_state(related, k)
        for start, end in itertools.pairwise(np.linspace(0, 1, SLICES + 1)):
            least = int(kept[2][2])
            request.progress(float(start), f"{least:,} edges change" if least >= 0 else "")
            turns = int(end * self.turns * len(network)) - int(start * self.turns * len(network))
            heats = float(ANNEALING_HEAT * (1 - start)), float(ANNEALING_HEAT * (1 - end))
            anneal_neighborhoods(graphs, k, kept, request.stream.random_uint64(6 * turns), heats)
        return network.with_edges(np.argwhere(np.triu(graphs[2]))) if kept[2][2] >= 0 else None


def _grow_neighborhoods(network: Graph, k: int, request: Request[PublishedGraph]) -> Graph:
    """Return a network with more edges, in which k persons have each neighborhood."""
    if len(network) > MAX_ANNEALED:
        raise InfeasibleError(
            f"NeighborhoodAnonymization only adds edges to networks of up to {MAX_ANNEALED:,} persons, and "
            "this one has "
            f"{len(network):,}; choose edges='change', or search by KMatch."
        )
    related, group = _adjacency_matrix(network), np.full(len(network), ALONE, dtype=np.int64)
    order, left = request.stream.permutation(len(network)), len(network)
    while left:
        request.progress(1 - left / len(network), f"{int(related.sum()) // 2 - network.n_edges:,} edges were added")
        left = grow_neighborhoods(related, group, k, order, STEPS)
    return network.with_edges(np.argwhere(np.triu(related)))


def _adjacency_matrix(network: Graph) -> npt.NDArray[np.bool_]:
    """Return who is related to whom."""
    related: npt.NDArray[np.bool_] = np.zeros((len(network), len(network)), dtype=np.bool_)
    related[network.edges[:, 0], network.edges[:, 1]] = related[network.edges[:, 1], network.edges[:, 0]] = True
    return related
