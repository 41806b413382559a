"""Edge confidence: how many of the pairs that look alike, or of the shown relations, may be related."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, require
from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Model, Verdict
from sfumato.graphs.clustered_graph import ClusteredGraph
from sfumato.graphs.graph import Graph, SwitchedEdges
from sfumato.graphs.models._base import PublishedGraph
from sfumato.graphs.models.k_isomorphism import KIsomorphism

DEVIATIONS = 6  # by which the number of edges may miss what is expected


@dataclass(frozen=True, kw_only=True, repr=False)
class EdgeDisclosure(Model[PublishedGraph]):
    """Require that the belief in a relation of two recognized persons is at most a limit, on average.

    Inside a super-node the belief is the share of pairs that are related, and so it is between two super-nodes: one
    that is a clique gives all its relations away. In a published graph an edge may be original, so the belief is 1,
    unless the graph consists of k copies (`KIsomorphism`), where it is 1/k, or edges were changed at random and it is
    published how: then it is the share of shown edges that are original, as expected by the chances of
    `RandomPerturbation`
    or as counted by `EdgeSwitching`. What does not fit the number of edges that are shown counts as nothing said.

    After random change this is an average over all shown edges. Everybody sees who has many edges, and who has many
    neighbors in common; in networks with hubs and circles of friends nearly all edges between these can be original,
    because noise is spread over all pairs and friendship is not. No limit on this larger belief is promised, as no
    change that is useful keeps one: the release measures it (`larger-belief`).

    Parameters
    ----------
    limit : the largest belief, above 0 and at most 1; by default that of a coin.
    """

    name = "edge-confidence"
    reference = "Zheleva, Getoor 2007, https://doi.org/10.1007/978-3-540-78478-4_9"
    bound = "max"
    unit = "pairs of super-nodes, or edges"
    stricter: ClassVar = {"limit": "smaller"}
    words = ModelDescription(
        title="edge confidence",
        level="largest average belief in a relation",
        promise="On average over the pairs of any two super-nodes, or over all relations that are shown, a relation of "
        "two persons is believed with at most {limit}.",
        stops="Reading relations off: taking for true that two recognized persons know each other because it is shown.",
        open="A belief is a share of all pairs or shown relations. Between persons with many relations or many common "
        "neighbors, which everybody sees, nearly all relations that a randomly changed network shows can be true.",
    )

    limit: float = 0.5

    def __post_init__(self) -> None:
        good = is_finite_number(self.limit) and 0 < self.limit <= 1
        require(good, self, "limit", "a number above 0 and at most 1", self.limit)

    def evaluate(self, published: PublishedGraph) -> Verdict:
        """Find the largest belief."""
        if isinstance(published, ClusteredGraph):
            inner, between = published.edge_probabilities()
            largest = max(float(inner.max(initial=0)), float(between.max(initial=0)))
            return Verdict(self, largest, int((inner > self.limit).sum() + (between > self.limit).sum()))
        belief = (
            min(_perturbation_posterior(published), 1 / KIsomorphism(k=1).evaluate(published).level)
            if published.n_edges
            else 0.0
        )
        return Verdict(self, belief, published.n_edges if belief > self.limit else 0)

    def violating_super_nodes(self, published: ClusteredGraph) -> npt.NDArray[np.int64]:
        """Return super-nodes that must change: inside or beside which a belief is above the limit."""
        inner, between = published.edge_probabilities()
        return np.append(np.flatnonzero(inner > self.limit), published.between[between > self.limit, 0])


def _perturbation_posterior(published: Graph) -> float:
    """Return the belief in an edge after random change; 1 if nothing is said of it, or nothing that fits."""
    noise, pairs = published.noise, len(published) * (len(published) - 1) / 2
    if isinstance(noise, SwitchedEdges):
        return (published.n_edges - noise.count) / published.n_edges if 0 <= noise.count <= published.n_edges else 1.0
    if noise is None or not (0 < noise.removed < 1 and 0 < noise.added < 1):
        return 1.0
    density = noise.added / (noise.removed + noise.added)  # at which as many edges are added as removed
    spread = pairs * density * (1 - density) * (noise.removed + noise.added) + 1
    if abs(published.n_edges - pairs * density) > DEVIATIONS * spread**0.5:
        return 1.0
    shown = density * (1 - noise.removed)
    return shown / (shown + (1 - density) * noise.added)
