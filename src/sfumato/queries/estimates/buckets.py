"""The buckets of one attribute: what is in them, unlinked from the records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.queries.estimates.pieces import Floats, Ints, Truths, sum_by_label


@dataclass(frozen=True, eq=False, repr=False)
class BucketedCells:
    """The cells in buckets, as labels, the bucket of each, and the number of cells of each bucket."""

    label: Ints
    bucket: Ints
    sizes: Ints

    def __len__(self) -> int:
        return len(self.sizes)

    def count(self, chosen: Truths) -> Floats:
        """Count the cells of every bucket whose label is chosen."""
        return sum_by_label(self.bucket, chosen[self.label], len(self))

    def mean(self, amounts: Floats) -> Floats:
        """Average an amount per label over the cells of every bucket."""
        return sum_by_label(self.bucket, amounts[self.label], len(self)) / self.sizes

    def sort_buckets(self, values: Floats, chosen: Truths) -> SortedBuckets:
        """Sort the numbers of the chosen labels in every bucket."""
        kept = chosen[self.label]
        bucket, numbers = self.bucket[kept], values[self.label[kept]]
        order = np.lexsort((numbers, bucket))
        return SortedBuckets(numbers[order], np.bincount(bucket, minlength=len(self)).astype(np.int64))


@dataclass(frozen=True, eq=False, repr=False)
class SortedBuckets:
    """Numbers of all buckets, bucket after bucket and ascending in each, and how many each bucket has."""

    values: Floats
    sizes: Ints

    def count_below(self, limit: float) -> Ints:
        """Count per bucket the numbers below a limit."""
        below = np.append(0, np.cumsum(self.values < limit))
        return np.asarray(below[self._start + self.sizes] - below[self._start])

    def sum_of_smallest(self, taken: Ints) -> float:
        """Sum this many of the smallest numbers of every bucket."""
        stop = self._start + taken
        if (self._endless[stop] > self._endless[self._start]).any():
            return float("-inf")
        return float((self._sums[stop] - self._sums[self._start]).sum())

    @cached_property
    def _start(self) -> Ints:
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def _sums(self) -> Floats:
        return np.append(0.0, np.cumsum(np.where(np.isinf(self.values), 0.0, self.values)))

    @cached_property
    def _endless(self) -> Ints:
        return np.append(0, np.cumsum(np.isneginf(self.values)))
