"""The optimal cut: of all cuts of a small taxonomy that keep the promise, the one with the least loss."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.core.algorithm import Request
from sfumato.errors import InfeasibleError
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.algorithms._generalization import TaxonomyCut, TaxonomyGeneralization, recode_by_cuts
from sfumato.transactions.taxonomy import ItemTaxonomy

MAX_CUTS = 10**6


@dataclass(frozen=True, kw_only=True, repr=False)
class OptimalAnonymization(TaxonomyGeneralization):
    """Generalize items by the cut with the least normalized certainty penalty that keeps the promise.

    Cuts are tried by rising loss, so the first one that keeps the promise is the best one; of equally good ones the
    first. There are many cuts: only small taxonomies can be searched, and more than a million cuts are refused.

    Parameters
    ----------
    taxonomy : has every item as a leaf.
    """

    name = "optimal-cut"
    reference = "Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of set-valued data (2008)"
    most_cuts: ClassVar[int] = MAX_CUTS

    def search(self, request: Request[PublishedTransactions]) -> PublishedTransactions:
        """Try cuts by rising loss."""
        original, placed, k, m = self.prepare(request)
        cut = TaxonomyCut(placed)
        pending = [(cut.loss, tuple(cut.above.tolist()))]
        known = {pending[0][1]}
        while True:
            _, above = heapq.heappop(pending)
            cut = TaxonomyCut(placed, np.array(above))
            sets, _ = cut.recode()
            if not any(sets.count(size, k).violations for size in range(1, m + 1)):
                return recode_by_cuts([cut], [np.arange(len(original))], original, placed.tree)
            for wider in parent_cuts(placed.tree, cut.above):
                content = tuple(wider.tolist())
                if content not in known:
                    known.add(content)
                    heapq.heappush(pending, (TaxonomyCut(placed, wider).loss, content))
            if len(known) > self.most_cuts:
                raise InfeasibleError(
                    f"The taxonomy has more than {self.most_cuts:,} cuts to try; use AprioriAnonymization."
                )


def parent_cuts(tree: ItemTaxonomy, above: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    """Return every cut that has one parent in place of all its children."""
    nodes = np.unique(above)
    parents, counts = np.unique(tree.parents[nodes], return_counts=True)
    children = np.bincount(tree.parents[tree.parents >= 0], minlength=len(tree.names))
    found = []
    for parent, count in zip(parents.tolist(), counts.tolist(), strict=True):
        if parent >= 0 and count == children[parent]:
            wider = above.copy()
            wider[tree.first_leaf[parent] : tree.first_leaf[parent] + tree.leaves[parent]] = parent
            found.append(wider)
    return found
