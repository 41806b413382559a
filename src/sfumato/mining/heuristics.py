"""Hide rules by changing one transaction after another (Verykios et al. 2004; Saygin, Verykios, Clifton 2001)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.mining.patterns import MiningThresholds, Rule
from sfumato.mining.transactions import Flags, Ints, ItemSet, TransactionMatrix


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
