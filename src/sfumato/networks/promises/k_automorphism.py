"""k-automorphism: everybody can change places with k - 1 others without any change of the network."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.kinds.promise import KindVerdict
from sfumato.models.words import ModelWords
from sfumato.networks.alignment import proven_columns
from sfumato.networks.promise import GraphPromise, Published
from sfumato.networks.refinement import structure_classes


@dataclass(frozen=True, kw_only=True, repr=False)
class KAutomorphism(GraphPromise):
    """Require k - 1 maps of the network to itself that together send everybody to k different persons [1]_.

    It implies `KDegree`, `KCandidates` and `KNeighborhood`. Whether such maps exist cannot be seen from a network in
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
    words = ModelWords(
        title="k-automorphism",
        level="persons who can take each other's place, as far as proven",
        promise="Everybody can take the place of at least {others} without any change of the network.",
        stops="Every structural attack: finding a person by anything that is known of the network around her.",
        open="All candidates may be related to the same person, so relations can still be learned.",
    )

    k: int

    def judge(self, published: Published) -> KindVerdict:
        """Check the rows of persons who can take each other's place."""
        graph = self.graph(published)
        proven = proven_columns(graph)
        if proven:
            return KindVerdict(self, proven, 0 if proven >= self.k else len(graph))
        found = self.of_classes(structure_classes(graph, "stable"))
        return found if found.broken or self.k == 1 else KindVerdict(self, 1, len(graph))

    def decided(self, published: Published) -> bool:
        """Return whether somebody shows how persons move, or classes are too small for any way to move."""
        graph = self.graph(published)
        shown = self.k == 1 or proven_columns(graph) > 0
        return shown or self.of_classes(structure_classes(graph, "stable")).broken > 0
