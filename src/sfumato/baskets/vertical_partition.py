"""Vertical partition: items are generalized family by family first, then all together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.baskets.item_cut import ItemCut
from sfumato.baskets.published import PublishedSets
from sfumato.baskets.tree_search import TreeSearch, raise_until_kept, recoded_by
from sfumato.kinds.search import KindRequest


@dataclass(frozen=True, kw_only=True, repr=False)
class VerticalPartition(TreeSearch):
    """Generalize items by one cut for all baskets that is found in two steps.

    The families of the taxonomy, the groups below its root, are made anonymous one by one, each in the baskets cut down
    to it. Then apriori anonymization goes on from their joint cut.

    Parameters
    ----------
    taxonomy : has every item as a leaf.
    """

    name = "vertical-partition"
    reference = "Terrovitis, Mamoulis, Kalnis: Local and global recoding methods for anonymizing set-valued data (2011)"

    def find(self, request: KindRequest[PublishedSets]) -> PublishedSets:
        """Raise nodes within families, then over all."""
        original, placed, k, m = self.begin(request)
        whole = ItemCut(placed)
        for family in np.flatnonzero(placed.tree.parents == placed.tree.root).tolist():
            begin = placed.tree.first[family]
            end = begin + placed.tree.leaves[family]
            part = ItemCut(placed.below(family), whole.above)
            raise_until_kept(part, k, m)
            whole.above[begin:end] = part.above[begin:end]
        cut = ItemCut(placed, whole.above)
        raise_until_kept(cut, k, m)
        return recoded_by([cut], [np.arange(len(original))], original, placed.tree)
