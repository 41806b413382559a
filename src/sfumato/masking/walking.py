"""Walk over sets of columns from cheap to dear, to find the cells whose suppression makes enough records alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sfumato.coding.grouping import group_columns, representative_rows

Ints = npt.NDArray[np.int64]
Cells = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows of some coded columns: their codes, how often each occurs, and the combination of every row."""

    codes: Ints
    widths: tuple[int, ...]
    counts: Ints
    of_row: Ints

    @classmethod
    def of(cls, columns: Sequence[npt.NDArray[np.integer]], widths: Sequence[int]) -> DistinctRows:
        """Find the distinct rows."""
        grouped = group_columns(columns, widths)
        first = representative_rows(grouped)
        codes = np.stack([np.asarray(column, dtype=np.int64)[first] for column in columns], axis=1)
        return cls(codes, tuple(widths), grouped.counts, grouped.labels.astype(np.int64))

    def alike(self, visible: Sequence[int], among: Ints) -> tuple[Ints, Ints]:
        """Group combinations by what some columns show; return the group of each, and how many rows a group has."""
        if not visible:
            return np.zeros(len(among), dtype=np.int64), self.counts[among].sum(keepdims=True)
        grouped = group_columns([self.codes[among, at] for at in visible], [self.widths[at] for at in visible])
        rows = np.bincount(grouped.labels, weights=self.counts[among], minlength=len(grouped))
        return grouped.labels.astype(np.int64), rows.astype(np.int64)


def column_sets_by_cost(weights: Sequence[float]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield all sets of columns to hide, with those left visible, by rising cost, then number; later columns first.

    >>> [hidden for hidden, _ in column_sets_by_cost([1, 1])]
    [(), (1,), (0,), (0, 1)]
    """
    places = range(len(weights))
    sets = [hidden for size in range(len(weights) + 1) for hidden in combinations(places, size)]
    code = {hidden: sum(1 << (len(weights) - 1 - at) for at in hidden) for hidden in sets}
    for hidden in sorted(sets, key=lambda hidden: (sum(weights[at] for at in hidden), len(hidden), code[hidden])):
        yield hidden, tuple(at for at in places if at not in hidden)


def suppress_for_rows(found: DistinctRows, weights: Sequence[float], k: int) -> Cells:
    """Hide in every combination the cheapest columns such that at least k original rows agree with what is left.

    No row's choice affects another's, so this is the cheapest of all ways to reach that.
    """
    everything = np.arange(len(found.counts))
    hide = np.ones(found.codes.shape, dtype=np.bool_)
    open_ = np.ones(len(everything), dtype=np.bool_)
    for hidden, visible in column_sets_by_cost(weights):
        labels, rows = found.alike(visible, everything)
        settled = open_ & (rows[labels] >= k)
        hide[settled] = False
        hide[np.ix_(settled, np.array(hidden, dtype=np.int64))] = True
        open_ &= ~settled
        if not open_.any():
            break
    return hide


def suppress_for_groups(found: DistinctRows, weights: Sequence[float], k: int) -> tuple[Cells, Ints]:
    """Hide columns such that combinations form groups of at least k rows that show the same; return groups, too.

    DistinctRows that no group of k takes are left with group -1: together they have fewer than k rows.
    """
    hide = np.ones(found.codes.shape, dtype=np.bool_)
    group, groups = np.full(len(found.counts), -1, dtype=np.int64), 0
    for hidden, visible in column_sets_by_cost(weights):
        left = np.flatnonzero(group < 0)
        if not len(left):
            break
        labels, rows = found.alike(visible, left)
        enough = rows >= k
        number = np.cumsum(enough) - 1 + groups
        settled = enough[labels]
        hide[left[settled]] = False
        hide[np.ix_(left[settled], np.array(hidden, dtype=np.int64))] = True
        group[left[settled]] = number[labels[settled]]
        groups += int(enough.sum())
    return hide, group


def complete_groups(
    found: DistinctRows, hide: Cells, group: Ints, weights: Sequence[float], k: int
) -> tuple[Cells, Ints]:
    """Return which cells of every row to hide and its group, with no row left over.

    Rows that no group took are starred throughout, and the cheapest rows of groups larger than k with them; where there
    are too few of these, the whole group that costs least. Columns in which they all agree are then shown again.
    """
    rows_hide, rows_group = hide[found.of_row], group[found.of_row]
    left = np.flatnonzero(rows_group < 0)
    if len(left):
        joined = np.concatenate([left, _borrow_rows(rows_hide, rows_group, np.asarray(weights), k, k - len(left))])
        codes = found.codes[found.of_row[joined]]
        rows_hide[joined] = (codes != codes[0]).any(axis=0)
        rows_group[joined] = rows_group.max() + 1
    return rows_hide, rows_group


def _borrow_rows(hide: Cells, group: Ints, weights: npt.NDArray[np.float64], k: int, needed: int) -> Ints:
    """Choose the rows that join those who are left over."""
    placed = np.flatnonzero(group >= 0)
    cost = (~hide[placed]) @ weights
    sizes = np.bincount(group[placed])
    order = np.lexsort((placed, group[placed], cost))
    ranked = group[placed][order]
    starts = np.argsort(ranked, kind="stable")
    firsts = np.cumsum(np.bincount(ranked)) - np.bincount(ranked)
    within = np.empty(len(ranked), dtype=np.int64)
    within[starts] = np.arange(len(ranked)) - firsts[ranked[starts]]
    spare = order[within < (sizes - k)[ranked]]
    if len(spare) >= needed:
        return np.asarray(placed[spare[:needed]])
    whole = np.bincount(group[placed], weights=cost)
    return np.asarray(placed[group[placed] == int(np.argmin(np.where(sizes > 0, whole, np.inf)))])


def count_unprotected_individuals(found: DistinctRows, hide: Cells, k: int) -> int:
    """Count the persons whose own values fit fewer than k of the published rows; `hide` is per combination."""
    fitting = np.zeros(len(found.counts), dtype=np.int64)
    codes = np.packbits(hide, axis=1, bitorder="little")
    everything = np.arange(len(found.counts))
    for mask in np.unique(codes, axis=0):
        members = (codes == mask).all(axis=1)
        visible = np.flatnonzero(~hide[np.argmax(members)])
        labels, _ = found.alike(tuple(visible.tolist()), everything)
        fitting += np.bincount(labels[members], weights=found.counts[members], minlength=labels.max() + 1).astype(
            np.int64
        )[labels]
    return int(found.counts[fitting < k].sum())
