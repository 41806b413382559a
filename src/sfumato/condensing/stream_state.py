"""What a stream leaves behind: statistics of its groups, never a record; and how a group splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.condensing.columns import SynthesizedColumn
from sfumato.condensing.sampling import GroupMixture, ValueCounts
from sfumato.condensing.statistics import GroupStatistics, Whole, replace_tiny
from sfumato.table.numbers import Numbers

NEVER = -1  # no group has this many records


@dataclass(eq=False, repr=False, kw_only=True)
class StreamState:
    """Statistics of all groups and of all records together.

    Arrays have room for the largest number of groups, so that they never grow; `means` has a row for every column.
    For each column without numbers, `values` are those seen so far, and `counts` has a row for every group.
    """

    columns: tuple[SynthesizedColumn, ...]
    groups: int
    seen: Whole
    center: Numbers
    spread: Numbers
    sizes: Whole
    means: Numbers
    scatter: Numbers
    values: list[list[str]]
    counts: list[Whole]

    @classmethod
    def empty(cls, columns: tuple[SynthesizedColumn, ...], most_groups: int) -> StreamState:
        """Start with one empty group."""
        width = sum(column.numeric for column in columns)
        others = len(columns) - width
        return cls(
            columns=columns,
            groups=1,
            seen=np.zeros(1, dtype=np.int64),
            center=np.zeros(width),
            spread=np.zeros(width),
            sizes=np.zeros(most_groups, dtype=np.int64),
            means=np.zeros((width, most_groups)),
            scatter=np.zeros((most_groups, width, width)),
            values=[[] for _ in range(others)],
            counts=[np.zeros((most_groups, 0), dtype=np.int64) for _ in range(others)],
        )

    @property
    def nbytes(self) -> int:
        """The memory that the arrays take, in bytes."""
        arrays = (self.seen, self.center, self.spread, self.sizes, self.means, self.scatter, *self.counts)
        return sum(array.nbytes for array in arrays)

    @property
    def scales(self) -> Numbers:
        """The standard deviation of every column over all records, and 1 for a constant one."""
        return replace_tiny(np.sqrt(self.spread / self.seen[0]))

    def statistics(self) -> GroupStatistics:
        """Return the statistics of the groups."""
        used = self.groups
        return GroupStatistics(self.sizes[:used], self.means[:, :used].T, self.scatter[:used])

    def mixture(self, k: int) -> GroupMixture:
        """Return the groups to draw from, without values that fewer than k records have."""
        tallies = [
            ValueCounts.from_table(values, counts[: self.groups]).drop_rare(k)[0]
            for values, counts in zip(self.values, self.counts, strict=True)
        ]
        return GroupMixture(self.columns, self.statistics(), self.scales, tuple(tallies))

    def extend(self, values: Sequence[Sequence[str]]) -> None:
        """Make room for values that were not seen before."""
        for place, found in enumerate(values):
            self.values[place].extend(found)
            self.counts[place] = np.pad(self.counts[place], ((0, 0), (0, len(found))))

    def add_records(self, records: Numbers, codes: Sequence[Whole], k: int) -> None:
        """Let records join their nearest groups; a group of 2k splits as long as there is room for another."""
        from sfumato.coding.kernels.condensing import condense_stream

        most_groups = len(self.sizes)
        labels = np.empty(len(records), dtype=np.int64)
        whole = self.seen, self.center, self.spread
        state = self.sizes, self.means, self.scatter
        begin = 0
        while begin < len(records):
            full = 2 * k if self.groups < most_groups else NEVER
            end = condense_stream(records, begin, self.groups, full, whole, state, labels)
            for column, counts in zip(codes, self.counts, strict=True):
                np.add.at(counts, (labels[begin:end], column[begin:end]), 1)
            last = int(labels[end - 1])
            if self.sizes[last] == full:
                self._split(last)
            begin = end

    def _split(self, group: int) -> None:
        """Put one half of a group in its place and the other after all groups."""
        one = slice(group, group + 1)
        whole = GroupStatistics(self.sizes[one], self.means[:, one].T, self.scatter[one])
        for place, half in zip((group, self.groups), whole.split(self.scales), strict=True):
            self.sizes[place] = half.sizes[0]
            self.means[:, place] = half.means[0]
            self.scatter[place] = half.scatter[0]
        for counts in self.counts:
            counts[group], counts[self.groups] = halve_counts(counts[group])
        self.groups += 1


def halve_counts(counts: Whole) -> tuple[Whole, Whole]:
    """Halve counts; for odd ones, the halves get the larger part in turns.

    >>> [half.tolist() for half in halve_counts(np.array([5, 4, 3, 1, 1]))]
    [[3, 2, 1, 1, 0], [2, 2, 2, 0, 1]]
    """
    odd = counts % 2 == 1
    first = counts // 2
    first[odd] += np.arange(odd.sum()) % 2 == 0
    return first, counts - first
