"""Hide sensitive item sets or rules in transactions, and report the effect on the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from sfumato.exceptions import InvalidParameterError
from sfumato.mining.borders import hide_itemsets_by_border
from sfumato.mining.exact import hide_itemsets_exactly, hide_rules_exactly
from sfumato.mining.heuristics import HidingState, add_left_items, block_items, delete_items, delete_right_items
from sfumato.mining.patterns import MiningThresholds, Rule, mine_frequent_itemsets, rules_from_itemsets
from sfumato.mining.transactions import IntoTransactions, ItemSet, TransactionMatrix
from sfumato.validation import require

Method = Literal["1.a", "1.b", "2.a", "blocking", "border", "exact"]
HEURISTICS: Mapping[str, Callable[[HidingState, Sequence[Rule]], None]] = {
    "1.a": add_left_items,
    "1.b": delete_right_items,
    "2.a": delete_items,
    "blocking": block_items,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class HidingResult:
    """Transactions in which sensitive patterns are hidden, and the side effects.

    Parameters
    ----------
    transactions : the transactions to publish.
    method : the method that made them.
    sensitive : the number of patterns to hide. Of these, `failed` are certainly still found, whatever unknown cells
        hold; `failed_if_absent` and `failed_if_present` are found by a reader who takes unknown cells for absent or for
        present items. All three are equal where no cell is unknown.
    rules_before : the number of other rules before. Of these, `lost_rules` are no longer found; `ghost_rules` are found
        now but were not before.
    sets_before : the number of other frequent item sets before; `lost_sets` are no longer frequent.
    deleted, added, blocked : the number of cells that lost an item, got one, and became unknown.
    """

    transactions: TransactionMatrix
    method: str
    sensitive: int
    failed: int
    failed_if_absent: int
    failed_if_present: int
    rules_before: int
    lost_rules: tuple[Rule, ...] = field(repr=False)
    ghost_rules: tuple[Rule, ...] = field(repr=False)
    sets_before: int
    lost_sets: tuple[ItemSet, ...] = field(repr=False)
    deleted: int
    added: int
    blocked: int

    @property
    def changed(self) -> int:
        """The number of cells that were changed."""
        return self.deleted + self.added + self.blocked

    @property
    def visible_patterns(self) -> int:
        """How many sensitive patterns are found by the reader of unknown cells who finds most."""
        return max(self.failed, self.failed_if_absent, self.failed_if_present)

    @property
    def hidden(self) -> bool:
        """Whether no sensitive pattern is found, however a reader takes unknown cells."""
        return self.visible_patterns == 0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain numbers, without any item."""
        return {
            "method": self.method,
            "transactions": len(self.transactions),
            "sensitive": self.sensitive,
            "failed": self.failed,
            "failed_if_absent": self.failed_if_absent,
            "failed_if_present": self.failed_if_present,
            "rules_before": self.rules_before,
            "lost_rules": len(self.lost_rules),
            "ghost_rules": len(self.ghost_rules),
            "sets_before": self.sets_before,
            "lost_sets": len(self.lost_sets),
            "changed": self.changed,
            "deleted": self.deleted,
            "added": self.added,
            "blocked": self.blocked,
        }

    def __repr__(self) -> str:
        cells = f"{self.deleted:,} deleted, {self.added:,} added, {self.blocked:,} unknown"
        return "\n".join(
            [
                f"Hiding by {self.method}: {self._success()}",
                f"  lost rules      {len(self.lost_rules):,} of {self.rules_before:,}",
                f"  ghost rules     {len(self.ghost_rules):,}",
                f"  lost item sets  {len(self.lost_sets):,} of {self.sets_before:,}",
                f"  changed cells   {self.changed:,} ({cells})",
            ]
        )

    def _success(self) -> str:
        """Say how many patterns are hidden, and from whom."""
        if not self.blocked:
            return f"{self.sensitive - self.failed} of {self.sensitive} patterns hidden"
        return (
            f"{self.sensitive - self.failed} of {self.sensitive} patterns made unsure; readers find "
            f"{self.failed_if_absent} if they take unknown cells for absent, {self.failed_if_present} if for present"
        )


