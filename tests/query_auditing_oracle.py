"""What a person's value can be after answers, found without any of the auditor's methods."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np


def determined_by_sums(sets: list[tuple[bool, ...]]) -> list[int]:
    """Find persons whose values follow from sums: no other table has them and the same sums (over rational numbers)."""
    persons = len(sets[0]) if sets else 0
    return [person for person in range(persons) if _spans(sets, [place == person for place in range(persons)])]


def _spans(sets, wanted) -> bool:
    return _rank([*sets, wanted]) == _rank(sets)


def _rank(rows) -> int:
    left = [[Fraction(int(cell)) for cell in row] for row in rows]
    rank = 0
    for column in range(len(left[0]) if left else 0):
        pivot = next((row for row in left[rank:] if row[column]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        left.insert(rank, pivot)
        for place in range(rank + 1, len(left)):
            factor = left[place][column] / pivot[column]
            left[place] = [cell - factor * above for cell, above in zip(left[place], pivot, strict=True)]
        rank += 1
    return rank


class AllTables:
    """All tables of few persons whose values are from a few numbers; what cannot be is struck out."""

    def __init__(self, persons: int, values: range) -> None:
        self.lowest = values[0]
        self.tables = np.array(list(product(values, repeat=persons)))

    def agreeing(self, rows, answer) -> np.ndarray:
        """Give the tables in which this is the maximum of these rows."""
        return self.tables[self.tables[:, rows].max(axis=1) == answer]

    def answered(self, rows, answer) -> None:
        """Strike out all other tables."""
        self.tables = self.agreeing(rows, answer)

    def some_answer_discloses(self, rows) -> bool:
        """Tell whether a possible answer determines a value; answers so low that nothing is lower tell too much."""
        answers = np.unique(self.tables[:, rows].max(axis=1))
        after = [self.agreeing(rows, answer) for answer in answers if answer > self.lowest + 1]
        return any((left.min(axis=0) == left.max(axis=0)).any() for left in after)
