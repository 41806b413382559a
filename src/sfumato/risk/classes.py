"""Classes of records with equal quasi-identifying cells, in a raw or a published table, as an adversary sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.attributes.missing import Missing
from sfumato.attributes.schema import Schema
from sfumato.engine.grouping import Grouped, first_rows, group_columns
from sfumato.exceptions import SchemaError
from sfumato.published.table import PublishedColumn, PublishedTable
from sfumato.validation import did_you_mean

Counts: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Classes:
    """The records of one table in classes of equal cells.

    `rows` are the numbers of the records in the table, counted from 0. Records whose quasi-identifiers are all
    `*` are suppressed: they are counted, and belong to no class.
    """

    columns: tuple[PublishedColumn, ...]
    grouped: Grouped
    rows: npt.NDArray[np.intp]
    suppressed: int
    missing: Missing

    @classmethod
    def read(cls, table: pa.Table, schema: Schema, *, what: str = "table") -> Classes:
        """Form the classes of a canonical table.

        Parameters
        ----------
        table : the table, raw or published.
        schema : says which columns are quasi-identifiers, and what a missing cell means.
        what : what a refusal calls the table.
        """
        refuse_columns(table, schema.quasi, what=what)
        if not schema.quasi:
            raise SchemaError("The schema names no quasi-identifier; risk is measured by what an adversary may know.")
        if not table.num_rows:
            raise SchemaError(f"The {what} has no rows; there is nobody at risk.")
        shown = PublishedTable.read(table.select(list(schema.quasi)), Schema(quasi=schema.quasi))
        stars = np.logical_and.reduce([column.starred() for column in shown.columns])
        rows = np.flatnonzero(~stars)
        if not len(rows):
            raise SchemaError(f"All {table.num_rows:,} rows of the {what} are suppressed; there is nobody at risk.")
        if len(rows) == table.num_rows:
            return cls(shown.columns, shown.grouped, rows, 0, Missing(schema.missing))
        columns = tuple(replace(column, codes=column.codes[rows]) for column in shown.columns)
        grouped = group_columns([c.codes for c in columns], [len(c.texts) for c in columns])
        return cls(columns, grouped, rows, table.num_rows - len(rows), Missing(schema.missing))

    @property
    def records(self) -> int:
        """How many records there are, suppressed ones not counted."""
        return len(self.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(column.name for column in self.columns)

    @property
    def sizes(self) -> Counts:
        """How many records every class has."""
        return self.grouped.counts

    @cached_property
    def first_rows(self) -> npt.NDArray[np.intp]:
        """One record of every class."""
        return first_rows(self.grouped)

    @cached_property
    def cells(self) -> list[npt.NDArray[np.int32]]:
        """The code of every class in every column."""
        return [column.codes[self.first_rows] for column in self.columns]

    @property
    def widths(self) -> list[int]:
        """How many codes every column has."""
        return [len(column.texts) for column in self.columns]

    @cached_property
    def lost(self) -> list[Flags]:
        """Tell for every column which classes miss their cell."""
        found = zip(self.columns, self.cells, strict=True)
        return [np.array([text is None for text in column.texts])[cells] for column, cells in found]

    @cached_property
    def candidates(self) -> Counts:
        """How many records every class's records can be taken for.

        Under the policy own-value it is the size of the class. Under matches-all a missing cell may be
        anything, so records of other classes can be meant, too.
        """
        if self.missing is Missing.OWN_VALUE or not any(flags.any() for flags in self.lost):
            return self.sizes
        return _matching(self.cells, self.lost, self.cells, self.lost, self.sizes, self.widths)

    def counted_in(self, population: Classes) -> Counts:
        """Count the records of a population that have, or under matches-all may have, the cells of every class.

        The population must be recoded as this table is: cells are compared as texts.
        """
        cells, lost, widths = [], [], []
        for column, codes in zip(population.columns, population.cells, strict=True):
            mine = self.columns[self.names.index(column.name)].texts
            place = {text: code for code, text in enumerate(mine)}
            missing = place.setdefault(None, len(mine))
            elsewhere = len(place)
            codes_of = np.array([place.get(text, elsewhere) for text in column.texts])
            cells.append(codes_of[codes])
            lost.append(cells[-1] == missing)
            widths.append(elsewhere + 1)
        if self.missing is Missing.OWN_VALUE:
            lost = [np.zeros_like(flags) for flags in lost]
            own = [np.zeros_like(flags) for flags in self.lost]
        else:
            own = self.lost
        return _matching(self.cells, own, cells, lost, population.sizes, widths)


def refuse_columns(table: pa.Table, names: Sequence[str], *, what: str = "table") -> None:
    """Refuse names of columns that a table lacks."""
    for name in names:
        if name not in table.column_names:
            raise SchemaError(f"The {what} lacks column {name!r}{did_you_mean(name, table.column_names) or '.'}")


def _matching(
    mine: Sequence[npt.NDArray[np.integer]],
    mine_lost: Sequence[Flags],
    others: Sequence[npt.NDArray[np.integer]],
    others_lost: Sequence[Flags],
    weights: Counts,
    widths: Sequence[int],
) -> Counts:
    """Sum the weights of all others that agree with each of mine wherever neither misses a cell.

    Both are taken by their pattern of missing cells, so there are as many groupings as pairs of patterns.
    """
    totals = np.zeros(len(mine[0]), dtype=np.int64)
    for here, mine_misses in _patterns(mine_lost):
        for there, others_miss in _patterns(others_lost):
            shared = np.flatnonzero(~mine_misses & ~others_miss)
            if not len(shared):
                totals[here] += weights[there].sum()
                continue
            both = [np.concatenate([mine[j][here], others[j][there]]) for j in shared]
            labels = group_columns(both, [widths[j] for j in shared]).labels
            summed = np.bincount(labels[len(here) :], weights=weights[there], minlength=int(labels.max()) + 1)
            totals[here] += summed[labels[: len(here)]].astype(np.int64)
    return totals


def _patterns(lost: Sequence[Flags]) -> list[tuple[npt.NDArray[np.intp], Flags]]:
    """Give the rows of every pattern of missing cells, with the pattern."""
    flags = np.column_stack(lost)
    if not flags.any():
        return [(np.arange(len(flags)), np.zeros(flags.shape[1], dtype=np.bool_))]
    patterns, pattern_of = np.unique(flags, axis=0, return_inverse=True)
    return [(np.flatnonzero(pattern_of.ravel() == number), pattern) for number, pattern in enumerate(patterns)]
