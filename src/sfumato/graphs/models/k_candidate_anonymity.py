"""k-candidate anonymity: who knows the structure around a person has at least k candidates."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Verdict
from sfumato.graphs.models._base import GraphAnonymityModel, PublishedGraph
from sfumato.graphs.vertex_refinement import candidate_set_sizes, check_knowledge


@dataclass(frozen=True, kw_only=True, repr=False)
class KCandidateAnonymity(GraphAnonymityModel):
    """Require at least k candidates for everybody who knows this much of a person's surroundings [1]_.

    Parameters
    ----------
    k : the least number of candidates.
    knowledge : what is known of a person, as for `candidates`. No search keeps distances to hubs, which find the hubs
        themselves: judge and attack by them.

    References
    ----------
    .. [1] Hay, Miklau, Jensen, Towsley, Weis, "Resisting structural re-identification in anonymized social networks",
       VLDB 2008. https://doi.org/10.14778/1453856.1453873
    """

    name = "k-candidates"
    reference = "Hay, Miklau, Jensen, Towsley, Weis 2008, https://doi.org/10.14778/1453856.1453873"
    words = ModelDescription(
        title="k-candidate anonymity",
        level="fewest candidates",
        promise="Whoever knows {knowledge} of a person finds at least {k} candidates.",
        stops="Structural matching: finding a person by what is known of the network around her.",
        open="All candidates may be related to the same person, so relations can still be learned.",
    )

    k: int
    knowledge: str = "H2"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_knowledge(self.knowledge)

    def evaluate(self, published: PublishedGraph) -> Verdict:
        """Count candidates."""
        counts = candidate_set_sizes(self.require_graph(published), knowledge=self.knowledge)
        return Verdict(self, int(counts.min()), int((counts < self.k).sum()))
