"""Direct anonymization: one cut of the taxonomy for all baskets, found for all sizes of sets at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.core.algorithm import Request
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.algorithms._generalization import TaxonomyCut, TaxonomyGeneralization, recode_by_cuts


@dataclass(frozen=True, kw_only=True, repr=False)
class DirectAnonymization(TaxonomyGeneralization):
    """Generalize items until no few known ones find a person, counting sets of all sizes in every pass.

    The largest sets come first, and they are counted while single items are still rare; so it usually takes longer
    than `AprioriAnonymization`, and finds another cut.

    Parameters
    ----------
    taxonomy : has every item as a leaf.
    """

    name = "direct-anonymization"
    reference = "Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of set-valued data (2008)"

    def search(self, request: Request[PublishedTransactions]) -> PublishedTransactions:
        """Raise nodes of rare sets of every size until there are none."""
        original, placed, k, m = self.prepare(request)
        cut = TaxonomyCut(placed)
        while cut.generalize_rare(range(m, 0, -1), k):
            continue
        return recode_by_cuts([cut], [np.arange(len(original))], original, placed.tree)
