"""Corners of a table: records that share rare values, among which groups that are too small are found soon."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.full_domain.ladder import LevelMap
from sfumato.algorithms.full_domain.lattice import Levels
from sfumato.coding.combinations import Combinations

LEAST = 0.01  # of the records are in every corner: fewer show less, more cost more
SMALLER = 4  # how many times smaller than the table a corner must be to be worth a look
STORED_SAMPLES = 1  # how many tables as large as the whole all stored corners may be together


class RareCombinations:
    """The corners of a table, one for every choice of columns.

    A corner holds all records in one rare node of each of its columns, on the level just below `*`. The groups of a
    node of the lattice that generalizes none of these columns to `*` lie as a whole inside or outside, so sizes that
    are counted in the corner are those of the table.

    Parameters
    ----------
    combinations : the combinations of the table.
    ladders : the levels of every column.
    histograms : how often every code of every column occurs.
    """

    def __init__(
        self,
        combinations: Combinations,
        ladders: Sequence[LevelMap],
        histograms: Sequence[npt.NDArray[np.float64]],
    ) -> None:
        self._all, self._ladders, self._histograms = combinations, ladders, histograms
        self._order = sorted(range(len(ladders)), key=lambda j: (_rarity(_counts(ladders[j], histograms[j])), j))
        self._least = max(1.0, LEAST * float(histograms[0].sum()))
        self._stored = dict[tuple[int, ...], Combinations]()

    def of(self, levels: Levels) -> Combinations | None:
        """Return a corner in which the groups of a node are whole; nothing if it is not much smaller than the table."""
        corner = self._corner(tuple(j for j in self._order if levels[j] < self._ladders[j].height))
        return corner if SMALLER * len(corner) <= len(self._all) else None

    def _corner(self, columns: tuple[int, ...]) -> Combinations:
        """Cut a corner by one column after the other."""
        if not columns:
            return self._all
        if (known := self._stored.get(columns)) is not None:
            return known
        corner = self._cut(self._corner(columns[:-1]), columns[-1])
        self._store(columns, corner)
        return corner

    def _cut(self, whole: Combinations, column: int) -> Combinations:
        """Keep the rarest node of a column that leaves enough combinations, if there is one."""
        ladder = self._ladders[column]
        counts = self._histograms[column] if whole is self._all else whole.histogram(column)
        by_node = _counts(ladder, counts)
        enough = np.flatnonzero(by_node >= self._least)
        if not len(enough) or np.count_nonzero(by_node) == 1:
            return whole
        rare = enough[np.argmin(by_node[enough])]
        return whole.with_codes(column, ladder.levels[ladder.height - 1] == rare)

    def _store(self, columns: tuple[int, ...], corner: Combinations) -> None:
        """Store a corner, and forget the oldest ones if all take too much memory."""
        self._stored[columns] = corner
        while len(self._stored) > 1 and sum(map(len, self._stored.values())) > STORED_SAMPLES * len(self._all):
            del self._stored[next(iter(self._stored))]


def _counts(ladder: LevelMap, counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Count the records of every node on the level just below `*`."""
    return np.asarray(np.bincount(ladder.levels[ladder.height - 1], counts), dtype=np.float64)


def _rarity(counts: npt.NDArray[np.float64]) -> float:
    """Compare the rarest node with all others: 1 if all are equally frequent."""
    occurring = counts[counts > 0]
    return float(occurring.min() / occurring.mean())
