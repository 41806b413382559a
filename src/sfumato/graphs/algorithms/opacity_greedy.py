"""Removal of the edges that make pairs of given degrees too likely to be near each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from sfumato._randomness import KeyedRandom
from sfumato._validation import require
from sfumato.core.algorithm import Request
from sfumato.errors import InfeasibleError
from sfumato.graphs._kernels.edge_removal import insert_while_opaque, remove_until_opaque, steps_between
from sfumato.graphs.algorithms._base import GraphAlgorithm
from sfumato.graphs.graph import Graph
from sfumato.graphs.models._base import PublishedGraph
from sfumato.graphs.models.l_opacity import DegreePairTypes, LOpacity

LONGEST = 2
LARGEST = 10_000  # edges of which each is weighed before each step, and persons whose pairs are counted
CHUNK = 100  # steps between two looks at the progress
ROUNDS = 50
Edges = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, repr=False)
class OpacityGreedy(GraphAlgorithm):
    """Remove edges until of no type of pairs too many are near each other, for `LOpacity` [1]_.

    With one step every edge counts for one type only, so what is removed is the least that can be: of every type as
    many edges as it has too many, drawn at random. With two steps the edge is removed each time after which the largest
    share is smallest, then the fewest types have it, then the one on most paths between pairs of these; this weighs all
    edges before each step, so there may be 10,000 edges and 10,000 persons. Longer ways are not searched. Original
    degrees are published with the persons.

    Parameters
    ----------
    edges : `"remove"` only removes edges; `"move"` then adds as many others, drawn at random from pairs that are not
        related in the original and whose types have room; fewer where too few are found.

    References
    ----------
    .. [1] Nobari, Karras, Pang, Bressan, "L-opacity: linkage-aware graph anonymization", EDBT 2014.
       https://doi.org/10.5441/002/edbt.2014.52
    """

    name = "opacity-greedy"
    reference = "Nobari, Karras, Pang, Bressan 2014, https://doi.org/10.5441/002/edbt.2014.52"
    supports: ClassVar = (LOpacity,)

    edges: Literal["remove", "move"] = "remove"

    def __post_init__(self) -> None:
        require(self.edges in {"remove", "move"}, self, "edges", '"remove" or "move"', self.edges)

    def search(self, request: Request[PublishedGraph]) -> Graph:
        """Remove edges."""
        network, (length, limit) = request.data, _strictest_limits(request)
        assert isinstance(network, Graph)  # noqa: S101 - originals are graphs
        types = DegreePairTypes.from_degrees(network.degrees)
        allowed = types.max_pairs(limit)
        if length == 1:
            kept = _sample_by_type(network.edges, types, allowed, request.stream)
            kept = _reinsert_edges(network, kept, types, allowed, request.stream) if self.edges == "move" else kept
        else:
            _check(network, length)
            kept = self._remove_edges(network, types, allowed, request)
        return replace(network.with_edges(kept), original_degrees=network.degrees)

    def _remove_edges(
        self, network: Graph, types: DegreePairTypes, allowed: npt.NDArray[np.int64], request: Request[PublishedGraph]
    ) -> Edges:
        """Remove edges one by one until no type has too many pairs within two steps, and add others if asked to."""
        edges = network.edges[request.stream.permutation(network.n_edges)].astype(np.int64)
        graph = steps_between(edges, len(network))
        counts = (types.pairs, allowed, types.count_within(network, LONGEST))
        alive = len(edges)
        while alive and (counts[2] > allowed).any():
            request.progress(1 - alive / len(edges))
            alive = remove_until_opaque(edges[:alive], graph, types.label, counts, CHUNK)
        found = edges[:alive]
        for _ in range(ROUNDS if self.edges == "move" else 0):
            drawn = _draw_non_edges(network, len(edges) - len(found), request.stream)
            added = insert_while_opaque(drawn, graph, types.label, counts, len(edges) - len(found))
            found = np.concatenate([found, drawn[:added]])
        return found

    def search_metrics(self, original: Graph, request: Request[PublishedGraph]) -> Mapping[str, float]:
        """Return the largest share before, and how many types had it."""
        types = DegreePairTypes.from_degrees(original.degrees)
        shares = types.opacities(types.count_within(original, _strictest_limits(request)[0]))
        largest = float(shares.max(initial=0.0))
        return {
            "types-of-pairs": int((types.pairs > 0).sum()),
            "opacity-before": largest,
            "types-at-opacity-before": int(((shares == largest) & (types.pairs > 0)).sum()),
        }


def _strictest_limits(request: Request[PublishedGraph]) -> tuple[int, float]:
    """Return the longest length and the least limit of all promises; what keeps these keeps all."""
    asked = [each for each in request.models if isinstance(each, LOpacity)]
    return max(each.length for each in asked), min(each.limit for each in asked)


def _sample_by_type(
    edges: npt.NDArray[np.integer], types: DegreePairTypes, room: npt.NDArray[np.int64], stream: KeyedRandom
) -> Edges:
    """Choose at random as many edges of every type as there is room for."""
    order = stream.permutation(len(edges))
    kind = types.edge_pair_types(edges[order])
    sort = np.argsort(kind, kind="stable")
    starts = np.searchsorted(kind[sort], kind[sort], side="left")
    chosen = sort[np.arange(len(sort)) - starts < room[kind[sort]]]
    return edges[order[chosen]].astype(np.int64)


def _reinsert_edges(
    network: Graph, kept: Edges, types: DegreePairTypes, allowed: npt.NDArray[np.int64], stream: KeyedRandom
) -> Edges:
    """Add pairs that are not related in the original, drawn at random, while their types have room."""
    for _ in range(ROUNDS):
        missing = network.n_edges - len(kept)
        if not missing:
            break
        drawn = _draw_non_edges(network, missing, stream)
        drawn = drawn[~np.isin(drawn @ [len(network), 1], kept @ [len(network), 1])]
        room = allowed - np.bincount(types.edge_pair_types(kept), minlength=len(allowed))
        fresh = _sample_by_type(drawn, types, room, stream)
        kept = np.concatenate([kept, fresh[stream.permutation(len(fresh))[:missing]]])
    return kept


def _draw_non_edges(network: Graph, count: int, stream: KeyedRandom) -> Edges:
    """Draw about twice as many different pairs that are not related in the original."""
    drawn = np.sort(stream.integers(len(network), 4 * count).reshape(-1, 2), axis=1)
    drawn = np.unique(drawn[drawn[:, 0] < drawn[:, 1]], axis=0)
    known = network.edges.astype(np.int64) @ [len(network), 1]
    drawn = drawn[~np.isin(drawn @ [len(network), 1], known)]
    return drawn[stream.permutation(len(drawn))]


def _check(network: Graph, length: int) -> None:
    if length > LONGEST:
        raise InfeasibleError(f"OpacityGreedy searches for at most {LONGEST} steps; promise a shorter length.")
    if network.n_edges > LARGEST or len(network) > LARGEST:
        raise InfeasibleError(
            f"For two steps OpacityGreedy weighs at most {LARGEST:,} edges and persons, and the network has "
            f"{network.n_edges:,} and {len(network):,}; promise a length of 1."
        )
