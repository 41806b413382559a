"""The promise of rho-uncertainty: no known items, of whatever kind, make a sensitive item likely."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Model, Verdict
from sfumato.transactions._itemsets import Flags, ItemsetCounter, RuleCounts, count_closed_rules, count_rules
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.models._base import MAX_SETS, check_itemset_limit, with_sensitive_items

MAX_CLOSED = 10_000_000


@dataclass(frozen=True, kw_only=True, repr=False)
class RhoUncertainty(Model[PublishedTransactions]):
    """Of the baskets with any set of items, at most the share rho has any one further sensitive item.

    Sets may hold public and sensitive items. Without `most` they may be of any size: then closed sets are judged, whose
    rules are the strongest, up to the first one by which a sensitive item is certain, and tables with more than ten
    million of them are refused. The share of a sensitive item in the whole table is not judged.

    Parameters
    ----------
    rho : the largest share, from 0 to 1.
    most : how many items an adversary may know; by default any number.
    """

    name = "rho-uncertainty"
    reference = "Cao, Karras, Raissi, Tan: rho-uncertainty: inference-proof transaction anonymization (2010)"
    bound = "max"
    unit = "sets of items"
    stricter: ClassVar = {"rho": "smaller", "most": "larger"}
    words = ModelDescription(
        title="rho-uncertainty",
        level="largest share of a sensitive item among baskets with a set of other items",
        promise="Of the baskets with any items that somebody knows of a person, at most the share {rho} has any one "
        "other sensitive item.",
        stops="Inferring from any items: somebody who knows items of a person, also sensitive ones, looks what "
        "sensitive item most baskets with them have.",
        open="A basket may still be found by its items; what is hidden is its sensitive items.",
        further={"most": "Nobody is assumed to know more than {most} items."},
    )

    rho: float
    most: int | None = None

    def __post_init__(self) -> None:
        require(is_finite_number(self.rho) and 0 <= self.rho <= 1, self, "rho", "a share between 0 and 1", self.rho)
        fine = self.most is None or (is_integer(self.most) and self.most >= 1)
        require(fine, self, "most", "a whole number of at least 1", self.most)

    @property
    def limit(self) -> float:
        """The largest share that is allowed."""
        return self.rho

    def evaluate(self, published: PublishedTransactions) -> Verdict:
        """Judge every set of items that occurs; without `most`, every closed one."""
        baskets, sets = with_sensitive_items(published, self.name)
        if self.most is None:
            share = Fraction(str(self.rho))
            found = count_closed_rules(sets, baskets.is_sensitive, share=share, most=MAX_CLOSED)
            check_itemset_limit(found, MAX_CLOSED, "bound what is known by most=")
            certain = found.worst >= 1  # the walk ends at the first such rule, so others are not counted
            return Verdict(self, found.worst, min(found.violations, 1) if certain else found.violations)
        each = [self.violations(sets, baskets.is_sensitive, size) for size in range(1, self.most + 1)]
        return Verdict(self, max(found.worst for found in each), sum(found.violations for found in each))

    def violations(self, sets: ItemsetCounter, sensitive: Flags, size: int) -> RuleCounts:
        """Find the sets of a size that make a sensitive item too likely, with each such item."""
        share, known = Fraction(str(self.rho)), np.ones(len(sensitive), dtype=np.bool_)
        found = count_rules(sets, known, sensitive, size=size, k=0, share=share, every=True, most=MAX_SETS)
        check_itemset_limit(found, MAX_SETS, "bound what is known by a smaller most=")
        return found
