"""k-automorphism: everybody can change places with k - 1 others without any change of the network."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.kinds.promise import Verdict
from sfumato.models.words import ModelDescription
from sfumato.networks.alignment import verified_column_count
from sfumato.networks.promise import GraphAnonymityModel, PublishedGraph
from sfumato.networks.refinement import structural_equivalence_classes


@dataclass(frozen=True, kw_only=True, repr=False)
class KAutomorphism(GraphAnonymityModel):
    """Require k - 1 maps of the network to itself that together send everybody to k different persons [1]_.

    It implies `KDegreeAnonymity`, `KCandidateAnonymity` and `KNeighborhoodAnonymity`. Whether such maps exist cannot be seen from a network in
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
