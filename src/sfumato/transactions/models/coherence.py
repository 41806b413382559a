"""The promise of (h, k, p)-coherence: a few public items find many baskets, which do not share a sensitive item."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Model, Verdict
from sfumato.transactions._itemsets import Flags, ItemsetCounter, RuleCounts, count_rules
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.models._base import MAX_SETS, check_itemset_limit, with_sensitive_items


@dataclass(frozen=True, kw_only=True, repr=False)
class Coherence(Model[PublishedTransactions]):
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
    unit = "sets of public items"
    stricter: ClassVar = {"h": "smaller", "k": "larger", "p": "larger"}
    words = ModelDescription(
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
        require(is_finite_number(self.h) and 0 <= self.h <= 1, self, "h", "a share between 0 and 1", self.h)
        require(is_integer(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)
        require(is_integer(self.p) and self.p >= 1, self, "p", "a whole number of at least 1", self.p)

    @property
    def limit(self) -> float:
        """The largest share that is allowed."""
        return self.h

    def evaluate(self, published: PublishedTransactions) -> Verdict:
        """Judge every set of public items that occurs."""
        baskets, sets = with_sensitive_items(published, self.name)
        found = [self.violations(sets, baskets.is_sensitive, size) for size in range(1, self.p + 1)]
        return Verdict(self, max(each.worst for each in found), sum(each.violations for each in found))

    def violations(self, sets: ItemsetCounter, sensitive: Flags, size: int) -> RuleCounts:
        """Find the sets of a size that break the promise."""
        share = Fraction(str(self.h))
        found = count_rules(sets, ~sensitive, sensitive, size=size, k=self.k, share=share, every=False, most=MAX_SETS)
        check_itemset_limit(found, MAX_SETS, "choose a smaller p")
        return found
