"""Hide sensitive item sets or rules in transactions, and report the effect on the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from sfumato._validation import require
from sfumato.errors import InvalidParameterError
from sfumato.mining._exact_hiding import hide_itemsets_exactly, hide_rules_exactly
from sfumato.mining.association_rules import (
    MiningThresholds,
    Rule,
    maximal_itemsets,
    mine_frequent_itemsets,
    minimal_itemsets,
    rules_from_itemsets,
    sort_itemsets,
)
from sfumato.mining.transaction_matrix import Flags, IntoTransactions, Ints, ItemSet, TransactionMatrix

# Hide item sets while protecting the border of those that stay frequent (Sun and Yu 2005).


def hide_itemsets_by_border(
    transactions: TransactionMatrix, sensitive: Sequence[ItemSet], frequent: Mapping[ItemSet, int], least: int
) -> Flags:
    """Delete items until no sensitive set is frequent; each time the item whose loss affects the border least.

    Sensitive sets come longest first and, among these, the least frequent first.
    """
    matrix = transactions.matrix.copy()
    hidden = minimal_itemsets(sensitive)
    border = _Border.from_itemsets(
        transactions, [x for x in frequent if not any(s <= x for s in hidden)], frequent, least
    )
    for items in sorted(hidden, key=lambda s: (-len(s), transactions.support(s), sort_itemsets(s))):
        columns = np.array(transactions.columns(items))
        while len(rows := np.flatnonzero(matrix[:, columns].all(axis=1))) >= least:
            row, column = border.least_affected(matrix, rows, columns)
            matrix[row, column] = False
    return matrix


@dataclass(frozen=True, eq=False, repr=False)
class _Border:
    """The maximal sets that should stay frequent: their items, and their supports before anything was deleted."""

    member: Flags
    before: Ints
    least: int

    @classmethod
    def from_itemsets(
        cls, transactions: TransactionMatrix, others: Sequence[ItemSet], frequent: Mapping[ItemSet, int], least: int
    ) -> _Border:
        sets = maximal_itemsets(others)
        member = np.zeros((len(sets), len(transactions.items)), dtype=np.bool_)
        for place, items in enumerate(sets):
            member[place, transactions.columns(items)] = True
        return cls(member, np.array([frequent[items] for items in sets], dtype=np.int64), least)

    def least_affected(self, matrix: Flags, rows: Ints, columns: Ints) -> tuple[int, int]:
        """Choose a transaction and an item; among equals the first transaction, then the first item."""
        held = self._supporting(matrix)
        weights = compute_border_weights(self.before, held.sum(axis=0), self.least)
        touched = [np.flatnonzero(self.member[:, column]) for column in columns.tolist()]
        felt = np.column_stack([held[rows][:, sets] @ weights[sets] for sets in touched])
        best = int(np.argmin(felt))
        return int(rows[best // len(columns)]), int(columns[best % len(columns)])

    def _supporting(self, matrix: Flags) -> Flags:
        """Return which transactions contain which sets of the border."""
        return np.asarray((matrix.astype(np.int64) @ self.member.T.astype(np.int64)) == self.member.sum(axis=1))


def compute_border_weights(before: Ints, now: Ints, least: int) -> npt.NDArray[np.float64]:
    """Weight sets of the border: those close to being lost weigh most, and lost ones more than all others together.

    >>> compute_border_weights(np.array([6, 6, 6]), np.array([6, 5, 4]), 4).tolist()
    [0.5, 1.0, 4.0]
    """
    room = np.maximum(before - least, 1)
    return np.where(now >= least + 1, (before - now + 1) / room, len(before) + 1 + least - now)


# Hide rules by changing one transaction after another (Verykios et al. 2004; Saygin, Verykios, Clifton 2001).


class HidingState:
    """Transactions under change, and how far a rule is from being hidden."""

    def __init__(self, transactions: TransactionMatrix, asked: MiningThresholds, frequent: Sequence[ItemSet]) -> None:
        self.transactions = transactions.with_cells(transactions.matrix.copy(), transactions.unknown.copy())
        self.least, self.confidence = asked.min_count(len(transactions)), asked.fraction
        self.frequent = frequent

    @property
    def matrix(self) -> Flags:
        """The cells, to be changed in place."""
        return self.transactions.matrix

    @property
    def unknown(self) -> Flags:
        """The blocked cells, to be changed in place."""
        return self.transactions.unknown

    def visible(self, rule: Rule) -> bool:
        """Return whether a rule is certainly found: by its smallest possible support and confidence."""
        both, left = self.transactions.support(rule.items), self.transactions.support(rule.left, perhaps=True)
        return both >= self.least and left > 0 and both >= self.confidence * left

    def shortest_supporting(self, items: ItemSet) -> Ints:
        """Return the transactions that contain all items, those with the fewest items first."""
        rows = np.flatnonzero(self.transactions.supporting(items))
        return rows[np.argsort(self.matrix[rows].sum(axis=1), kind="stable")]

    def least_impact_item(self, row: int, among: ItemSet, size: int) -> int:
        """Choose the item whose loss in a transaction affects the fewest frequent item sets of a size."""
        held = {self.transactions.items[i] for i in np.flatnonzero(self.matrix[row])}
        touched = dict.fromkeys(sorted(among), 0)
        for items in self.frequent:
            if len(items) == size and items <= held:
                for item in items & among:
                    touched[item] += 1
        chosen = min(touched, key=lambda item: (touched[item], item))
        return self.transactions.items.index(chosen)


def add_left_items(bench: HidingState, rules: Sequence[Rule]) -> None:
    """Heuristic 1.a: raise the support of the left side, in transactions without some of it and of the right side.

    Those with the most items of the left side come first. Added items can make another rule seen again, so passes are
    repeated while they change something. A rule stays visible if no such transaction is left.
    """
    before = -1
    while before < (held := int(bench.matrix.sum())) and any(map(bench.visible, rules)):
        before = held
        for rule in rules:
            _raise_support_of_left(bench, rule)


def _raise_support_of_left(bench: HidingState, rule: Rule) -> None:
    left = bench.transactions.columns(rule.left)
    lacking = np.flatnonzero(
        ~bench.transactions.supporting(rule.left, perhaps=True)
        & ~bench.transactions.supporting(rule.right, perhaps=True)
    )
    held = bench.matrix[np.ix_(lacking, np.array(left))].sum(axis=1)
    for row in lacking[np.argsort(-held, kind="stable")]:
        if not bench.visible(rule):
            break
        bench.matrix[row, left] = True


def delete_right_items(bench: HidingState, rules: Sequence[Rule]) -> None:
    """Heuristic 1.b: remove an item of the right side from transactions that contain the rule, shortest first."""
    _delete_until_hidden(bench, rules, right_only=True)


def delete_items(bench: HidingState, rules: Sequence[Rule]) -> None:
    """Heuristic 2.a: remove any item of the rule from transactions that contain the rule, shortest first."""
    _delete_until_hidden(bench, rules, right_only=False)


def _delete_until_hidden(bench: HidingState, rules: Sequence[Rule], *, right_only: bool) -> None:
    """Go through the rules until none is visible: hiding one can raise the confidence of another."""
    while True:
        visible = [rule for rule in rules if bench.visible(rule)]
        if not visible:
            return
        for rule in visible:
            for row in bench.shortest_supporting(rule.items):
                if not bench.visible(rule):
                    break
                among = rule.right if right_only else rule.items
                bench.matrix[row, bench.least_impact_item(int(row), among, len(rule.items) - 1)] = False


def block_items(bench: HidingState, rules: Sequence[Rule]) -> None:
    """Make cells unknown: items of the right side where the rule occurs, and missing items of the left side elsewhere.

    The two take turns, so that an unknown cell does not reveal what it was. The smallest possible support and
    confidence of the rule fall, and their highest possible values stay: the rule is unsure, not hidden.
    """
    for rule in rules:
        left = bench.transactions.columns(rule.left)
        lacking = np.flatnonzero(
            ~bench.transactions.supporting(rule.left, perhaps=True)
            & ~bench.transactions.supporting(rule.right, perhaps=True)
        )
        held = bench.matrix[np.ix_(lacking, np.array(left))].sum(axis=1)
        others = iter(lacking[np.argsort(-held, kind="stable")].tolist())
        for row in bench.shortest_supporting(rule.items).tolist():
            if not bench.visible(rule):
                break
            column = bench.least_impact_item(row, rule.right, len(rule.items) - 1)
            bench.matrix[row, column], bench.unknown[row, column] = False, True
            other = next(others, None)
            if other is not None and bench.visible(rule):
                bench.unknown[other, left] = ~bench.matrix[other, left]


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
