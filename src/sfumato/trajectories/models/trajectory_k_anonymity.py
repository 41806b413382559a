"""k-anonymity of ways: every published way is that of k persons."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import AnonymitySetModel, Verdict
from sfumato.errors import SchemaError
from sfumato.trajectories.cloaked_trajectories import CloakedTrajectories


@dataclass(frozen=True, kw_only=True, repr=False)
class TrajectoryKAnonymity(AnonymitySetModel[CloakedTrajectories]):
    """Require every published way of regions to be, step by step, that of at least k persons [1]_.

    Whoever knows any number of places and moments of a person finds her among k. What all k have in common, such as
    where they all were, is told. If somebody has several ways, each is published with a key of its own; ways that are
    joined by one key are judged together.

    Parameters
    ----------
    k : the least number of persons with the same way.

    References
    ----------
    .. [1] Nergiz, Atzori, Saygin, Güç, "Towards trajectory anonymization: a generalization-based approach",
       Transactions on Data Privacy 2(1), 2009.
    """

    name = "k-ways"
    reference = "Nergiz, Atzori, Saygin, Güç 2009"
    unit = "ways of regions"
    words = ModelDescription(
        title="k-anonymity of ways",
        level="persons with the way that fewest have",
        promise="Every published way is, step by step, that of at least {k} persons.",
        stops="Linkage: finding a person's way by any places and moments that somebody knows of her.",
        open="What all persons of a way have in common is told of each of them.",
    )

    k: int

    def evaluate(self, published: CloakedTrajectories) -> Verdict:
        """Count the persons of every different way."""
        if not isinstance(published, CloakedTrajectories):
            raise SchemaError("k-anonymity of ways is judged on ways of regions; these are points or places.")
        counts = published.identical_groups[1]
        return Verdict(self, float(counts.min()), int((counts < self.k).sum()))
