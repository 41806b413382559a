"""Local recoding: baskets that are alike are generalized together, each part by a cut of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato._validation import is_integer, require
from sfumato.core.algorithm import Request
from sfumato.transactions._ordering import order_by_gray_code
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.algorithms._generalization import (
    TaxonomyCut,
    TaxonomyGeneralization,
    generalize_until_anonymous,
    recode_by_cuts,
)


@dataclass(frozen=True, kw_only=True, repr=False)
class LocalRecodingAnonymization(TaxonomyGeneralization):
    """Generalize items in parts of the baskets, each by the cut that apriori anonymization finds for it alone.

    Baskets are put in the order of a Gray code of their items, frequent items first, in which neighbors differ little,
    and cut into even parts. An item may so be published as itself in one part and as a group in another.

    Parameters
    ----------
    taxonomy : has every item as a leaf.
    part_size : about how many baskets a part has; at least k in any case.
    """

    name = "local-recoding"
    reference = "Terrovitis, Mamoulis, Kalnis: Local and global recoding methods for anonymizing set-valued data (2011)"

    part_size: int = 20_000

    def __post_init__(self) -> None:
        super().__post_init__()
        good = is_integer(self.part_size) and self.part_size >= 1
        require(good, self, "part_size", "a whole number of at least 1", self.part_size)

    def search(self, request: Request[PublishedTransactions]) -> PublishedTransactions:
        """Part the baskets, and raise nodes in every part."""
        original, placed, k, m = self.prepare(request)
        frequency = np.argsort(np.argsort(-original.supports, kind="stable")).astype(np.int32)
        order = order_by_gray_code(frequency[original.codes], original.offsets)
        count = max(1, len(original) // max(self.part_size, k))
        parts = [np.sort(part) for part in np.array_split(order, count)]
        cuts = []
        for number, rows in enumerate(parts):
            cuts.append(TaxonomyCut(placed.take(rows)))
            generalize_until_anonymous(cuts[-1], k, m)
            request.progress((number + 1) / count, f"part {number + 1} of {count}")
        return recode_by_cuts(cuts, parts, original, placed.tree)
