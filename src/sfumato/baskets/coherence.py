"""The promise of (h, k, p)-coherence: a few public items find many baskets, which do not share a sensitive item."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato.baskets.published import PublishedSets
from sfumato.baskets.sensitive_sets import MOST_SETS, refuse_too_many, sets_with_secrets
from sfumato.coding.item_sets import Flags, ItemSets
from sfumato.coding.set_rules import RulesFound, walk_sets
from sfumato.kinds.promise import KindPromise, KindVerdict
from sfumato.models.words import ModelWords
from sfumato.validation import is_number, is_whole, require


@dataclass(frozen=True, kw_only=True, repr=False)
class Coherence(KindPromise[PublishedSets]):
    """Every set of 1 to p public items that occurs is in at least k baskets, few of them with the same sensitive item.

    Of these baskets, at most the share h may have any one sensitive item. Sets that break this are called moles. The
    level is the largest share; sets that are in fewer than k baskets are counted as broken.

    Parameters
    ----------
    h : the largest share of the baskets with a set that may have the same sensitive item, from 0 to 1.
    k : how many baskets must have a set.
    p : how many public items an adversary may know.
    """

    name = "coherence"
    reference = "Xu, Wang, Fu, Yu: Anonymizing transaction databases for publication (2008)"
    bound = "max"
    counted = "sets of public items"
    stricter: ClassVar = {"h": "smaller", "k": "larger", "p": "larger"}
    words = ModelWords(
        title="(h, k, p)-coherence",
        level="largest share of one sensitive item among baskets with a set of public items",
        promise="Whoever knows at most {p} public items of a person finds at least {k} baskets, and at most the share "
        "{h} of them has the same sensitive item.",
        stops="Inferring from a few items: somebody who knows some public items of a person looks what sensitive item "
        "all baskets with them have.",
        open="Somebody who knows a sensitive item, or more than p items, may learn more.",
    )

    h: float
    k: int
    p: int

    def __post_init__(self) -> None:
        require(is_number(self.h) and 0 <= self.h <= 1, self, "h", "a share between 0 and 1", self.h)
        require(is_whole(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)
        require(is_whole(self.p) and self.p >= 1, self, "p", "a whole number of at least 1", self.p)

    @property
    def limit(self) -> float:
        """The largest share that is allowed."""
        return self.h

    def judge(self, published: PublishedSets) -> KindVerdict:
        """Judge every set of public items that occurs."""
        baskets, sets = sets_with_secrets(published, self.name)
        found = [self.broken(sets, baskets.is_sensitive, size) for size in range(1, self.p + 1)]
        return KindVerdict(self, max(each.worst for each in found), sum(each.broken for each in found))

    def broken(self, sets: ItemSets, sensitive: Flags, size: int) -> RulesFound:
        """Find the sets of a size that break the promise."""
        share = Fraction(str(self.h))
        found = walk_sets(sets, ~sensitive, sensitive, size=size, k=self.k, share=share, every=False, most=MOST_SETS)
        refuse_too_many(found, MOST_SETS, "choose a smaller p")
        return found
