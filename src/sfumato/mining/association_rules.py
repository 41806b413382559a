"""Frequent item sets, and the rules derived from them; counts are compared exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil

from sfumato._optional import import_optional
from sfumato._validation import is_finite_number, is_integer, require
from sfumato.errors import InvalidParameterError
from sfumato.mining.transaction_matrix import IntoTransactions, ItemSet, TransactionMatrix

ARROW = "=>"
MAX_ITEM_SETS = 200_000


@dataclass(frozen=True, repr=False)
class Rule:
    """Transactions with all items of the left side also have those of the right side.

    Examples
    --------
    >>> Rule.parse("bread, milk => butter").items == {"bread", "milk", "butter"}
    True
    """

    left: ItemSet
    right: ItemSet

    def __post_init__(self) -> None:
        for side in ("left", "right"):
            given = getattr(self, side)
            object.__setattr__(self, side, frozenset([given] if isinstance(given, str) else given))
        apart = bool(self.left and self.right) and not self.left & self.right
        require(apart, "Rule", "left and right", "two item sets that share nothing and are not empty", "others")

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read a rule from a text such as `"bread, milk => butter"`."""
        left, arrow, right = text.partition(ARROW)
        if not arrow:
            raise InvalidParameterError(f"Write a rule as items, {ARROW}, items; the arrow is missing.")
        return cls(parse_itemset(left), parse_itemset(right))

    @property
    def items(self) -> ItemSet:
        """All items of the rule."""
        return self.left | self.right

    def __repr__(self) -> str:
        return f"Rule({len(self.left)} items {ARROW} {len(self.right)} items)"

    def __str__(self) -> str:
        return f"{', '.join(sorted(self.left))} {ARROW} {', '.join(sorted(self.right))}"


@dataclass(frozen=True, kw_only=True)
class MiningThresholds:
    """What is mined: item sets with a minimum support, and rules that also have a minimum confidence.

    Parameters
    ----------
    support : a number of transactions (a whole number), or a share of them (a fraction in (0, 1], such as 0.3 or 1.0).
    confidence : the smallest share of the transactions with the left side that also have the right side.
    """

    support: float
    confidence: float = 0.5

    def __post_init__(self) -> None:
        number = is_finite_number(self.support)
        fits = number and (self.support >= 1 if is_integer(self.support) else 0 < self.support <= 1)
        require(
            fits, "PatternThresholds", "support", "a whole number of at least 1, or a share in (0, 1]", self.support
        )
        inside = is_finite_number(self.confidence) and 0 < self.confidence <= 1
        require(inside, "PatternThresholds", "confidence", "in (0, 1]", self.confidence)

    def min_count(self, transactions: int) -> int:
        """Return the smallest number of transactions, rounded up."""
        if is_integer(self.support):
            return int(self.support)
        return max(1, ceil(Fraction(str(self.support)) * transactions))

    @property
    def fraction(self) -> Fraction:
        """The confidence as written: 0.6 is three fifths."""
        return Fraction(str(self.confidence))


def mine_frequent_itemsets(data: IntoTransactions, *, support: float) -> dict[ItemSet, int]:
    """Find the item sets in at least this many transactions, with their counts (by mlxtend's FP-growth).

    Unknown cells do not count.

    Parameters
    ----------
    data : lists of items, a table of boolean columns, or two columns: transaction and item.
    support : a number of transactions, or a share of them as a fraction.
    """
    transactions = TransactionMatrix.from_data(data)
    least = MiningThresholds(support=support).min_count(len(transactions))
    if least > len(transactions):
        return {}
    patterns = import_optional("mlxtend.frequent_patterns", extra="rules", error=InvalidParameterError)
    import pandas as pd

    frame = pd.DataFrame(transactions.matrix)
    found = patterns.fpgrowth(frame, min_support=(least - 0.5) / len(transactions))
    if len(found) > MAX_ITEM_SETS:
        raise InvalidParameterError(f"There are {len(found):,} frequent item sets; choose a higher support.")
    counts = [round(share * len(transactions)) for share in found["support"]]
    named = [frozenset(transactions.items[i] for i in each) for each in found["itemsets"]]
    return dict(sorted(zip(named, counts, strict=True), key=lambda each: sort_itemsets(each[0])))


def mine_rules(data: IntoTransactions, *, support: float, confidence: float) -> dict[Rule, Fraction]:
    """Find the rules with a minimum support and confidence, with their confidences.

    Parameters
    ----------
    data : lists of items, a table of boolean columns, or two columns: transaction and item.
    support : a number of transactions, or a share of them as a fraction.
    confidence : the smallest share of the transactions with the left side that also have the right side. With unknown
        cells, the smallest possible confidence is compared.
    """
    transactions = TransactionMatrix.from_data(data)
    asked = MiningThresholds(support=support, confidence=confidence)
    return rules_from_itemsets(transactions, mine_frequent_itemsets(transactions, support=support), asked.fraction)


def rules_from_itemsets(
    transactions: TransactionMatrix, frequent: Mapping[ItemSet, int], least: Fraction
) -> dict[Rule, Fraction]:
    """Find the rules of frequent item sets with a minimum confidence."""
    blocked = bool(transactions.unknown.any())
    possible: dict[ItemSet, int] = {}
    found = {}
    for items, count in frequent.items():
        for rule in rule_splits(items):
            if blocked and rule.left not in possible:
                possible[rule.left] = transactions.support(rule.left, perhaps=True)
            confidence = Fraction(count, possible[rule.left] if blocked else frequent[rule.left])
            if confidence >= least:
                found[rule] = confidence
    return found


def rule_splits(items: ItemSet) -> Iterator[Rule]:
    """Yield all rules with exactly these items."""
    ordered = sorted(items)
    for size in range(1, len(ordered)):
        for left in combinations(ordered, size):
            yield Rule(frozenset(left), items - frozenset(left))


def maximal_itemsets(sets: Iterable[ItemSet]) -> list[ItemSet]:
    """Keep the sets that no other set contains: the positive border."""
    kept: list[ItemSet] = []
    for each in sorted(sets, key=sort_itemsets, reverse=True):
        if not any(each < other for other in kept):
            kept.append(each)
    return sorted(kept, key=sort_itemsets)


def minimal_itemsets(sets: Iterable[ItemSet]) -> list[ItemSet]:
    """Keep the sets that contain no other set."""
    kept: list[ItemSet] = []
    for each in sorted(set(sets), key=sort_itemsets):
        if not any(other < each for other in kept):
            kept.append(each)
    return kept


def sort_itemsets(items: ItemSet) -> tuple[int, list[str]]:
    """Sort item sets by size, then by items."""
    return len(items), sorted(items)


def parse_itemset(text: str) -> ItemSet:
    """Read items that are separated by commas."""
    return frozenset(item.strip() for item in text.split(",") if item.strip())
