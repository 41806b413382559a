"""Reduce cases to distinct combinations of codes with the number of records of each, if that pays off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.coding.codes import CodedColumn, Weights
from sfumato.coding.grouping import group_columns, representative_rows

SAMPLE_CASES = 100_000


@dataclass(frozen=True, eq=False)
class RecordReduction:
    """Distinct combinations of codes, or all cases as they are.

    Parameters
    ----------
    cases : where to find every combination: one of its cases.
    weights : the number of records of every combination.
    combination_of : the combination of every case; None if every case is a combination of its own.
    """

    cases: npt.NDArray[np.intp] | slice
    weights: Weights
    combination_of: npt.NDArray[np.int32] | None

    @classmethod
    def identity(cls, cases: int, weights: Weights | None = None) -> RecordReduction:
        """Leave all cases as they are."""
        return cls(slice(None), np.ones(cases, dtype=np.int64) if weights is None else weights, None)

    def __len__(self) -> int:
        return len(self.weights)

    def expand(self, per_combination: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Spread one number per combination to all cases."""
        return per_combination if self.combination_of is None else per_combination[self.combination_of]


def reduce_records(
    columns: Sequence[CodedColumn], weights: Weights | None = None, *, worthwhile: float = 1.0
) -> RecordReduction:
    """Find the distinct combinations of some columns, unless these are more than a worthwhile share of all cases."""
    codes, widths = [column.codes for column in columns], [count_codes(column) for column in columns]
    cases = len(codes[0])
    if cases > SAMPLE_CASES and worthwhile < 1:
        sample = [column[:: cases // SAMPLE_CASES] for column in codes]
        if len(group_columns(sample, widths)) > worthwhile * len(sample[0]):
            return RecordReduction.identity(cases, weights)
    grouped = group_columns(codes, widths)
    if len(grouped) > worthwhile * cases:
        return RecordReduction.identity(cases, weights)
    counts = grouped.counts if weights is None else np.bincount(grouped.labels, weights).astype(np.int64)
    return RecordReduction(representative_rows(grouped), counts, grouped.labels)


def sort_by_codes(reduction: RecordReduction, columns: Sequence[CodedColumn]) -> RecordReduction:
    """Sort combinations by the codes of the columns, the first counting most: independently of the order of cases."""
    order = np.lexsort([column.codes[reduction.cases] for column in reversed(columns)])
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    cases = order if isinstance(reduction.cases, slice) else reduction.cases[order]
    return RecordReduction(cases, reduction.weights[order], reduction.expand(place))


def count_codes(column: CodedColumn) -> int:
    """Count the codes of a column, including that of missing values only if it occurs."""
    return len(column.domain) + int(column.codes.max() == column.domain.missing)
