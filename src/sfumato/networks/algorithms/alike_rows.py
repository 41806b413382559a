"""Neighborhoods made alike in large networks: dense parts move in rows, and elsewhere edges are in no triangle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.aligning import class_sizes, number_classes
from sfumato.coding.kernels.free_edges import choose_aligned_rows
from sfumato.core.progress import Progress, scale_progress
from sfumato.networks.algorithms.free_edges import Edges, count_edge_changes, restore_free_edges
from sfumato.networks.algorithms.k_match import Places, arrange_vertices, pad_rows, shift_columns
from sfumato.networks.network import Graph
from sfumato.randomness import KeyedRandom

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
