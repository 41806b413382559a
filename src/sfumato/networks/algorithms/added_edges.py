"""Degrees of which each occurs k times, reached by adding edges only."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.degree_groups import NEVER, degree_deficit, raise_degrees
from sfumato.coding.kernels.edge_sets import build_edge_set
from sfumato.coding.kernels.realizing import join_by_need, reroute_edges
from sfumato.networks.network import Graph, sort_edges
from sfumato.randomness import KeyedRandom

ROUNDS = 60
MAX_EDGES = 10_000_000  # that everybody may get who cannot be served otherwise
PROBE_SHARE = 0.002  # share of persons who rise where a search was stuck
Ints = npt.NDArray[np.int64]


def anonymize_by_additions(network: Graph, k: int, stream: KeyedRandom) -> npt.NDArray[np.int32] | None:
    """Return all edges of a network with more edges, in which every degree occurs k times; None if none was found."""
    degrees, rank = network.degrees, stream.permutation(len(network))
    probed = degrees.copy()
    for _ in range(ROUNDS):
        order = rank[np.argsort(-probed[rank], kind="stable")]
        sequence, even, _ = raise_degrees(probed[order], k)
        missing = 2
        if even < NEVER:
            target = np.empty_like(degrees)
            target[order] = sequence
            found, missing = _realize_with_slack(network, target, k, rank, stream)
            if found is not None:
                return found
        _raise_lowest_degrees(probed, max(missing, 2, int(PROBE_SHARE * len(network))), rank)
    return regular_graph(network, rank, stream)


def regular_graph(network: Graph, rank: Ints, stream: KeyedRandom) -> npt.NDArray[np.int32] | None:
    """Return edges that give everybody the same degree, as low as it can be found; None if they would be too many."""
    persons, degree = len(network), int(network.degrees.max())
    while persons * degree <= 2 * MAX_EDGES:
        if persons * degree % 2 == 0:
            found, _ = realize_degrees(network, degree - network.degrees, rank, stream)
            if found is not None:
                return found
        degree += 1  # at the latest, everybody knows everybody
    return None


def _realize_with_slack(
    network: Graph, target: Ints, k: int, rank: Ints, stream: KeyedRandom
) -> tuple[npt.NDArray[np.int32] | None, int]:
    """Raise partners until edges give everybody her degree; else return how many partners were missing."""
    degrees = network.degrees
    for _ in range(ROUNDS):
        raises = target - degrees
        missing = degree_deficit(np.sort(raises)[::-1].copy())
        if not missing:
            found, raises = realize_degrees(network, raises, rank, stream)
            if found is not None:
                return found, 0
            missing = int(raises.sum())
        lacking = _raise_partners(
            target, degrees, missing + missing % 2, k, (rank, _available_partners(network, raises, k))
        )
        if lacking:
            return None, lacking
    return None, 2


def _available_partners(network: Graph, needs: Ints, k: int) -> Ints:
    """Count for everybody how many of the k persons who need most partners she is not joined to."""
    most = np.argsort(-needs, kind="stable")[: min(k, int((needs > 0).sum()))]
    found = np.full(len(network), len(most), dtype=np.int64)
    for person in most.tolist():
        found[network.neighbors[network.offsets[person] : network.offsets[person + 1]]] -= 1
        found[person] = 0
    return found


def _raise_partners(target: Ints, degrees: Ints, needed: int, k: int, fit_first: tuple[Ints, Ints]) -> int:
    """Raise so many persons by one, if there are that many in large classes; return how many are missing.

    Somebody may leave a class of more than k for the next one if that has k members: no class becomes too small.
    `fit_first` has all persons in random order, and how many of those who need partners everybody is open to.
    """
    rank, open_to = fit_first
    counts = np.bincount(target, minlength=len(target) + 1)
    for most, value in itertools.product(range(1, k + 1), range(int(target.max()))):
        spare = min(needed, counts[value] - k) if counts[value + 1] >= k else 0
        if spare > 0:
            members = rank[target[rank] == value]
            fit = members[(open_to[members] > 0) & (target[members] - degrees[members] < most)]
            first = fit[np.argsort(-open_to[fit], kind="stable")][:spare]
            target[first] += 1
            counts[value] -= len(first)
            counts[value + 1] += len(first)
            needed -= len(first)
    return int(needed)


def _raise_lowest_degrees(probed: Ints, count: int, rank: Ints) -> None:
    """Raise an even number of the lowest degrees by one, but not the highest, unless all are alike."""
    below = rank[probed[rank] < max(int(probed.max()), 1)]
    lowest = below[np.argsort(probed[below], kind="stable")] if len(below) > 1 else rank
    probed[lowest[: min(count + count % 2, len(lowest) - len(lowest) % 2)]] += 1


def realize_degrees(
    network: Graph, raises: Ints, rank: Ints, stream: KeyedRandom
) -> tuple[npt.NDArray[np.int32] | None, Ints]:
    """Add edges so that every degree rises as asked; or None, and how many partners each person still needs."""
    total = int(raises.sum())
    table = build_edge_set(network.edges, len(network), total)
    added, needs = np.empty((total // 2, 2), dtype=np.int64), raises.copy()
    count = join_by_need(needs, rank, table, added, True)  # noqa: FBT003 - loops take flags by position
    left = int(needs.sum())
    if left:
        served = reroute_edges(needs, table, added[: count + left // 2], stream.random_uint64(left))
        if 2 * served < left:
            return None, needs
    return sort_edges(np.concatenate([network.edges, added])), needs
