"""Vertical partition: items are generalized family by family first, then all together."""

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
class VerticalPartitioning(TaxonomyGeneralization):
    """Generalize items by one cut for all baskets that is found in two steps.

    The families of the taxonomy, the groups below its root, are made anonymous one by one, each in the baskets cut down
    to it. Then apriori anonymization goes on from their joint cut.

    Parameters
    ----------
    taxonomy : has every item as a leaf.
    """

    name = "vertical-partition"
    reference = "Terrovitis, Mamoulis, Kalnis: Local and global recoding methods for anonymizing set-valued data (2011)"

    def search(self, request: Request[PublishedTransactions]) -> PublishedTransactions:
        """Raise nodes within families, then over all."""
        original, placed, k, m = self.prepare(request)
        whole = TaxonomyCut(placed)
        for family in np.flatnonzero(placed.tree.parents == placed.tree.root).tolist():
            begin = placed.tree.first_leaf[family]
            end = begin + placed.tree.leaves[family]
            part = TaxonomyCut(placed.project_to(family), whole.above)
            generalize_until_anonymous(part, k, m)
            whole.above[begin:end] = part.above[begin:end]
        cut = TaxonomyCut(placed, whole.above)
        generalize_until_anonymous(cut, k, m)
        return recode_by_cuts([cut], [np.arange(len(original))], original, placed.tree)
