"""Degrees of which each occurs k times, reached by adding edges only."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.degree_groups import NEVER, deficit, raised
from sfumato.coding.kernels.edge_sets import edge_set
from sfumato.coding.kernels.realizing import join, reroute
from sfumato.networks.network import Network, sorted_edges
from sfumato.randomness import Stream

ROUNDS = 60
MOST_EDGES = 10_000_000  # that everybody may get who cannot be served otherwise
MORE = 0.002  # share of persons who rise where a search was stuck
Ints = npt.NDArray[np.int64]


def added_edges(network: Network, k: int, stream: Stream) -> npt.NDArray[np.int32] | None:
    """Return all edges of a network with more edges, in which every degree occurs k times; None if none was found."""
    degrees, rank = network.degrees, stream.permutation(len(network))
    probed = degrees.copy()
    for _ in range(ROUNDS):
        order = rank[np.argsort(-probed[rank], kind="stable")]
        sequence, even, _ = raised(probed[order], k)
        missing = 2
        if even < NEVER:
            target = np.empty_like(degrees)
            target[order] = sequence
            found, missing = _realized_with_partners(network, target, k, rank, stream)
            if found is not None:
                return found
        _probe(probed, max(missing, 2, int(MORE * len(network))), rank)
    return alike_degrees(network, rank, stream)


def alike_degrees(network: Network, rank: Ints, stream: Stream) -> npt.NDArray[np.int32] | None:
    """Return edges that give everybody the same degree, as low as it can be found; None if they would be too many."""
    persons, degree = len(network), int(network.degrees.max())
    while persons * degree <= 2 * MOST_EDGES:
        if persons * degree % 2 == 0:
            found, _ = realized(network, degree - network.degrees, rank, stream)
            if found is not None:
                return found
        degree += 1  # at the latest, everybody knows everybody
    return None


def _realized_with_partners(
    network: Network, target: Ints, k: int, rank: Ints, stream: Stream
) -> tuple[npt.NDArray[np.int32] | None, int]:
    """Raise partners until edges give everybody her degree; else return how many partners were missing."""
    degrees = network.degrees
    for _ in range(ROUNDS):
        raises = target - degrees
        missing = deficit(np.sort(raises)[::-1].copy())
        if not missing:
            found, raises = realized(network, raises, rank, stream)
            if found is not None:
                return found, 0
            missing = int(raises.sum())
        lacking = _raise_partners(target, degrees, missing + missing % 2, k, (rank, _open_to(network, raises, k)))
        if lacking:
            return None, lacking
    return None, 2


def _open_to(network: Network, needs: Ints, k: int) -> Ints:
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


def _probe(probed: Ints, count: int, rank: Ints) -> None:
    """Raise an even number of the lowest degrees by one, but not the highest, unless all are alike."""
    below = rank[probed[rank] < max(int(probed.max()), 1)]
    lowest = below[np.argsort(probed[below], kind="stable")] if len(below) > 1 else rank
    probed[lowest[: min(count + count % 2, len(lowest) - len(lowest) % 2)]] += 1


def realized(network: Network, raises: Ints, rank: Ints, stream: Stream) -> tuple[npt.NDArray[np.int32] | None, Ints]:
    """Add edges so that every degree rises as asked; or None, and how many partners each person still needs."""
    total = int(raises.sum())
    table = edge_set(network.edges, len(network), total)
    added, needs = np.empty((total // 2, 2), dtype=np.int64), raises.copy()
    count = join(needs, rank, table, added, True)  # noqa: FBT003 - loops take flags by position
    left = int(needs.sum())
    if left:
        served = reroute(needs, table, added[: count + left // 2], stream.words(left))
        if 2 * served < left:
            return None, needs
    return sorted_edges(np.concatenate([network.edges, added])), needs
