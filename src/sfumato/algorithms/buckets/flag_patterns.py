"""Records by the pattern of their flags, and groups of at least k within the patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.buckets.bucketing import Rows
from sfumato.coding.codes import CodedColumn
from sfumato.coding.grouping import group_columns, representative_rows

Masks = npt.NDArray[np.bool_]
Labels = npt.NDArray[np.int32]
Cut = Callable[[Rows, Masks], Labels]


@dataclass(frozen=True, eq=False)
class PatternPool:
    """Records with the same flagged quasi-identifiers, or of several patterns that were combined.

    Parameters
    ----------
    flagged : for every quasi-identifier, whether it is flagged in any of the records.
    rows : the records.
    guests : patterns with too few records that join single groups of this one.
    """

    flagged: Masks
    rows: Rows
    guests: list[PatternPool] = field(default_factory=list)


def pool_by_pattern(flags: Sequence[Masks], kept: Rows) -> list[PatternPool]:
    """Split records by the pattern of their flags, fewest flags first."""
    if not flags:
        return [PatternPool(np.zeros(0, dtype=np.bool_), kept)]
    grouped = group_columns([mask[kept].astype(np.uint8) for mask in flags], [2] * len(flags))
    patterns = np.column_stack([mask[kept[representative_rows(grouped)]] for mask in flags])
    parts = np.split(kept[np.argsort(grouped.labels, kind="stable")], np.cumsum(grouped.counts)[:-1])
    order = np.lexsort((*patterns.T, patterns.sum(axis=1)))
    return [PatternPool(patterns[number], parts[number]) for number in order]


def merge_small_pools(pools: Sequence[PatternPool], k: int, spare: int) -> tuple[list[PatternPool], Rows]:
    """Combine patterns of fewer than k records with others; return the remaining pools, and records to suppress.

    The smallest pattern goes first, to the pattern with which it has the most unflagged attributes in common; among
    several, to one of at least k records, and to the one that loses fewest. A pattern of at least k records takes it as
    a guest of one of its groups; where it flags no more than its guest, it hides whoever knows all open cells. One
    that has no attribute in common with any other is suppressed, if that many records may be: otherwise at least k more
    records would be published without any quasi-identifier.
    """
    left, lost = list(pools), np.zeros(0, dtype=np.intp)
    while len(left) > 1:
        number = min(range(len(left)), key=lambda i: len(left[i].rows))
        small = left[number]
        if len(small.rows) >= k:
            break
        left.pop(number)
        host = _closest_pool(small, left, k)
        nothing_shared = bool((small.flagged | left[host].flagged).all())
        if nothing_shared and not (small.flagged & left[host].flagged).all() and len(small.rows) <= spare - len(lost):
            lost = np.concatenate([lost, small.rows])
        elif len(left[host].rows) >= k:
            left[host].guests.append(small)
        else:
            rows = np.concatenate([left[host].rows, small.rows])
            left[host] = PatternPool(left[host].flagged | small.flagged, rows)
    return left, lost


def _closest_pool(small: PatternPool, others: Sequence[PatternPool], k: int) -> int:
    """Find the pool with the most unflagged attributes in common; among several, one of k records with the least loss.

    If all unflagged attributes are common to both, records of the pool are ruled out by no cell that somebody knows of
    the small one's; k of them are enough to hide everybody.
    """
    patterns = np.array([pool.flagged for pool in others]).reshape(len(others), -1)
    shared = (~patterns & ~small.flagged).sum(axis=1)
    losing = (~patterns & small.flagged).sum(axis=1)
    sizes = np.array([len(pool.rows) for pool in others])
    return int(np.lexsort((-sizes, losing, sizes < k, -shared))[0])


def group_pools(pools: Sequence[PatternPool], columns: Sequence[CodedColumn], cut: Cut, rows: int) -> Labels:
    """Cut every pool into groups, and let guests join them; return the group of every record, below 0 for others."""
    group = np.full(rows, -1, dtype=np.int32)
    used = 0
    for pool in pools:
        labels = cut(pool.rows, ~pool.flagged)
        group[pool.rows] = used + labels
        if pool.guests:
            joined = _RangeExpansion(pool, labels, columns)
            for guest in pool.guests:
                group[guest.rows] = used + joined.join(guest)
        used += int(labels.max()) + 1
    return group


class _RangeExpansion:
    """The groups of one pool as ranges of codes, to find the one that a guest widens the least."""

    def __init__(self, pool: PatternPool, labels: Labels, columns: Sequence[CodedColumn]) -> None:
        self.columns = columns
        self.spans = np.array([max(len(column.domain), 1) for column in columns], dtype=np.float64)
        order = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[order], np.arange(int(labels.max()) + 1))
        cells = self._cells(pool.rows[order])
        self.low, self.high = np.minimum.reduceat(cells, starts), np.maximum.reduceat(cells, starts)
        self.sizes = np.bincount(labels).astype(np.int64)
        self.starred = np.tile(pool.flagged, (len(starts), 1))

    def join(self, guest: PatternPool) -> int:
        """Choose a group, and widen it."""
        cells = self._cells(guest.rows)
        low, high = np.minimum(self.low, cells.min(axis=0)), np.maximum(self.high, cells.max(axis=0))
        after = np.where(guest.flagged, 1.0, (high - low) / self.spans)
        grown = np.where(self.starred, 0.0, after - (self.high - self.low) / self.spans)
        chosen = int(np.argmin(grown.sum(axis=1) * self.sizes))
        self.low[chosen], self.high[chosen] = low[chosen], high[chosen]
        self.starred[chosen] |= guest.flagged
        self.sizes[chosen] += len(guest.rows)
        return chosen

    def _cells(self, rows: Rows) -> npt.NDArray[np.int64]:
        return np.column_stack([column.codes[rows].astype(np.int64) for column in self.columns])
