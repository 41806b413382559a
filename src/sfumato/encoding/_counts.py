"""Counts of values per group, sparse, from rows that are already coded and grouped."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato._threads import count_workers
from sfumato.core._kernels.grouping import group_columns, group_keys, representative_rows, stable_argsort
from sfumato.encoding.coded_table import CodedColumn, Weights

Counts = npt.NDArray[np.int64]

Sparse = tuple[Counts, npt.NDArray[np.int32], Counts]  # offsets per group, values ascending, counts
DENSE_CELLS = 1 << 24


def sparse_counts(
    group: npt.NDArray[np.integer],
    groups: int,
    codes: npt.NDArray[np.integer],
    width: int,
    weights: npt.NDArray[np.integer] | None = None,
) -> Sparse:
    """Count every value in every group, weighted or not."""
    keys = group.astype(np.int64) * width + codes
    if groups * width <= max(DENSE_CELLS, 4 * len(keys)):
        dense = np.bincount(keys, weights, minlength=groups * width)
        found = np.flatnonzero(dense)
        counts = dense[found].astype(np.int64)
    else:
        distinct = group_keys(keys)
        summed = distinct.counts if weights is None else np.bincount(distinct.labels, weights).astype(np.int64)
        order = stable_argsort(distinct.keys, groups * width)
        order = order[summed[order] > 0]
        found, counts = distinct.keys[order], summed[order]
    offsets = np.searchsorted(found, np.arange(groups + 1, dtype=np.int64) * width)
    return offsets, (found % width).astype(np.int32), counts


def sum_by_key(keys: Counts, counts: Counts) -> tuple[Counts, Counts]:
    """Sum counts that share a key; keys come back ascending."""
    if not len(keys):
        return keys, counts
    if (keys[1:] < keys[:-1]).any():
        order = stable_argsort(keys, int(keys.max()) + 1)
        keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[first], np.add.reduceat(counts, first)


def sum_bucket_contents(
    group: npt.NDArray[np.integer], groups: int, bucket: Counts, contents: Sparse, width: int
) -> Sparse:
    """Sum for every group what the buckets of its records contain; compiled, and in threads.

    Parameters
    ----------
    group, groups : the group of every record, and how many there are.
    bucket : the bucket of every record.
    contents : the values of every bucket, with amounts above 0.
    width : the number of values.
    """
    from sfumato.encoding import _kernels as kernel

    starts = np.append(0, np.cumsum(np.bincount(group, minlength=groups)))
    order = np.empty(len(group), dtype=np.int64)
    kernel.order_by_group(group, starts[:-1].copy(), order)
    visits = np.bincount(group, np.diff(contents[0])[bucket], groups).astype(np.int64)
    until = np.append(0, np.cumsum(visits))
    edges = np.unique(np.searchsorted(until, np.linspace(0, until[-1], 4 * count_workers() + 1)).clip(max=groups))
    found = np.zeros(groups, dtype=np.int64)

    most = np.minimum(visits, width)
    begins = np.append(0, np.cumsum(most))[edges[:-1]]
    codes, amounts = np.empty(int(most.sum()), dtype=np.int32), np.empty(int(most.sum()), dtype=np.int64)

    def mix(begin: int, first: int, last: int) -> int:
        room = np.zeros(width, dtype=np.int64), np.zeros((width >> kernel.BLOCK) + 1, dtype=np.int64)
        return kernel.sum_buckets(
            order, starts, bucket, contents, first, last, room, found, codes[begin:], amounts[begin:]
        )

    with ThreadPoolExecutor(count_workers()) as pool:
        lengths = list(pool.map(mix, begins.tolist(), edges[:-1].tolist(), edges[1:].tolist()))
    end = 0
    for begin, length in zip(begins.tolist(), lengths, strict=True):
        codes[end : end + length], amounts[end : end + length] = (
            codes[begin : begin + length],
            amounts[begin : begin + length],
        )
        end += length
    return np.append(0, np.cumsum(found)), codes[:end], amounts[:end]


# Reduce cases to distinct combinations of codes with the number of records of each, if that pays off.

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
