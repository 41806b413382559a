"""Edge confidence: nobody may be too sure that two persons are related."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato.kinds.promise import KindPromise, KindVerdict
from sfumato.models.words import ModelWords
from sfumato.networks.clustered import ClusteredNetwork
from sfumato.networks.promise import Published
from sfumato.networks.promises.k_isomorphism import KIsomorphism
from sfumato.validation import is_number, require


@dataclass(frozen=True, kw_only=True, repr=False)
class EdgeConfidence(KindPromise[Published]):
    """Require that the belief in a relation of any two persons is at most a limit; both are taken as recognized.

    Inside a super-node the belief is the share of pairs that are related, and so it is between two super-nodes: one
    that is a clique gives all its relations away. In a published graph an edge may be original, so the belief is 1,
    unless the graph consists of k copies (`KIsomorphism`), where it is 1/k.

    Parameters
    ----------
    limit : the largest belief, above 0 and at most 1; by default that of a coin.
    """

    name = "edge-confidence"
    reference = "Zheleva, Getoor 2007, https://doi.org/10.1007/978-3-540-78478-4_9"
    bound = "max"
    counted = "pairs of super-nodes, or edges"
    stricter: ClassVar = {"limit": "smaller"}
    words = ModelWords(
        title="edge confidence",
        level="largest belief in a relation",
        promise="Nobody can believe in a relation of two persons with more than {limit}.",
        stops="Learning relations: reading from the network that two recognized persons know each other.",
        open="A belief is a share of pairs; who knows more of these two persons may believe more.",
    )

    limit: float = 0.5  # type: ignore[assignment]  # a field where others compute it

    def __post_init__(self) -> None:
        good = is_number(self.limit) and 0 < self.limit <= 1
        require(good, self, "limit", "a number above 0 and at most 1", self.limit)

    def judge(self, published: Published) -> KindVerdict:
        """Find the largest belief."""
        if isinstance(published, ClusteredNetwork):
            inner, between = published.beliefs()
            largest = max(float(inner.max(initial=0)), float(between.max(initial=0)))
            return KindVerdict(self, largest, int((inner > self.limit).sum() + (between > self.limit).sum()))
        belief = 1 / KIsomorphism(k=1).judge(published).level if published.size else 0.0
        return KindVerdict(self, belief, published.size if belief > self.limit else 0)
