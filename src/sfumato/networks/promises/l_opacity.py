"""L-opacity: of pairs of given degrees, not too many may be near each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.exceptions import UnsupportedModelError
from sfumato.kinds.promise import Model, Verdict
from sfumato.models.words import ModelDescription
from sfumato.networks.network import Graph
from sfumato.networks.opacity import DegreePairTypes
from sfumato.networks.promise import PublishedGraph
from sfumato.validation import is_finite_number, is_integer, require


@dataclass(frozen=True, kw_only=True, repr=False)
class LOpacity(Model[PublishedGraph]):
    """Require that of all pairs with the same two degrees at most a share is within some steps of each other [1]_.

    The degrees are those of the original, which the adversary knows and which are therefore published with the
    persons. The share is the belief that two persons of whom she knows nothing else are related, or near each other in
    the published graph. A graph with edges that does not say the original degrees gives everything away.

    Parameters
    ----------
    length : the number of steps.
    limit : the largest share, above 0 and at most 1.

    References
    ----------
    .. [1] Nobari, Karras, Pang, Bressan, "L-opacity: linkage-aware graph anonymization", EDBT 2014.
       https://doi.org/10.5441/002/edbt.2014.52
    """

    name = "l-opacity"
    reference = "Nobari, Karras, Pang, Bressan 2014, https://doi.org/10.5441/002/edbt.2014.52"
    bound = "max"
    unit = "types of pairs"
    stricter: ClassVar = {"length": "larger", "limit": "smaller"}
    words = ModelDescription(
        title="L-opacity",
        level="largest share of pairs of one type",
        promise="Of pairs of persons with the same two degrees, at most a share of {limit} is within {length} steps.",
        stops="Learning relations from degrees: who knows how many neighbors two persons had is not sure that they are "
        "near each other.",
        open="Who knows more than the degrees of two persons may know which pair they are.",
    )

    length: int = 1
    limit: float = 0.5

    def __post_init__(self) -> None:
        good = is_integer(self.length) and self.length >= 1
        require(good, self, "length", "a whole number of at least 1", self.length)
        good = is_finite_number(self.limit) and 0 < self.limit <= 1
        require(good, self, "limit", "a number above 0 and at most 1", self.limit)

    def evaluate(self, published: PublishedGraph) -> Verdict:
        """Count the pairs of every type."""
        if not isinstance(published, Graph):
            raise UnsupportedModelError(
                "LOpacity is a promise about a graph, and super-nodes are published; promise EdgeDisclosure."
            )
        if published.original_degrees is None:
            level = float(published.n_edges > 0)
            return Verdict(self, level, int(level > self.limit))
        types = DegreePairTypes.from_degrees(published.original_degrees)
        shares = types.opacities(types.count_within(published, self.length))
        return Verdict(self, float(shares.max(initial=0.0)), int(np.count_nonzero(shares > self.limit)))
