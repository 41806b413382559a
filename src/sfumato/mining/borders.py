"""Hide item sets while protecting the border of those that stay frequent (Sun and Yu 2005)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.mining.patterns import maximal_itemsets, minimal_itemsets, sort_itemsets
from sfumato.mining.transactions import Flags, Ints, ItemSet, TransactionMatrix


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
