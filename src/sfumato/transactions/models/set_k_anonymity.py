"""The promise of k-anonymity for sets: every basket is published at least k times as it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import AnonymitySetModel, Verdict
from sfumato.transactions._ordering import label_identical
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.models._base import require_whole_transactions


@dataclass(frozen=True, kw_only=True, repr=False)
class SetKAnonymity(AnonymitySetModel[PublishedTransactions]):
    """Every published basket stands there at least k times, so that knowing all items of a person finds k baskets.

    It implies k^m-anonymity for every m, and costs much more.

    Parameters
    ----------
    k : how often every basket must occur.
    """

    name = "set-k-anonymity"
    reference = "He, Naughton: Anonymization of set-valued data via top-down, local generalization (2009)"
    unit = "baskets"
    words = ModelDescription(
        title="k-anonymity of sets",
        level="fewest equal baskets",
        promise="Every basket is published at least {k} times, so all items of a person find at least {k} baskets.",
        stops="Linking by all items: somebody who knows all items of a person looks for the only basket with them.",
        open="All equal baskets share their items, so somebody who finds them learns what they hold.",
    )

    k: int

    def evaluate(self, published: PublishedTransactions) -> Verdict:
        """Count equal baskets."""
        baskets = require_whole_transactions(published, self.name)
        counts = np.bincount(label_identical(baskets.codes, baskets.offsets))
        return Verdict(self, int(counts.min(initial=len(baskets))), int(counts[counts < self.k].sum()))
