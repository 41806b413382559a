"""Cross-bucket generalization as the thesis prints it: algorithms 3.1 to 3.5, line by line.

It is slow, and it does not always keep its promise. Algorithm 3.2 takes all remaining values when few are left,
although what this leaves may be less diverse, and a set whose size is not a multiple of k may expose more than 1/l. It
is here to be compared with `CrossBucketGeneralization`, which does keep its promise; it is never a way to publish.

Where the text leaves something open, the plainest reading is taken: an attribute is cut only if both sides have records
(otherwise algorithm 3.3 would not end), the first record of every value is selected, values of equal count are taken in
the order of their domain, and a set of fewer than k records is one group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.encoding.coded_table import CodedColumn
from sfumato.schema.roles import Scale
from sfumato.tables.algorithms._labels import label_ranges, label_sets, merge_identical_groups
from sfumato.tables.algorithms.base import Shows, TableAlgorithm, TableRequest
from sfumato.tables.published.solution import RecodedAttribute, TableSolution

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.integer]


@dataclass(frozen=True)
class CrossBucketSet:
    """Records with different values: the sizes of their groups, one after the other, and the number of buckets."""

    records: Ints
    groups: Sequence[int]
    buckets: int


@dataclass(frozen=True, kw_only=True)
class PrintedCrossBucket(TableAlgorithm):
    """Cross-bucket generalization as printed; unlike other algorithms it knows k and l, and may break its promise."""

    name = "printed-cross-bucket"
    reference = "Doctoral thesis, Jilin University 2018, algorithms 3.1 to 3.5"
    supports_attributes = "one"
    suppresses = False

    k: int
    l: int

    @property
    def publishes(self) -> Shows:
        """Values in buckets, apart from their records."""
        return "buckets"

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        quasi, sensitive = task.table.quasi, task.table.sensitive[0]
        codes = np.array([column.codes for column in quasi])
        spans = [len(column.domain) for column in quasi]
        group, bucket = (np.empty(task.table.rows, dtype=np.int32) for _ in range(2))
        groups = buckets = 0
        for each in find_sets(codes, spans, sensitive.codes.astype(np.int64), self.k, self.l):
            group[each.records] = groups + np.repeat(np.arange(len(each.groups)), each.groups)
            bucket[each.records] = buckets + np.arange(len(each.records)) % each.buckets
            groups, buckets = groups + len(each.groups), buckets + each.buckets
        recoded = {column.name: _generalize_column(column, group, groups) for column in quasi}
        published = merge_identical_groups(group, recoded)
        return TableSolution(published.group, published.recoded, buckets={sensitive.name: bucket})


def find_sets(codes: Codes, spans: Sequence[int], values: Ints, k: int, l: int) -> Iterator[CrossBucketSet]:
    """Algorithm 3.1: find sets of different values, and divide each into groups and buckets."""
    left = np.arange(len(values))
    waits = np.ones(len(values), dtype=np.bool_)
    diversity = -(-l // k) * k
    while len(left):
        chosen, repetitions = choose_sensitive_values(np.bincount(values[left]), k, l, diversity)
        for _ in range(repetitions):
            records = pick_records(codes, spans, values, left, chosen)
            yield CrossBucketSet(records, split_group_sizes(len(records), k), min(k, len(records)))
            waits[records] = False
            left = np.flatnonzero(waits)


def choose_sensitive_values(counts: Ints, k: int, l: int, diversity: int) -> tuple[Ints, int]:
    """Algorithm 3.2: choose the values of a set, and how many sets have them."""
    domain = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    ordered = counts[domain]
    if len(domain) < 2 * diversity:
        return domain, int(ordered[-1])
    beta, alpha = diversity, max_repetitions(ordered, diversity, l)
    while not alpha:
        beta += k
        if len(domain) - beta < 2 * l:
            return domain, int(ordered[-1])
        alpha = max_repetitions(ordered, beta, l)
    return domain[:beta], alpha


def max_repetitions(ordered: Ints, beta: int, l: int) -> int:
    """Find how often one record of each of the first values can be taken so that the rest stays l-eligible.

    >>> max_repetitions(np.array([5, 4, 3, 2]), 2, 2)
    4
    """
    total, following = int(ordered.sum()), int(ordered[beta]) if beta < len(ordered) else 0
    for alpha in range(int(ordered[beta - 1]), 0, -1):
        if max(int(ordered[0]) - alpha, following) * l <= total - alpha * beta:
            return alpha
    return 0


def pick_records(codes: Codes, spans: Sequence[int], values: Ints, left: Ints, chosen: Ints) -> Ints:
    """Algorithm 3.3: descend into the half that has all values, and select one record of each."""
    here, cut = left, True
    while cut:
        mine, cut = codes[:, here], False
        widths = (mine.max(axis=1) - mine.min(axis=1)) / np.maximum(np.array(spans) - 1, 1)
        for at in np.argsort(-widths, kind="stable"):
            smaller = mine[at] <= _median(mine[at])
            halves = [here[side] for side in (smaller, ~smaller) if not side.all()]
            good = [half for half in halves if _has_all(values[half], chosen)]
            if good:
                here, cut = good[0], True
                break
    first = np.full(int(values.max()) + 1, -1)
    first[values[here[::-1]]] = here[::-1]
    return first[chosen]


def split_group_sizes(size: int, k: int) -> list[int]:
    """Algorithm 3.4: cut records that follow each other into groups of k, and distribute the rest evenly.

    >>> split_group_sizes(6, 3), split_group_sizes(8, 3)
    ([3, 3], [4, 4])
    """
    groups = max(size // k, 1)
    base, longer = divmod(size, groups)
    return [base + 1] * longer + [base] * (groups - longer)


def _median(codes: Codes) -> int:
    """Find the lower median."""
    return int(np.searchsorted(np.cumsum(np.bincount(codes)), (len(codes) + 1) // 2))


def _has_all(values: Ints, chosen: Ints) -> bool:
    present = np.bincount(values, minlength=int(chosen.max()) + 1)
    return bool((present[chosen] > 0).all())


def _generalize_column(column: CodedColumn, group: npt.NDArray[np.int32], groups: int) -> RecodedAttribute:
    """Cover the values of every group."""
    if column.domain.scale is Scale.NOMINAL:
        return label_sets(column, group, groups)
    codes = column.codes.astype(np.int64)
    low, high = np.full(groups, len(column.domain)), np.full(groups, -1)
    np.minimum.at(low, group, codes)
    np.maximum.at(high, group, codes)
    return label_ranges(column.domain, low, high, np.zeros(groups, dtype=np.bool_))
