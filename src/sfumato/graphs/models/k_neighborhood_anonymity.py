"""k-neighborhood anonymity: the graph of a person's neighbors is that of at least k - 1 others."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Verdict
from sfumato.graphs.models._base import GraphAnonymityModel, PublishedGraph
from sfumato.graphs.vertex_refinement import structural_equivalence_classes


@dataclass(frozen=True, kw_only=True, repr=False)
class KNeighborhoodAnonymity(GraphAnonymityModel):
    """Require that the graph of everybody's neighbors is isomorphic to that of at least k - 1 others [1]_.

    Published quasi-identifiers are labels of the neighbors. Two neighborhoods whose comparison takes too long count as
    different, so the level can only be too low.

    Parameters
    ----------
    k : the least number of persons with the same neighborhood.

    References
    ----------
    .. [1] Zhou, Pei, "Preserving privacy in social networks against neighborhood attacks", ICDE 2008.
       https://doi.org/10.1109/ICDE.2008.4497459
    """

    name = "k-neighborhood"
    reference = "Zhou, Pei 2008, https://doi.org/10.1109/ICDE.2008.4497459"
    words = ModelDescription(
        title="k-neighborhood anonymity",
        level="fewest persons with the same neighborhood",
        promise="Everybody's neighbors are related to each other as those of at least {others}.",
        stops="Neighborhood attack: finding a person by her neighbors and who of them know each other.",
        open="Who knows more than the neighbors of a person, such as their neighbors, may still find her.",
    )

    k: int

    def evaluate(self, published: PublishedGraph) -> Verdict:
        """Compare neighborhoods."""
        return self.evaluate_classes(structural_equivalence_classes(self.require_graph(published), "neighborhood"))