def hide_patterns(
    data: IntoTransactions,
    sensitive: Sequence[Rule | Iterable[str]],
    *,
    support: float,
    confidence: float = 0.5,
    method: Method = "exact",
) -> HidingResult:
    """Change transactions so that nobody finds the sensitive patterns with these thresholds.

    Parameters
    ----------
    data : lists of items, a table of boolean columns, or two columns: transaction and item.
    sensitive : rules, or item sets; not both.
    support, confidence : the thresholds of the reader. Item sets are hidden by support alone.
    method : for rules `"1.a"` (adds items), `"1.b"` and `"2.a"` (delete items) or `"blocking"` (makes cells unknown,
        and rules unsure: a reader who takes unknown cells for present items still finds them); for both, `"border"` or
        `"exact"`. Border hides a rule by the support of all its items.
    """
    require(method in get_args(Method), "hide_patterns", "method", f"one of {', '.join(get_args(Method))}", method)
    transactions = TransactionMatrix.from_data(data)
    if transactions.unknown.any():
        raise InvalidParameterError("Some cells are already unknown; hide patterns in the original transactions.")
    rules, sets = _split_patterns(sensitive)
    for items in (*sets, *(rule.items for rule in rules)):
        transactions.columns(items)
    if sets and method in HEURISTICS:
        raise InvalidParameterError(f"The method {method} hides rules; for item sets use 'border' or 'exact'.")
    asked = MiningThresholds(support=support, confidence=confidence)
    task = _HidingProblem(transactions, rules, sets, mine_frequent_itemsets(transactions, support=support), asked)
    return task.compared(task.changed(method), method)


@dataclass(frozen=True, eq=False, repr=False)
class _HidingProblem:
    """What to hide, and what was frequent before."""

    transactions: TransactionMatrix
    rules: Sequence[Rule]
    sets: Sequence[ItemSet]
    frequent: Mapping[ItemSet, int]
    asked: MiningThresholds

    def changed(self, method: str) -> TransactionMatrix:
        """Change the transactions with a method."""
        least = self.asked.min_count(len(self.transactions))
        if method in HEURISTICS:
            bench = HidingState(self.transactions, self.asked, list(self.frequent))
            HEURISTICS[method](bench, self.rules)
            return bench.transactions
        if method == "border":
            sets = [*self.sets, *(rule.items for rule in self.rules)]
            cells = hide_itemsets_by_border(self.transactions, sets, self.frequent, least)
        elif self.sets:
            cells = hide_itemsets_exactly(self.transactions, self.sets, self.frequent, least)
        else:
            cells = hide_rules_exactly(self.transactions, self.rules, self.frequent, least, self.asked.fraction)
        return self.transactions.with_cells(cells)

    def compared(self, after: TransactionMatrix, method: str) -> HidingResult:
        """Mine again, and compare."""
        before = self.transactions
        now = mine_frequent_itemsets(after, support=self.asked.support)
        found = rules_from_itemsets(before, self.frequent, self.asked.fraction)
        left = rules_from_itemsets(after, now, self.asked.fraction)
        other_rules = [r for r in found if r not in self.rules and not any(s <= r.items for s in self.sets)]
        other_sets = [items for items in self.frequent if not any(secret <= items for secret in self.sets)]
        absent, present = after.with_cells(after.matrix), after.with_cells(after.matrix | after.unknown)
        return HidingResult(
            transactions=after,
            method=method,
            sensitive=len(self.rules) + len(self.sets),
            failed=sum(rule in left for rule in self.rules) + sum(items in now for items in self.sets),
            failed_if_absent=self._found(absent),
            failed_if_present=self._found(present),
            rules_before=len(other_rules),
            lost_rules=tuple(rule for rule in other_rules if rule not in left),
            ghost_rules=tuple(rule for rule in left if rule not in found),
            sets_before=len(other_sets),
            lost_sets=tuple(items for items in other_sets if items not in now),
            deleted=int((before.matrix & ~after.matrix & ~after.unknown).sum()),
            added=int((after.matrix & ~before.matrix).sum()),
            blocked=int(after.unknown.sum()),
        )

    def _found(self, read: TransactionMatrix) -> int:
        """Count the sensitive patterns that transactions without unknown cells show."""
        bench = HidingState(read, self.asked, ())
        return sum(map(bench.visible, self.rules)) + sum(read.support(items) >= bench.least for items in self.sets)


def _split_patterns(sensitive: Sequence[Rule | Iterable[str]]) -> tuple[list[Rule], list[ItemSet]]:
    """Separate rules from item sets; refuse a mixture."""
    listed = not isinstance(sensitive, str) and len(list(sensitive)) > 0
    require(listed, "hide_patterns", "sensitive", "a list of rules or item sets", sensitive)
    rules = [each for each in sensitive if isinstance(each, Rule)]
    sets = [frozenset([each] if isinstance(each, str) else each) for each in sensitive if not isinstance(each, Rule)]
    if rules and sets:
        raise InvalidParameterError("Hide rules or item sets, not both at once: item sets are hidden by support alone.")
    require(all(sets), "hide_patterns", "sensitive", "item sets that are not empty", "an empty one")
    return rules, sets
