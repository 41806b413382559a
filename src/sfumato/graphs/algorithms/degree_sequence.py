"""k-degree anonymity by the cheapest sequence of degrees, which edges then realize."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from sfumato._randomness import KeyedRandom
from sfumato._validation import require
from sfumato.core.algorithm import Request
from sfumato.errors import InfeasibleError
from sfumato.graphs._kernels.degree_sequence import (
    NEVER,
    degree_deficit,
    join_by_need,
    level_degrees,
    nearest_anonymous_graph,
    raise_degrees,
    reroute_edges,
    rotate_edges,
    shortcut_edges,
)
from sfumato.graphs._kernels.edge_set import build_edge_set, list_edges
from sfumato.graphs.algorithms._base import GraphAlgorithm, required_k
from sfumato.graphs.graph import Graph, sort_edges
from sfumato.graphs.models._base import PublishedGraph
from sfumato.graphs.models.k_degree_anonymity import KDegreeAnonymity

Ints = npt.NDArray[np.int64]


# Degrees of which each occurs k times, reached by adding edges only.

ROUNDS = 60
MAX_EDGES = 10_000_000  # that everybody may get who cannot be served otherwise
PROBE_SHARE = 0.002  # share of persons who rise where a search was stuck


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


# Degrees of which each occurs k times, reached by adding, removing and moving edges.


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


MAX_EXHAUSTIVE = 7  # persons of networks whose graphs are all tried
SMALL = 5_000  # edges of networks that are searched several times
TRIES = 30


@dataclass(frozen=True, kw_only=True, repr=False)
class DegreeSequence(GraphAlgorithm):
    r"""Find the cheapest degrees of which each occurs $k$ times, and change few edges to reach them [1]_.

    Degrees are sorted, and groups of $k$ to $2k - 1$ persons get one degree each, by dynamic programming in
    $O(n k)$ for $n$ persons. With edges added and removed, groups move to their medians: first edges are added between
    persons who need some and removed between persons who have too many, then ends of edges move from one to the other.
    With edges only added, groups rise to their largest degree. Somebody who needs many more neighbors then needs as
    many partners, which must rise, too: no network that contains the original has fewer raises than the bound that is
    told (`least-raises-of-any-supergraph`), and the sum that dynamic programming finds (`least-raises`) is mostly out
    of reach. Networks of up to 5,000 edges are searched 30 times, in both ways where edges may be removed, and the
    fewest changes win. Of up to seven persons all graphs are tried, so that nothing needs fewer changes. Where nothing
    else is found, everybody gets the same degree, as long as this takes at most 10 million edges.

    Parameters
    ----------
    edges : `"change"` adds and removes edges; `"add"` keeps all edges of the original.

    References
    ----------
    .. [1] Liu, Terzi, "Towards identity anonymization on graphs", SIGMOD 2008.
       https://doi.org/10.1145/1376616.1376629
    """

    name = "degree-sequence"
    reference = "Liu, Terzi 2008, https://doi.org/10.1145/1376616.1376629"
    supports: ClassVar = (KDegreeAnonymity,)

    edges: Literal["change", "add"] = "change"

    def __post_init__(self) -> None:
        require(self.edges in {"change", "add"}, self, "edges", '"change" or "add"', self.edges)

    def search(self, request: Request[PublishedGraph]) -> Graph:
        """Change edges until every degree occurs k times."""
        network, k = _original_graph(request), required_k(request)
        if len(network) <= MAX_EXHAUSTIVE:
            return network.with_edges(self._search_exhaustively(network, k, request.stream))
        best: npt.NDArray[np.int32] | None = None
        tries = TRIES if network.n_edges <= SMALL else 1
        for turn in range(tries):
            request.progress(turn / tries)
            for found in self._search_once(network, k, request.stream):
                if best is None or _count_changes(network, found) < _count_changes(network, best):
                    best = found
        if best is None:
            raise InfeasibleError(
                f"No network was found in which every degree occurs {k:,} times by this way of changing edges; "
                "choose a smaller k or edges='change'."
            )
        return network.with_edges(best)

    def _search_once(self, network: Graph, k: int, stream: KeyedRandom) -> list[npt.NDArray[np.int32]]:
        """Search once in every way that is allowed; in large networks only until something is found."""
        found = None if self.edges == "add" else anonymize_by_edge_changes(network, k, stream)
        if found is not None and network.n_edges > SMALL:
            return [found]
        return [each for each in (found, anonymize_by_additions(network, k, stream)) if each is not None]

    def _search_exhaustively(self, network: Graph, k: int, stream: KeyedRandom) -> npt.NDArray[np.int32]:
        """Try all graphs, in random order."""
        pairs = np.stack(np.triu_indices(len(network), 1), axis=1)
        pairs = pairs[stream.permutation(len(pairs))]
        before = np.zeros((len(network), len(network)), dtype=np.bool_)
        before[network.edges[:, 0], network.edges[:, 1]] = True
        joined = before[pairs[:, 0], pairs[:, 1]]
        return pairs[nearest_anonymous_graph(pairs, joined, len(network), k, self.edges == "add")].astype(np.int32)

    def search_metrics(self, original: Graph, request: Request[PublishedGraph]) -> Mapping[str, float]:
        """Return the bounds on the changes."""
        k = required_k(request)
        degrees = np.sort(original.degrees)[::-1].copy()
        if self.edges == "change":
            return {"least-degree-changes": level_degrees(degrees, k)[1]}
        _, even, least = raise_degrees(degrees, k)
        top = 2 * int((degrees[0] - degrees[:k]).sum()) - k * (k - 1)
        bounds = {"least-raises": least, "least-even-raises": even, "least-raises-of-any-supergraph": max(top, least)}
        return {name: bound for name, bound in bounds.items() if bound < NEVER}


def _original_graph(request: Request[PublishedGraph]) -> Graph:
    assert isinstance(request.data, Graph)  # noqa: S101 - originals are graphs
    return request.data


def _count_changes(network: Graph, found: npt.NDArray[np.int32]) -> int:
    """Count the edges that differ."""
    before, after = (each[:, 0].astype(np.int64) * len(network) + each[:, 1] for each in (network.edges, found))
    return len(np.setxor1d(before, after, assume_unique=True))
