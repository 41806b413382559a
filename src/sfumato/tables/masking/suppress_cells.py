"""Local suppression: hide single cells until everybody is one of k."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._randomness import KeyedRandom
from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.encoding._row_order import rank_column
from sfumato.errors import InfeasibleError, InvalidParameterError
from sfumato.io._values import equal_texts, format_values
from sfumato.tables.masking.base import ColumnsStep, StepDescription, replace_columns
from sfumato.tables.published.solution import SUPPRESSED_TEXT

Ints = npt.NDArray[np.int64]


# Walk over sets of columns from cheap to dear, to find the cells whose suppression makes enough records alike.


# Walk over sets of columns from cheap to dear, to find the cells whose suppression makes enough records alike.
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


MOST_COLUMNS = 16


@dataclass(frozen=True, kw_only=True)
class SuppressCells(ColumnsStep):
    """Hide single cells, as cheaply as it can, until every record is one of k; known as local suppression [1]_.

    Hidden cells are `*`. With `"groups"`, the rows that show the same form groups of at least k: k-anonymity as
    everywhere in Sfumato. With `"rows"`, every published row could be that of at least k persons, but a person may
    still fit fewer than k rows, as in sdcMicro: no model is kept. The walk over sets of columns from cheap to dear is
    the best there is for `"rows"`, and near the best for `"groups"`.

    Parameters
    ----------
    columns : the columns to hide cells of, at most 16: the quasi-identifiers.
    k : how many must be alike.
    weights : the cost of hiding a cell of a column, by its name; 1 where nothing is said.
    importance : instead of weights, the rank of every column as sdcMicro has it: 1 is hidden last.
    protect : `"groups"` or `"rows"`.

    References
    ----------
    .. [1] Templ, Kowarik and Meindl, "Statistical disclosure control for micro-data using the R package sdcMicro",
       Journal of Statistical Software 67(4), 2015. https://doi.org/10.18637/jss.v067.i04
    """

    name = "suppress-cells"
    hides = True
    reference = "Templ, Kowarik and Meindl 2015, https://doi.org/10.18637/jss.v067.i04"
    description = StepDescription(
        promise="Cells were hidden where a record would have stood out: protected as groups, at least k records show "
        "the same; protected as rows, each could be at least k persons'.",
        open="What stands beside the hidden cells, such as sensitive values, may still tell. Protected as rows, a "
        "person may fit fewer than k of them: no k-anonymity is promised then.",
    )

    k: int
    weights: Mapping[str, float] | None = field(default=None, hash=False)
    importance: Sequence[int] = ()
    protect: Literal["groups", "rows"] = "groups"

    def __post_init__(self) -> None:
        super().__post_init__()
        width = len(self.columns)
        if width > MOST_COLUMNS:
            raise InvalidParameterError(
                f"SuppressCells looks at all sets of its columns, so {MOST_COLUMNS} are the most; got {width}: leave "
                "out those that nobody knows."
            )
        require(is_integer(self.k) and self.k >= 2, self, "k", "a whole number of at least 2", self.k)  # noqa: PLR2004 - alone is not hidden
        require(self.protect in ("groups", "rows"), self, "protect", "groups or rows", self.protect)
        if self.weights is not None:
            require(_are_costs(self.weights, self.columns), self, "weights", "numbers above 0 by column", self.weights)
            object.__setattr__(self, "weights", dict(self.weights))
        if self.importance != ():
            require(
                _are_ranks(self.importance, width),
                self,
                "importance",
                f"the numbers 1 to {width}, one for each column",
                self.importance,
            )
            require(self.weights is None, self, "weights", "left out where importance is given", self.weights)
            object.__setattr__(self, "importance", tuple(self.importance))

    @property
    def covers(self) -> bool:
        """A hidden cell may be anything."""
        return True

    @property
    def costs(self) -> tuple[float, ...]:
        """The cost of hiding a cell of every column."""
        if self.importance:
            return tuple(float(len(self.columns) + 1 - rank) for rank in self.importance)
        return tuple(float((self.weights or {}).get(name, 1.0)) for name in self.columns)

    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:  # noqa: ARG002 - nothing is drawn
        """Hide cells."""
        self.check_columns(table)
        hide = self._suppressed(table)
        if hide.all():
            raise InfeasibleError(
                f"SuppressCells would have to hide every cell of its columns to make {self.k:,} records alike; ask for "
                "less, or generalize first."
            )
        columns = zip(self.columns, hide.T, strict=True)
        return replace_columns(table, {name: _suppress(table[name], lost) for name, lost in columns if lost.any()})

    def measure(self, before: pa.Table, after: pa.Table) -> dict[str, float]:
        """Count hidden cells, weigh them, and count the persons who fit fewer than k of the published rows."""
        same = [equal_texts(before[name], after[name]).to_numpy(zero_copy_only=False) for name in self.columns]
        hide = ~np.stack(same, axis=1)
        found = self._combinations(before)
        return {
            "hidden-cells": float(hide.sum()),
            "hidden-share": float(hide.mean()) if hide.size else 0.0,
            "cost": float(hide.sum(axis=0) @ np.array(self.costs)),
            "exposed-persons": float(self._unprotected(found, hide)),
        }

    def _unprotected(self, found: DistinctRows, hide: Cells) -> int:
        """Count exposed persons; equal rows may be hidden differently, so each row with its mask counts for itself."""
        masks = hide @ (1 << np.arange(hide.shape[1]))
        pairs = group_columns([found.of_row, masks], [len(found.counts), 1 << hide.shape[1]])
        first = representative_rows(pairs)
        rows = DistinctRows(found.codes[found.of_row[first]], found.widths, pairs.counts, pairs.labels.astype(np.int64))
        return count_unprotected_individuals(rows, hide[first], self.k)

    def _combinations(self, table: pa.Table) -> DistinctRows:
        ranked = [rank_column(table[name]) for name in self.columns]
        return DistinctRows.of([ranks for ranks, _ in ranked], [width for _, width in ranked])

    def _suppressed(self, table: pa.Table) -> Cells:
        if table.num_rows < self.k:
            raise InfeasibleError(f"No {self.k:,} of {table.num_rows:,} rows can be alike; ask for a smaller k.")
        found = self._combinations(table)
        if self.protect == "rows":
            return suppress_for_rows(found, self.costs, self.k)[found.of_row]
        hide, group = suppress_for_groups(found, self.costs, self.k)
        return complete_groups(found, hide, group, self.costs, self.k)[0]


def _are_ranks(given: object, width: int) -> bool:
    if not isinstance(given, list | tuple) or not all(is_integer(each) for each in given):
        return False
    return sorted(given) == list(range(1, width + 1))


def _are_costs(given: object, columns: Sequence[str]) -> bool:
    return isinstance(given, Mapping) and all(
        name in columns and is_finite_number(cost) and cost > 0 for name, cost in given.items()
    )


def _suppress(column: pa.ChunkedArray, lost: Cells) -> pa.ChunkedArray:
    return pa.chunked_array([pc.if_else(pa.array(lost), SUPPRESSED_TEXT, format_values(column))])
