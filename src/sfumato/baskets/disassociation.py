"""Disassociation: items stay as they are, but baskets are taken apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

from sfumato.baskets.baskets import Transactions
from sfumato.baskets.disassociated import DisassociatedTransactions
from sfumato.baskets.disassociating import partition_transactions, refine_clusters
from sfumato.baskets.km_anonymity import KmAnonymity
from sfumato.baskets.published import PublishedTransactions
from sfumato.baskets.tree_search import check_enough_transactions
from sfumato.kinds.search import Algorithm, Request
from sfumato.validation import is_integer, require

FEWEST = 2


@dataclass(frozen=True, kw_only=True, repr=False)
class Disassociation(Algorithm[PublishedTransactions]):
    """Publish parts of baskets, so that rare combinations of items cannot be put together with certainty.

    Baskets with common items form clusters. The items of a cluster are parted into chunks that are k^m-anonymous each,
    and the parts of its baskets are published chunk by chunk; of rarer items only the cluster is told. Clusters whose
    terms have items in common may share chunks. No item is generalized or removed.

    The promise is about what is possible, not about what is likely: a set of items of different chunks may be in k
    baskets of some reconstruction, but in far fewer of most. Items that nearly always come together can often be put
    together again (the cover problem), even where they stand in different chunks.

    Parameters
    ----------
    most : clusters have fewer baskets than this, unless all their items are alike; larger clusters leave fewer items
        without counts, and tell less about each cluster.
    joint : whether clusters share chunks of items that are rare in each of them.
    """

    name = "disassociation"
    reference = "Terrovitis, Liagouris, Mamoulis, Skiadopoulos: Privacy preservation by disassociation (2012)"
    supports: ClassVar = (KmAnonymity,)
    uses_secret: ClassVar = True

    most: int = 100
    joint: bool = True

    def __post_init__(self) -> None:
        require(is_integer(self.most) and self.most >= FEWEST, self, "most", "a whole number of at least 2", self.most)
        require(isinstance(self.joint, bool), self, "joint", "True or False", self.joint)

    def search(self, request: Request[PublishedTransactions]) -> DisassociatedTransactions:
        """Take baskets apart; random draws decide only in which order clusters and parts are published."""
        self.check(request.models)
        original = cast("Transactions", request.data)
        promised = [cast("KmAnonymity", model) for model in request.models]
        k, m = max(each.k for each in promised), max(each.m for each in promised)
        check_enough_transactions(k, original)
        places = partition_transactions(original, k, m, max(self.most, k + 1))
        request.progress(0.6, "chunks were found")
        if self.joint:
            refine_clusters(places, k, m)
        return DisassociatedTransactions.from_positions(places, request.stream)
