"""k-automorphism: everybody can change places with k - 1 others without any change of the network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Verdict
from sfumato.graphs.graph import Graph, sort_edges
from sfumato.graphs.models._base import GraphAnonymityModel, PublishedGraph
from sfumato.graphs.vertex_refinement import structural_equivalence_classes

# Rows of persons who can take each other's place, and the proof that they can.


def verified_column_count(network: Graph) -> int:
    """Return how many persons each row of the alignment holds if all can move one place on; 0 if nothing is proven."""
    rows = network.alignment
    if rows is None or not np.array_equal(np.sort(rows, axis=None), np.arange(len(network))):
        return 0
    moved = np.empty(len(network), dtype=np.int64)
    moved[rows] = np.roll(rows, -1, axis=1)
    return rows.shape[1] if np.array_equal(sort_edges(moved[network.edges]), network.edges) else 0


def alignment_columns(network: Graph) -> npt.NDArray[np.int64]:
    """Return the column of every person in the alignment."""
    assert network.alignment is not None  # noqa: S101 - asked only where one was proven
    column = np.empty(len(network), dtype=np.int64)
    column[network.alignment] = np.arange(network.alignment.shape[1])[None, :]
    return column


@dataclass(frozen=True, kw_only=True, repr=False)
class KAutomorphism(GraphAnonymityModel):
    """Require k - 1 maps of the network to itself that together send everybody to k different persons [1]_.

    It implies `KDegreeAnonymity`, `KCandidateAnonymity` and `KNeighborhoodAnonymity`. Whether such maps exist cannot
    be seen from a network in
    reasonable time, so the owner shows them: `Network.alignment` has rows of persons who move one place on, and this is
    checked edge by edge. Without them the promise is not decided: the level is 1, or less than k where already the
    stable classes are too small.

    Parameters
    ----------
    k : the number of places for everybody.

    References
    ----------
    .. [1] Zou, Chen, Özsu, "k-automorphism: a general framework for privacy preserving network publication",
       VLDB 2009. https://doi.org/10.14778/1687627.1687734
    """

    name = "k-automorphism"
    reference = "Zou, Chen, Özsu 2009, https://doi.org/10.14778/1687627.1687734"
    words = ModelDescription(
        title="k-automorphism",
        level="persons who can take each other's place, as far as proven",
        promise="Everybody can take the place of at least {others} without any change of the network.",
        stops="Every structural attack: finding a person by anything that is known of the network around her.",
        open="All candidates may be related to the same person, so relations can still be learned.",
    )

    k: int

    def evaluate(self, published: PublishedGraph) -> Verdict:
        """Check the rows of persons who can take each other's place."""
        graph = self.require_graph(published)
        proven = verified_column_count(graph)
        if proven:
            return Verdict(self, proven, 0 if proven >= self.k else len(graph))
        found = self.evaluate_classes(structural_equivalence_classes(graph, "stable"))
        return found if found.violations or self.k == 1 else Verdict(self, 1, len(graph))

    def is_decided(self, published: PublishedGraph) -> bool:
        """Return whether somebody shows how persons move, or classes are too small for any way to move."""
        graph = self.require_graph(published)
        shown = self.k == 1 or verified_column_count(graph) > 0
        return shown or self.evaluate_classes(structural_equivalence_classes(graph, "stable")).violations > 0
