"""Local suppression: hide single cells until everybody is one of k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.coding.applying import rank_column
from sfumato.coding.grouping import group_columns, representative_rows
from sfumato.core.publication import SUPPRESSED_TEXT
from sfumato.exceptions import InfeasibleError, InvalidParameterError
from sfumato.masking.base import ColumnsStep, StepDescription, replace_columns
from sfumato.masking.walking import (
    Cells,
    DistinctRows,
    complete_groups,
    count_unprotected_individuals,
    suppress_for_groups,
    suppress_for_rows,
)
from sfumato.randomness import KeyedRandom
from sfumato.table.values import equal_texts, format_values
from sfumato.validation import is_finite_number, is_integer, require

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
