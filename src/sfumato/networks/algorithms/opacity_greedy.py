"""Removal of the edges that make pairs of given degrees too likely to be near each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.opacity import steps_between, thicken, thin
from sfumato.exceptions import InfeasibleError
from sfumato.kinds.search import KindRequest
from sfumato.networks.network import Network
from sfumato.networks.opacity import PairTypes
from sfumato.networks.promise import Published
from sfumato.networks.promises.l_opacity import LOpacity
from sfumato.networks.search import NetworkSearch
from sfumato.randomness import Stream
from sfumato.validation import require

LONGEST = 2
LARGEST = 10_000  # edges of which each is weighed before each step, and persons whose pairs are counted
CHUNK = 100  # steps between two looks at the progress
ROUNDS = 50
Edges = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, repr=False)
class OpacityGreedy(NetworkSearch):
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
    serves: ClassVar = (LOpacity,)

    edges: Literal["remove", "move"] = "remove"

    def __post_init__(self) -> None:
        require(self.edges in {"remove", "move"}, self, "edges", '"remove" or "move"', self.edges)

    def find(self, request: KindRequest[Published]) -> Network:
        """Remove edges."""
        network, (length, limit) = request.data, _asked(request)
        assert isinstance(network, Network)  # noqa: S101 - originals are graphs
        types = PairTypes.of(network.degrees)
        allowed = types.allowed(limit)
        if length == 1:
            kept = _first_of_types(network.edges, types, allowed, request.stream)
            kept = _moved(network, kept, types, allowed, request.stream) if self.edges == "move" else kept
        else:
            _check(network, length)
            kept = self._thinned(network, types, allowed, request)
        return replace(network.with_edges(kept), original_degrees=network.degrees)

    def _thinned(
        self, network: Network, types: PairTypes, allowed: npt.NDArray[np.int64], request: KindRequest[Published]
    ) -> Edges:
        """Remove edges one by one until no type has too many pairs within two steps, and add others if asked to."""
        edges = network.edges[request.stream.permutation(network.size)].astype(np.int64)
        graph = steps_between(edges, len(network))
        counts = (types.pairs, allowed, types.within(network, LONGEST))
        alive = len(edges)
        while alive and (counts[2] > allowed).any():
            request.progress(1 - alive / len(edges))
            alive = thin(edges[:alive], graph, types.label, counts, CHUNK)
        found = edges[:alive]
        for _ in range(ROUNDS if self.edges == "move" else 0):
            drawn = _unrelated(network, len(edges) - len(found), request.stream)
            added = thicken(drawn, graph, types.label, counts, len(edges) - len(found))
            found = np.concatenate([found, drawn[:added]])
        return found

    def told(self, original: Network, request: KindRequest[Published]) -> Mapping[str, float]:
        """Return the largest share before, and how many types had it."""
        types = PairTypes.of(original.degrees)
        shares = types.opacities(types.within(original, _asked(request)[0]))
        largest = float(shares.max(initial=0.0))
        return {
            "types-of-pairs": int((types.pairs > 0).sum()),
            "opacity-before": largest,
            "types-at-opacity-before": int(((shares == largest) & (types.pairs > 0)).sum()),
        }


def _asked(request: KindRequest[Published]) -> tuple[int, float]:
    """Return the longest length and the least limit of all promises; what keeps these keeps all."""
    asked = [each for each in request.models if isinstance(each, LOpacity)]
    return max(each.length for each in asked), min(each.limit for each in asked)


def _first_of_types(
    edges: npt.NDArray[np.integer], types: PairTypes, room: npt.NDArray[np.int64], stream: Stream
) -> Edges:
    """Choose at random as many edges of every type as there is room for."""
    order = stream.permutation(len(edges))
    kind = types.of_edges(edges[order])
    sort = np.argsort(kind, kind="stable")
    starts = np.searchsorted(kind[sort], kind[sort], side="left")
    chosen = sort[np.arange(len(sort)) - starts < room[kind[sort]]]
    return edges[order[chosen]].astype(np.int64)


def _moved(network: Network, kept: Edges, types: PairTypes, allowed: npt.NDArray[np.int64], stream: Stream) -> Edges:
    """Add pairs that are not related in the original, drawn at random, while their types have room."""
    for _ in range(ROUNDS):
        missing = network.size - len(kept)
        if not missing:
            break
        drawn = _unrelated(network, missing, stream)
        drawn = drawn[~np.isin(drawn @ [len(network), 1], kept @ [len(network), 1])]
        room = allowed - np.bincount(types.of_edges(kept), minlength=len(allowed))
        fresh = _first_of_types(drawn, types, room, stream)
        kept = np.concatenate([kept, fresh[stream.permutation(len(fresh))[:missing]]])
    return kept


def _unrelated(network: Network, count: int, stream: Stream) -> Edges:
    """Draw about twice as many different pairs that are not related in the original."""
    drawn = np.sort(stream.below(len(network), 4 * count).reshape(-1, 2), axis=1)
    drawn = np.unique(drawn[drawn[:, 0] < drawn[:, 1]], axis=0)
    known = network.edges.astype(np.int64) @ [len(network), 1]
    drawn = drawn[~np.isin(drawn @ [len(network), 1], known)]
    return drawn[stream.permutation(len(drawn))]


def _check(network: Network, length: int) -> None:
    if length > LONGEST:
        raise InfeasibleError(f"OpacityGreedy searches for at most {LONGEST} steps; promise a shorter length.")
    if network.size > LARGEST or len(network) > LARGEST:
        raise InfeasibleError(
            f"For two steps OpacityGreedy weighs at most {LARGEST:,} edges and persons, and the network has "
            f"{network.size:,} and {len(network):,}; promise a length of 1."
        )
