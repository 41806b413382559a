"""The promise of k-anonymity for sets: every basket is published at least k times as it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.baskets.equal_baskets import alike
from sfumato.baskets.published import PublishedSets
from sfumato.baskets.sensitive_sets import whole_baskets
from sfumato.kinds.crowd_promise import CrowdPromise
from sfumato.kinds.promise import KindVerdict
from sfumato.models.words import ModelWords


@dataclass(frozen=True, kw_only=True, repr=False)
class SetKAnonymity(CrowdPromise[PublishedSets]):
    """Every published basket stands there at least k times, so that knowing all items of a person finds k baskets.

    It implies k^m-anonymity for every m, and costs much more.

    Parameters
    ----------
    k : how often every basket must occur.
    """

    name = "set-k-anonymity"
    reference = "He, Naughton: Anonymization of set-valued data via top-down, local generalization (2009)"
    counted = "baskets"
    words = ModelWords(
        title="k-anonymity of sets",
        level="fewest equal baskets",
        promise="Every basket is published at least {k} times, so all items of a person find at least {k} baskets.",
        stops="Linking by all items: somebody who knows all items of a person looks for the only basket with them.",
        open="All equal baskets share their items, so somebody who finds them learns what they hold.",
    )

    k: int

    def judge(self, published: PublishedSets) -> KindVerdict:
        """Count equal baskets."""
        baskets = whole_baskets(published, self.name)
        counts = np.bincount(alike(baskets.codes, baskets.offsets))
        return KindVerdict(self, int(counts.min(initial=len(baskets))), int(counts[counts < self.k].sum()))
