"""k-degree anonymity: everybody has as many neighbors as at least k - 1 others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Verdict
from sfumato.graphs.models._base import GraphAnonymityModel, PublishedGraph


@dataclass(frozen=True, kw_only=True, repr=False)
class KDegreeAnonymity(GraphAnonymityModel):
    """Require that every number of neighbors that occurs, 0 included, occurs at least k times [1]_.

    Parameters
    ----------
    k : the least number of persons who have the same number of neighbors.

    References
    ----------
    .. [1] Liu, Terzi, "Towards identity anonymization on graphs", SIGMOD 2008.
       https://doi.org/10.1145/1376616.1376629
    """

    name = "k-degree"
    reference = "Liu, Terzi 2008, https://doi.org/10.1145/1376616.1376629"
    words = ModelDescription(
        title="k-degree anonymity",
        level="fewest persons with the same number of neighbors",
        promise="Everybody has as many neighbors as at least {others}.",
        stops="Degree attack: finding a person by the number of her neighbors.",
        open="Who knows more of the structure, such as the degrees of a person's neighbors, may still find her.",
    )

    k: int

    def evaluate(self, published: PublishedGraph) -> Verdict:
        """Count the persons of every degree."""
        _, labels = np.unique(self.require_graph(published).degrees, return_inverse=True)
        return self.evaluate_classes(labels)
