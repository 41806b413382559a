"""Draw synthetic records from the statistics of groups."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sfumato._randomness import KeyedRandom
from sfumato.io._values import Numbers
from sfumato.synthesis._columns import SynthesizedColumn, column_from_numbers, column_from_texts
from sfumato.synthesis._statistics import GroupStatistics, Whole

BLOCK = 1 << 22  # numbers in the axes of all records drawn at once


@dataclass(frozen=True, eq=False, repr=False)
class ValueCounts:
    """How often each value of one column occurs in each group: entries in the order of the groups."""

    values: Sequence[str | None]
    codes: Whole
    counts: Whole

    @classmethod
    def from_rows(cls, values: Sequence[str], codes: Whole, labels: Whole) -> ValueCounts:
        """Count the codes of records by the number of their group."""
        found, counts = np.unique(labels * len(values) + codes, return_counts=True)
        return cls(values, found % len(values), counts.astype(np.int64))

    @classmethod
    def from_table(cls, values: Sequence[str], counts: Whole) -> ValueCounts:
        """Convert counts with a row for every group and a column for every value."""
        groups, codes = np.nonzero(counts)
        return cls(values, codes, counts[groups, codes])

    def drop_rare(self, k: int) -> tuple[ValueCounts, int]:
        """Leave out values that fewer than k records have, and tell how many records lose theirs.

        A value that is drawn is one that somebody has. One that few have would name them, whatever group it is in;
        records that draw it are drawn without a value.
        """
        totals = np.bincount(self.codes, weights=self.counts, minlength=len(self.values))
        kept = [value if total >= k else None for value, total in zip(self.values, totals, strict=True)]
        return ValueCounts(kept, self.codes, self.counts), int(totals[totals < k].sum())


@dataclass(frozen=True, eq=False, repr=False)
class GroupMixture:
    """Groups to draw from: statistics of the numeric columns, and counts of the values of all others."""

    columns: tuple[SynthesizedColumn, ...]
    statistics: GroupStatistics
    scales: Numbers
    tallies: tuple[ValueCounts, ...]

    def fingerprint(self) -> str:
        """Hash what is drawn from."""
        digest = hashlib.sha256()
        counts = [array for tally in self.tallies for array in (tally.codes, tally.counts)]
        for array in (self.statistics.sizes, self.statistics.means, self.scales, *counts):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def sample(self, rows: int, stream: KeyedRandom) -> pa.Table:
        """Draw records, from every group in proportion to its size, in an order without meaning."""
        groups = apportion_rows(self.statistics.sizes, rows, stream)[stream.permutation(rows)]
        numbers = iter(sample_numbers(self.statistics, self.scales, groups, stream).T)
        tallies = iter(self.tallies)
        drawn = [
            column_from_numbers(next(numbers), column.kind)
            if column.numeric
            else _sample_values(next(tallies), self.statistics.sizes, groups, column, stream)
            for column in self.columns
        ]
        return pa.table(drawn, names=[column.name for column in self.columns])


def random_source(secret: str | None, drawn: int, mixture: GroupMixture) -> KeyedRandom:
    """Return where the bits of one draw come from: the operating system, or a secret, anew for other groups."""
    return KeyedRandom(secret, f"condensing {drawn}", about=mixture.fingerprint)


def apportion_rows(sizes: Whole, rows: int, stream: KeyedRandom) -> Whole:
    """Return the groups of this many records: for each group its share, rounded up or down at random.

    As many records as there are give every group its own size, and twice as many give it twice that.

    >>> apportion_rows(np.array([2, 3]), 10, KeyedRandom()).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    """
    total = int(sizes.sum())
    ends = np.cumsum(sizes)
    whole, part = divmod(rows, total)
    bounds = whole * ends + (part * ends + int(stream.integers(total, 1)[0])) // total
    return np.repeat(np.arange(len(sizes)), np.diff(bounds, prepend=0))


def sample_numbers(statistics: GroupStatistics, scales: Numbers, groups: Whole, stream: KeyedRandom) -> Numbers:
    """Draw a record of each of these groups: uniform along every axis, with the variance of the group there."""
    variances, directions = statistics.axes(scales)
    reach = directions * (np.sqrt(3 * variances)[:, None, :] * scales[None, :, None])
    width = len(scales)
    drawn = np.empty((len(groups), width))
    step = max(1, BLOCK // width**2)
    for start in range(0, len(groups), step):
        rows = groups[start : start + step]
        along = 2 * stream.uniform(len(rows) * width).reshape(len(rows), width, 1) - 1
        drawn[start : start + step] = statistics.means[rows] + (reach[rows] @ along)[:, :, 0]
    return drawn


def sample_codes(tally: ValueCounts, sizes: Whole, groups: Whole, stream: KeyedRandom) -> Whole:
    """Draw a value of each of these groups, by its share in the group."""
    ends = np.cumsum(sizes)
    places = ends[groups] - 1 - stream.integers(sizes[groups], len(groups))
    return tally.codes[np.searchsorted(np.cumsum(tally.counts), places, side="right")]


def _sample_values(
    tally: ValueCounts, sizes: Whole, groups: Whole, column: SynthesizedColumn, stream: KeyedRandom
) -> pa.Array:
    return column_from_texts(tally.values, column.kind).take(pa.array(sample_codes(tally, sizes, groups, stream)))
