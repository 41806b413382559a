"""What maxima reveal: whose value can be an answered maximum. Minima are maxima of the opposite order.

Values are known by rank; the ranks in use are those of answers. Values may be equal, and have no known bound.
The extreme rows of an answered maximum are those that no lower answer rules out; if there is only one, it is
determined.

Consider another maximum, over Q. Its answer `a` is unknown, so all answers that agree with the past count. An
earlier maximum m > a loses its extreme rows inside Q. Answers below the largest m whose extreme rows all lie in Q are
impossible. So Q discloses for some possible answer if and only if

- an earlier maximum above that has exactly one extreme row outside Q, or
- the largest upper bound of rows of Q belongs to a single row (no bound counts as the largest of all).
"""

from __future__ import annotations

import numpy as np

from sfumato.queries.audited.row_classes import Integers, RowPartition, Truths

UNBOUNDED = np.iinfo(np.int64).max
INITIAL_CAPACITY = 64


class MaximumAuditor:
    """The answered maxima of a column."""

    def __init__(self, rows: int) -> None:
        self.partition = RowPartition(rows)
        self.upper = np.array([UNBOUNDED], dtype=np.int64)
        self._answers = np.zeros(0, dtype=np.int64)
        self._extreme = np.zeros((INITIAL_CAPACITY, INITIAL_CAPACITY), dtype=np.bool_)

    @property
    def _extremes(self) -> Truths:
        return self._extreme[: len(self._answers), : len(self.upper)]

    def upper_bounds(self, rows: Truths) -> Integers:
        """Return the rank above which no value of these rows lies, or UNBOUNDED."""
        return self.upper[self.partition.classes[rows]]

    def discloses(self, rows: Truths) -> bool:
        """Return whether any answer that agrees with the past would determine a value."""
        cover = self.partition.cover(rows)
        outside = self._extremes @ (cover.sizes - cover.inside)
        possible = self._answers[outside == 0].max(initial=-1)
        if (self._answers[outside == 1] > possible).any():
            return True
        touched = cover.inside > 0
        top = self.upper[touched].max()
        return int(cover.inside[touched & (self.upper == top)].sum()) == 1

    def accept(self, rows: Truths, answer: int) -> None:
        """Record an answered maximum, by rank."""
        cover = self.partition.cover(rows)
        old, width = len(self.upper), len(self.upper) + len(cover.split)
        self._grow(len(self._answers) + 1, width)
        self._extreme[:, old:width] = self._extreme[:, cover.split]
        self.upper = np.append(self.upper, self.upper[cover.split])
        self.partition.split(cover)
        members = cover.members
        above = np.flatnonzero(self._answers > answer)
        self._extreme[np.ix_(above, np.flatnonzero(members))] = False
        self.upper[members] = np.minimum(self.upper[members], answer)
        now = members & (self.upper == answer)
        same = np.flatnonzero(self._answers == answer)
        if not (self._extremes[same] == now).all(axis=1).any():
            self._extreme[len(self._answers), :width] = now
            self._answers = np.append(self._answers, answer)

    def _grow(self, rows: int, columns: int) -> None:
        have = self._extreme.shape
        if rows <= have[0] and columns <= have[1]:
            return
        larger = np.zeros((max(have[0], 2 * rows), max(have[1], 2 * columns)), dtype=np.bool_)
        larger[: have[0], : have[1]] = self._extreme
        self._extreme = larger
