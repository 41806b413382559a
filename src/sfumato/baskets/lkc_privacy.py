"""The promise of LKC-privacy: few known values find K rows, and none of what is sensitive is common to most of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sfumato.baskets.baskets import Transactions
from sfumato.baskets.published import PublishedTransactions
from sfumato.baskets.sensitive_sets import MAX_SETS, check_itemset_limit, require_whole_transactions
from sfumato.baskets.table_rows import EQUALS
from sfumato.coding.item_sets import Flags, ItemsetCounter
from sfumato.coding.set_rules import RuleCounts, count_rules
from sfumato.exceptions import SchemaError
from sfumato.kinds.promise import Model, Verdict
from sfumato.models.words import ModelDescription
from sfumato.validation import is_finite_number, is_integer, require


@dataclass(frozen=True, kw_only=True, repr=False)
class LKCPrivacy(Model[PublishedTransactions]):
    """Every combination of at most L known values is in at least K rows, of which at most a share C has one secret.

    For tables with so many columns that nobody knows all of a person. Rows are baskets of items that name a column and
    a value, as `sf.baskets.transactions_from_rows` makes them; what is sensitive are the items of the sensitive column. The
    level is the largest share; combinations that are in fewer than K rows are counted as broken.

    Parameters
    ----------
    L : how many values an adversary may know.
    K : how many rows must have them.
    C : the largest share of these rows with one sensitive value.
    sensitive : the column of sensitive values.
    """

    name = "lkc-privacy"
    reference = "Mohammed, Fung, Hung, Lee: Anonymizing healthcare data (2009)"
    bound = "max"
    unit = "combinations of values"
    stricter: ClassVar = {"L": "larger", "K": "larger", "C": "smaller"}
    words = ModelDescription(
        title="LKC-privacy",
        level="largest share of one sensitive value among rows with a combination of known values",
        promise=(
            "Whoever knows at most {L} values of a person finds at least {K} rows with them, of which at most a share "
            "of {C} has the same value of {sensitive}."
        ),
        stops="Linking by a few values: somebody who knows some values of a person looks for the only row with them.",
        open="Whoever knows more values of a person may find her row.",
    )

    L: int
    K: int
    C: float
    sensitive: str

    def __post_init__(self) -> None:
        require(is_integer(self.L) and self.L >= 1, self, "L", "a whole number of at least 1", self.L)
        require(is_integer(self.K) and self.K >= 1, self, "K", "a whole number of at least 1", self.K)
        require(is_finite_number(self.C) and 0 <= self.C <= 1, self, "C", "a share in [0, 1]", self.C)
        given: object = self.sensitive
        named = isinstance(given, str) and bool(given)
        require(named, self, "sensitive", "the name of a column", self.sensitive)

    @property
    def limit(self) -> float:
        """The largest share that is allowed."""
        return self.C

    def evaluate(self, published: PublishedTransactions) -> Verdict:
        """Judge every combination of at most L values that occurs."""
        baskets = require_whole_transactions(published, self.name)
        sets = ItemsetCounter(baskets.codes, baskets.offsets, len(baskets.items))
        found = [self.violations(sets, self.sensitive_items(baskets), size) for size in range(1, self.L + 1)]
        return Verdict(self, max(each.worst for each in found), sum(each.violations for each in found))

    def sensitive_items(self, baskets: Transactions) -> Flags:
        """Return which items are values of the sensitive column."""
        hidden = np.array([name.startswith(f"{self.sensitive}{EQUALS}") for name in baskets.items], dtype=np.bool_)
        if not hidden.any():
            raise SchemaError(f"No row has a value of {self.sensitive!r}; name the sensitive column.")
        return hidden

    def violations(self, sets: ItemsetCounter, sensitive: Flags, size: int) -> RuleCounts:
        """Find the combinations of a size that break the promise."""
        share = Fraction(str(self.C))
        found = count_rules(sets, ~sensitive, sensitive, size=size, k=self.K, share=share, every=False, most=MAX_SETS)
        check_itemset_limit(found, MAX_SETS, "choose a smaller L")
        return found
