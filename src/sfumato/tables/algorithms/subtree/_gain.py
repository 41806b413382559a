"""What publishing values in parts is worth: the loss that is avoided, or information about a class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.encoding.coded_table import Weights
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.subtree._tree import Ints, Part, Tree

Floats = npt.NDArray[np.float64]
DIGITS = 10  # significant digits of a score


class Gain(ABC):
    """The total worth of the records of a part, where a suppressed record is worth 0.

    The worth of a release is the sum over its records and attributes. It depends on each attribute separately, so
    what a change of parts adds is known before any group is counted.

    Parameters
    ----------
    task : the table.
    trees : the tree above the codes of every quasi-identifier.
    """

    def __init__(self, task: TableRequest, trees: Sequence[Tree]) -> None:
        self.rows = task.table.rows
        self.trees = trees
        self._records: list[Ints] = [
            np.append(0, np.cumsum(_count_codes(column.codes, len(column.domain) + 1, task.table.weights)))
            for column in task.table.quasi
        ]

    def records(self, column: int, parts: Sequence[Part]) -> Ints:
        """Count the records of parts."""
        first, last, starts = _runs(parts)
        counts: Ints = np.add.reduceat(self.records_in(column, first, last), starts)
        return counts

    def records_in(self, column: int, first: Ints, last: Ints) -> Ints:
        """Count the records in ranges of codes."""
        return self._records[column][last + 1] - self._records[column][first]

    def of(self, column: int, parts: Sequence[Part]) -> Floats:
        """Return the worth of parts."""
        first, last, starts = _runs(parts)
        values = np.add.reduceat(self._values_in(column, first, last), starts)
        return self._gain(column, values, np.add.reduceat(self._counts(column, first, last), starts, axis=0))

    def per_record(self, column: int, parts: Sequence[Part]) -> Floats:
        """Return the worth of a record in every part."""
        worth: Floats = self.of(column, parts) / np.maximum(self.records(column, parts), 1)
        return worth

    def in_ranges(self, column: int, first: Ints, last: Ints) -> Floats:
        """Return the worth of many parts that are ranges of codes."""
        return self._gain(column, self._values_in(column, first, last), self._counts(column, first, last))

    def outside(self, column: int, part: Part, first: Ints, last: Ints) -> Floats:
        """Return the worth of the rest of a part without a range of codes, for many ranges."""
        firsts, lasts, _ = _runs([part])
        values = self._values_in(column, firsts, lasts).sum() - self._values_in(column, first, last)
        counts = self._counts(column, firsts, lasts).sum(axis=0) - self._counts(column, first, last)
        return self._gain(column, values, counts)

    @abstractmethod
    def per(self, records: int) -> float:
        """Return the divisor of the gain from splitting this many records."""

    def _values_in(self, column: int, first: Ints, last: Ints) -> Ints:
        """Count the values in ranges of codes, without missing ones."""
        return np.minimum(last, len(self.trees[column].domain) - 1) - first + 1

    @abstractmethod
    def _counts(self, column: int, first: Ints, last: Ints) -> Ints:
        """Count what the worth of ranges of codes depends on, one row per range."""

    @abstractmethod
    def _gain(self, column: int, values: Ints, counts: Ints) -> Floats:
        """Return the worth of parts with these numbers of values and counts."""


class AvoidedLossGain(Gain):
    r"""Count $1 - (c - 1) / (D - 1)$ for a record in a part of $c$ of all $D$ values: what the measure `loss` leaves.

    The gain from splitting a part is how much it lowers the loss of the table, which is between 0 and 1.
    """

    def per(self, records: int) -> float:  # noqa: ARG002 - the same for all
        """Return the divisor of the gain from splitting records: the loss if nothing is published."""
        return float(self.rows * len(self.trees))

    def _counts(self, column: int, first: Ints, last: Ints) -> Ints:
        return self.records_in(column, first, last)

    def _gain(self, column: int, values: Ints, counts: Ints) -> Floats:
        all_values = max(len(self.trees[column].domain), 1)
        worth: Floats = counts * ((all_values - np.maximum(values, 1)) / max(all_values - 1, 1))
        return worth


class InformationGain(Gain):
    r"""Count the bits by which the classes in a part differ from those in the table, $\sum_c p_c \log_2 (p_c / q_c)$.

    The gain from splitting a part is the information gain: the entropy of its classes minus the mean entropy in its
    pieces, per record of the part.

    Parameters
    ----------
    task : the table.
    trees : the tree above the codes of every quasi-identifier.
    target : the column of classes.
    """

    def __init__(self, task: TableRequest, trees: Sequence[Tree], target: str) -> None:
        super().__init__(task, trees)
        found, classes = np.unique(task.table.target_columns[target].codes, return_inverse=True)
        weights = task.table.weights
        self._bits = np.log2(_count_codes(classes, len(found), weights) / task.table.rows)
        self._classes: list[Ints] = []
        for quasi in task.table.quasi:
            width = len(quasi.domain) + 1
            keys = quasi.codes.astype(np.int64) * len(found) + classes
            counts = _count_codes(keys, width * len(found), weights).reshape(width, len(found))
            self._classes.append(np.concatenate([np.zeros((1, len(found)), dtype=np.int64), np.cumsum(counts, axis=0)]))

    def per(self, records: int) -> float:
        """Return the divisor of the gain from splitting records: their number."""
        return float(max(records, 1))

    def _counts(self, column: int, first: Ints, last: Ints) -> Ints:
        return self._classes[column][last + 1] - self._classes[column][first]

    def _gain(self, column: int, values: Ints, counts: Ints) -> Floats:  # noqa: ARG002 - classes say it all
        bits: Floats = _x_log_x(counts).sum(axis=1) - _x_log_x(counts.sum(axis=1)) - counts @ self._bits
        return bits


def choose_gain(task: TableRequest, trees: Sequence[Tree], target: str | None) -> Gain:
    """Choose what a search maximizes: information about a class if one is given, otherwise the avoided loss."""
    return AvoidedLossGain(task, trees) if target is None else InformationGain(task, trees, target)


def round_significant(numbers: Floats) -> Floats:
    """Round to significant digits, so that equal numbers are equal however they were summed.

    >>> round_significant(np.array([1 / 3, 0.1 + 0.2, 0.0, np.inf]))
    array([0.33333333, 0.3       , 0.        ,        inf])
    """
    finite = np.isfinite(numbers)
    some = numbers[finite]
    scale = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.maximum(np.abs(some), 1e-200))))
    result = numbers.copy()
    result[finite] = np.round(some * scale) / scale
    return result


def _count_codes(codes: npt.NDArray[np.integer], width: int, weights: Weights | None) -> Ints:
    """Count the records of every code."""
    return np.bincount(codes, weights, minlength=width).astype(np.int64)


def _runs(parts: Sequence[Part]) -> tuple[Ints, Ints, Ints]:
    """Return the runs of all parts, and where those of every part start."""
    first, last = np.array([run for part in parts for run in part.runs], dtype=np.int64).T
    return first, last, np.cumsum([0, *(len(part.runs) for part in parts[:-1])])


def _x_log_x(counts: Ints) -> Floats:
    result: Floats = np.multiply(counts, np.log2(np.maximum(counts, 1)), dtype=np.float64)
    return result
