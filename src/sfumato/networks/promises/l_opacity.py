"""L-opacity: of pairs of given degrees, not too many may be near each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.exceptions import UnsupportedModelError
from sfumato.kinds.promise import KindPromise, KindVerdict
from sfumato.models.words import ModelWords
from sfumato.networks.network import Network
from sfumato.networks.opacity import PairTypes
from sfumato.networks.promise import Published
from sfumato.validation import is_number, is_whole, require


@dataclass(frozen=True, kw_only=True, repr=False)
class LOpacity(KindPromise[Published]):
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
    counted = "types of pairs"
    stricter: ClassVar = {"length": "larger", "limit": "smaller"}
    words = ModelWords(
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
        good = is_whole(self.length) and self.length >= 1
        require(good, self, "length", "a whole number of at least 1", self.length)
        good = is_number(self.limit) and 0 < self.limit <= 1
        require(good, self, "limit", "a number above 0 and at most 1", self.limit)

    def judge(self, published: Published) -> KindVerdict:
        """Count the pairs of every type."""
        if not isinstance(published, Network):
            raise UnsupportedModelError(
                "LOpacity is a promise about a graph, and super-nodes are published; promise EdgeConfidence."
            )
        if published.original_degrees is None:
            level = float(published.size > 0)
            return KindVerdict(self, level, int(level > self.limit))
        types = PairTypes.of(published.original_degrees)
        shares = types.opacities(types.within(published, self.length))
        return KindVerdict(self, float(shares.max(initial=0.0)), int(np.count_nonzero(shares > self.limit)))
