"""k-match: rows of k persons who can take each other's place, and the edges that this needs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._progress import Progress
from sfumato._randomness import KeyedRandom
from sfumato._validation import is_integer, require
from sfumato.core.algorithm import Request
from sfumato.core.model import AnyModel
from sfumato.errors import UnsupportedModelError
from sfumato.graphs._kernels.k_match import Rule, anneal_alignment, class_sizes, count_classes, number_classes
from sfumato.graphs.algorithms._base import GraphAlgorithm, required_k
from sfumato.graphs.algorithms.sangreea import SaNGreeA
from sfumato.graphs.graph import Graph, sort_edges
from sfumato.graphs.models._base import PublishedGraph
from sfumato.graphs.models.edge_disclosure import EdgeDisclosure
from sfumato.graphs.models.k_automorphism import KAutomorphism
from sfumato.graphs.models.k_candidate_anonymity import KCandidateAnonymity
from sfumato.graphs.models.k_degree_anonymity import KDegreeAnonymity
from sfumato.graphs.models.k_isomorphism import KIsomorphism
from sfumato.graphs.models.k_neighborhood_anonymity import KNeighborhoodAnonymity
from sfumato.graphs.vertex_refinement import refine_vertices

MAX_CLASSES = 200_000_000  # that are counted one by one
SMALL, TRIES = 20_000, 30  # edges of all tries together for small networks, and the most tries
SLICES = 50  # of a search, between which it says how far it is
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, repr=False)
class KMatch(GraphAlgorithm):
    r"""Arrange persons in rows of $k$, and change edges so that all can move one place on at once [1]_.

    Moving on sends an edge to $k$ places. All of them become edges, or, with edges also removed, none if fewer than
    half of them are. So every arrangement keeps `KAutomorphism`, and with it `KDegreeAnonymity`, `KCandidateAnonymity`
    and
    `KNeighborhoodAnonymity`; the search only makes it cheap. It starts from rows of alike neighbors, of alike degrees,
    or of
    columns along a path through the network, whichever needs fewest edges, and lets persons change places by simulated
    annealing; small networks are searched up to 30 times. For `KIsomorphism` and `EdgeDisclosure` edges between columns
    are removed first. Persons without relations fill the last row, which the release tells. Networks of so many persons
    that $n^2 / k$ exceeds 200 million keep their first rows.

    Parameters
    ----------
    edges : `"add"` keeps all edges of the original, but those between copies; `"change"` adds and removes edges.
    turns : how many changes are tried for each person.

    References
    ----------
    .. [1] Zou, Chen, Özsu, "k-automorphism: a general framework for privacy preserving network publication",
       VLDB 2009. https://doi.org/10.14778/1687627.1687734
    """

    name = "k-match"
    reference = "Zou, Chen, Özsu 2009, https://doi.org/10.14778/1687627.1687734"
    supports: ClassVar = (
        KAutomorphism,
        KIsomorphism,
        KCandidateAnonymity,
        KNeighborhoodAnonymity,
        KDegreeAnonymity,
        EdgeDisclosure,
    )

    edges: Literal["add", "change"] = "add"
    turns: int = 1_000

    def __post_init__(self) -> None:
        require(self.edges in {"add", "change"}, self, "edges", '"add" or "change"', self.edges)
        require(is_integer(self.turns) and self.turns >= 0, self, "turns", "a whole number of at least 0", self.turns)

    def check(self, models: Sequence[AnyModel]) -> None:
        """Refuse other promises, and distances to hubs: each hub is the only one at distance 0 from herself."""
        super().check(models)
        for model in models:
            if isinstance(model, KCandidateAnonymity) and model.k > 1 and model.knowledge.startswith("hubs"):
                raise UnsupportedModelError(
                    f"Nothing keeps {model.name} against {model.knowledge}: a hub alone is at distance 0 from herself. "
                    f"Promise H2 or another knowledge, and attack the release by {model.knowledge}."
                )

    def search(self, request: Request[PublishedGraph]) -> Graph:
        """Arrange persons, and join or part all places to which an edge moves."""
        original = request.data
        assert isinstance(original, Graph)  # noqa: S101 - originals are graphs
        limits = [each.limit for each in request.models if isinstance(each, EdgeDisclosure)]
        wide = max([required_k(request), *(int(np.ceil(1 / limit - 1e-12)) for limit in limits)])
        copies = bool(limits) or any(isinstance(each, KIsomorphism) for each in request.models)
        if wide == 1:
            return original.with_edges(original.edges)
        network, rule = pad_rows(original, wide), (wide, copies, self.edges == "change")
        place = arrange_vertices(network, rule, self.turns, request.stream, request.progress)
        rows = np.empty((len(network) // wide, wide), dtype=np.int64)
        rows[place // wide, place % wide] = np.arange(len(network))
        return replace(network.with_edges(close_under_shift(network, place, rule)), alignment=rows)


def arrange_vertices(network: Graph, rule: Rule, turns: int, stream: KeyedRandom, progress: Progress) -> Places:
    """Return the place of every person, row by row."""
    wide = rule[0]
    rows, first = len(network) // wide, initial_alignments(network, wide)
    if rows * rows * wide > MAX_CLASSES:
        return first[0]
    costs = [_count_changes(network, place, rule)[0] for place in first]
    start, least = first[int(np.argmin(costs))], min(costs)
    best, tries = start, max(1, min(TRIES, SMALL // max(network.n_edges, 1)))
    for trial in range(tries):
        cost, counts = _count_changes(network, start, rule)
        row, column = start // wide, start % wide
        heat = wide / (1 + trial % 2) if tries > 1 else wide / (4 if rule[2] else 2)
        for begin, end in itertools.pairwise(np.linspace(0, 1, SLICES + 1)):
            progress((trial + begin) / tries, f"{least:,} edges change")
            words = stream.random_uint64(3 * (int(end * turns * len(network)) - int(begin * turns * len(network))))
            heats = float(heat * (1 - begin)), float(heat * (1 - end))
            cost -= anneal_alignment((network.offsets, network.neighbors), row, column, counts, words, heats, rule)
        if cost < least:
            best, least = row * wide + column, cost
    return best


def _count_changes(network: Graph, place: Places, rule: Rule) -> tuple[int, npt.NDArray[np.int16]]:
    """Return how many edges change for an arrangement, and how many edges every class has."""
    wide = rule[0]
    counts = np.zeros((len(network) // wide) ** 2 * wide, dtype=np.int16)
    return count_classes(network.edges, place // wide, place % wide, counts, rule), counts


def pad_rows(network: Graph, wide: int) -> Graph:
    """Add persons without relations until all rows are full."""
    missing = -len(network) % wide
    keys = pa.array(np.arange(len(network) + missing))
    return Graph(keys=keys, edges=network.edges)


def initial_alignments(network: Graph, wide: int) -> list[Places]:
    """Return the places of every person in some simple arrangements."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    count = len(network)
    alike = SaNGreeA(attributes=0).grow_clusters(network, wide)
    by_node = np.argsort(alike, kind="stable")
    by_degree = np.lexsort((refine_vertices(network, 2), -network.degrees))
    ones = np.ones(len(network.neighbors), dtype=np.int8)
    matrix = csr_array((ones, network.neighbors, network.offsets), shape=(count, count))
    along = np.asarray(reverse_cuthill_mckee(matrix, symmetric_mode=True), dtype=np.int64)
    blocks = along.reshape(wide, -1)
    ranked = np.take_along_axis(blocks, np.argsort(-network.degrees[blocks], axis=1, kind="stable"), axis=1)
    found = []
    for order in (by_node, by_degree, np.ascontiguousarray(ranked.T).reshape(-1)):
        place = np.empty(count, dtype=np.int64)
        place[order] = np.arange(count)
        found.append(place)
    return found


def close_under_shift(network: Graph, place: Places, rule: Rule) -> npt.NDArray[np.int32]:
    """Return the edges of a network in which all can move one place on."""
    wide, copies, change = rule
    row, column = place // wide, place % wide
    numbers = number_classes(network.edges, row, column, wide)
    known, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    keep = np.ones(len(known), dtype=np.bool_)
    if copies:
        keep &= known % wide == 0
    if change:
        keep &= 2 * counts >= class_sizes(known, wide, len(network) // wide)
    return shift_columns(network.edges[first[keep]], place, wide)


def shift_columns(edges: npt.NDArray[np.int32], place: Places, wide: int) -> npt.NDArray[np.int32]:
    """Return edges together with all places to which they move."""
    at = np.empty_like(place)
    at[place] = np.arange(len(place))
    row, column = place[edges] // wide, place[edges] % wide
    moved = np.concatenate([at[row * wide + (column + step) % wide] for step in range(wide)])
    return sort_edges(np.unique(np.sort(moved, axis=1), axis=0))
