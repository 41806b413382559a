"""Apriori anonymization: one cut of the taxonomy for all baskets, found size by size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.core.algorithm import Request
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.algorithms._generalization import (
    TaxonomyCut,
    TaxonomyGeneralization,
    generalize_until_anonymous,
    recode_by_cuts,
)


@dataclass(frozen=True, kw_only=True, repr=False)
class AprioriAnonymization(TaxonomyGeneralization):
    """Generalize items until no few known ones find a person: sets of one item first, then of two, up to m.

    A node stands for all its items in all baskets. While a set occurs in fewer than k baskets, the node of it is raised
    to its parent that adds least loss. Sets that are good stay good when nodes are raised, so every size is done once.

    Parameters
    ----------
    taxonomy : has every item as a leaf.
    """

    name = "apriori-anonymization"
    reference = "Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of set-valued data (2008)"

    def search(self, request: Request[PublishedTransactions]) -> PublishedTransactions:
        """Raise nodes size by size."""
        original, placed, k, m = self.prepare(request)
        cut = TaxonomyCut(placed)
        generalize_until_anonymous(cut, k, m)
        return recode_by_cuts([cut], [np.arange(len(original))], original, placed.tree)
