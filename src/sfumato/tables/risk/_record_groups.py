"""Groups of records with equal quasi-identifying cells, in a raw or a published table, as an adversary sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import is_integer, require, suggest_closest
from sfumato.core._kernels.grouping import Grouped, group_columns, representative_rows
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._individuals import RowsPerIndividual
from sfumato.io.formats import Option
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.engines._source import WEIGHT, check_no_reserved_names, count_if_fits, rows_per_individual
from sfumato.tables.engines.options import Data, EngineSelector
from sfumato.tables.published.published_table import PublishedColumn, PublishedTable, find_bucket_column

Counts: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]


class GroupCells(NamedTuple):
    """The codes of some groups in every column, and which of these cells are missing and may be anything."""

    codes: Sequence[npt.NDArray[np.integer]]
    lost: Sequence[Flags]


@dataclass(frozen=True, eq=False)
class RecordGroups:
    """The records of one table in groups of equal cells.

    `rows` are the row numbers of the records in the table, counted from 0. Records whose quasi-identifiers are all
    `*` are suppressed: they are counted but belong to no group. With `weights`, a row stands for as many records.
    """

    columns: tuple[PublishedColumn, ...]
    grouped: Grouped
    rows: npt.NDArray[np.intp]
    suppressed: int
    missing: MissingPolicy
    weights: Counts | None = None

    @classmethod
    def read(
        cls, table: pa.Table, schema: Schema, *, what: str = "table", weights: Counts | None = None
    ) -> RecordGroups:
        """Form the groups of a canonical table.

        Parameters
        ----------
        table : the table, raw or published.
        schema : the quasi-identifiers, and how missing cells are read.
        what : the name of the table in error messages.
        weights : the number of records that every row stands for, if it is not one.
        """
        check_columns(table.column_names, schema.quasi_identifiers, what=what)
        if not schema.quasi_identifiers:
            raise SchemaError("The schema has no quasi-identifier; risk depends on what an adversary may know.")
        if not table.num_rows:
            raise SchemaError(f"The {what} has no rows; there is nothing to assess.")
        found = (find_bucket_column(table.column_names, name) for name in schema.quasi_identifiers)
        buckets = dict.fromkeys(column for column in found if column is not None)
        chosen = Schema(
            quasi_identifiers=schema.quasi_identifiers,
            flags={name: schema.flags[name] for name in schema.quasi_identifiers if name in schema.flags},
        )
        shown = PublishedTable.read(table.select([*schema.quasi_identifiers, *buckets]), chosen, weights=weights)
        stars = np.logical_and.reduce([column.mask_suppressed() for column in shown.columns])
        rows = np.flatnonzero(~stars)
        if not len(rows):
            raise SchemaError(f"All {table.num_rows:,} rows of the {what} are suppressed; there is nothing to assess.")
        if len(rows) < table.num_rows:
            shown = shown.take(rows)
        suppressed = (table.num_rows if weights is None else int(weights.sum())) - shown.rows
        return cls(shown.columns, shown.grouped, rows, suppressed, MissingPolicy(schema.missing), shown.weights)

    @property
    def records(self) -> int:
        """The number of records, without suppressed ones."""
        return len(self.rows) if self.weights is None else int(self.weights.sum())

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(column.name for column in self.columns)

    @property
    def sizes(self) -> Counts:
        """The number of records of every group."""
        return self.grouped.counts

    @cached_property
    def first_rows(self) -> npt.NDArray[np.intp]:
        """One record of every group."""
        return representative_rows(self.grouped)

    @cached_property
    def cells(self) -> list[npt.NDArray[np.int32]]:
        """The code of every group in every column."""
        return [column.codes[self.first_rows] for column in self.columns]

    @property
    def widths(self) -> list[int]:
        """The number of codes of every column."""
        return [len(column.texts) for column in self.columns]

    @cached_property
    def missing_cells(self) -> list[Flags]:
        """Return for every column which groups miss their cell."""
        found = zip(self.columns, self.cells, strict=True)
        return [np.array([text is None for text in column.texts])[cells] for column, cells in found]

    @cached_property
    def candidates(self) -> Counts:
        """The number of records that those of every group may be.

        Under the policy own-value it is the size of the group. Under matches-all a missing cell may be anything,
        so records of other groups count as well: for a record that misses a cell, only those that miss it, too,
        because in the worst case nobody else has what it would say.
        """
        if self.missing is MissingPolicy.OWN_VALUE or not any(flags.any() for flags in self.missing_cells):
            return self.sizes
        mine = GroupCells(self.cells, self.missing_cells)
        return _matching(mine, mine, self.sizes, self.widths, worst=True)

    def merge(self, columns: Sequence[int]) -> tuple[npt.NDArray[np.int32], Counts]:
        """Merge groups that agree on some columns; return the new group of each, and the size of every new group."""
        grouped = group_columns([self.cells[j] for j in columns], [self.widths[j] for j in columns])
        if len(self.sizes) == self.records:
            return grouped.labels, grouped.counts
        sizes = np.bincount(grouped.labels, weights=self.sizes, minlength=len(grouped))
        return grouped.labels, sizes.astype(np.int64)

    def counted_in(self, population: RecordGroups) -> Counts:
        """Count the records of a population that have, or under matches-all may have, the cells of every group.

        The population must be recoded like this table: cells are compared as text.
        """
        cells, lost, widths = [], [], []
        for column, codes in zip(population.columns, population.cells, strict=True):
            known = self.columns[self.names.index(column.name)].texts
            place = {text: code for code, text in enumerate(known)}
            missing = place.setdefault(None, len(known))
            elsewhere = len(place)
            codes_of = np.array([place.get(text, elsewhere) for text in column.texts])
            cells.append(codes_of[codes])
            lost.append(cells[-1] == missing)
            widths.append(elsewhere + 1)
        mine, others = GroupCells(self.cells, self.missing_cells), GroupCells(cells, lost)
        if self.missing is MissingPolicy.OWN_VALUE:
            mine, others = _separable_columns(mine), _separable_columns(others)
        return _matching(mine, others, population.sizes, widths)


def check_columns(columns: Sequence[str], names: Sequence[str], *, what: str = "table") -> None:
    """Refuse names of columns that are not among those of a table."""
    for name in names:
        if name not in columns:
            raise SchemaError(f"The {what} has no column {name!r}{suggest_closest(name, columns) or '.'}")


def check_largest(largest: int) -> None:
    """Refuse an invalid maximum number of columns to combine."""
    require(is_integer(largest) and largest >= 1, "assess_risk", "max_subset", "a whole number of at least 1", largest)


def _separable_columns(cells: GroupCells) -> GroupCells:
    return GroupCells(cells.codes, [np.zeros_like(flags) for flags in cells.lost])


def _matching(
    mine: GroupCells, others: GroupCells, weights: Counts, widths: Sequence[int], *, worst: bool = False
) -> Counts:
    """Sum the weights of all others that agree with each of mine wherever neither cell is missing.

    At the worst only those count that miss at least what mine misses, and those that miss everything count for nobody
    but themselves.
    Both are processed by their pattern of missing cells, so there are as many groupings as pairs of patterns.
    """
    totals = np.zeros(len(mine.codes[0]), dtype=np.int64)
    sources = missing_patterns(others.lost)
    for here, mine_misses in missing_patterns(mine.lost):
        for there, others_miss in sources:
            if worst and ((mine_misses & ~others_miss).any() or (others_miss.all() and not mine_misses.all())):
                continue
            shared: list[int] = np.flatnonzero(~mine_misses & ~others_miss).tolist()
            if not shared:
                totals[here] += weights[there].sum()
                continue
            both = [np.concatenate([mine.codes[j][here], others.codes[j][there]]) for j in shared]
            labels = group_columns(both, [widths[j] for j in shared]).labels
            summed = np.bincount(labels[len(here) :], weights=weights[there], minlength=int(labels.max()) + 1)
            totals[here] += summed[labels[: len(here)]].astype(np.int64)
    return totals


def missing_patterns(lost: Sequence[Flags]) -> list[tuple[npt.NDArray[np.intp], Flags]]:
    """Return the rows of every pattern of missing cells, with the pattern."""
    if not any(flags.any() for flags in lost):
        return [(np.arange(len(lost[0])), np.zeros(len(lost), dtype=np.bool_))]
    grouped = group_columns([flags.view(np.uint8) for flags in lost], [2] * len(lost))
    found = np.column_stack([flags[representative_rows(grouped)] for flags in lost])
    rows = np.split(np.argsort(grouped.labels, kind="stable"), np.cumsum(grouped.counts)[:-1])
    return list(zip(rows, found, strict=True))


# The records of a table that stays in its engine: how many have each combination of quasi-identifiers.

BYTES_PER_COMBINATION = 800  # while its engine may still hold it
NOTHING: Mapping[str, Option] = {}


def count_records_in_engine(
    resources: EngineSelector, data: Data, schema: Schema, reading: Mapping[str, Option] = NOTHING
) -> tuple[AuditContext, RowsPerIndividual | None]:
    """Count the combinations of quasi-identifiers of a table that stays in its engine, and rows of individuals.

    Parameters
    ----------
    resources, data : the engine and the table.
    schema : the quasi-identifiers, and identifiers that may repeat.
    reading : the options of `sf.read`.
    """
    if not schema.quasi_identifiers:
        raise SchemaError("The schema has no quasi-identifier; risk depends on what an adversary may know.")
    quasi, most = schema.select_quasi_identifiers(), resources.budget // BYTES_PER_COMBINATION
    with resources.open_source(data, reading, texts=schema.quasi_identifiers) as source:
        check_no_reserved_names(schema.quasi_identifiers)
        check_columns(source.names, (*schema.sensitive, *schema.quasi_identifiers))
        buckets = dict.fromkeys(find_bucket_column(source.names, name) for name in schema.quasi_identifiers)
        names = (*schema.quasi_identifiers, *(column for column in buckets if column is not None))
        rows = rows_per_individual(source, schema.identifiers, "table")
        source.profile(names, names)
        counts = count_if_fits(source, names, most)
    return AuditContext(counts.drop_columns([WEIGHT]), quasi, weights=counts[WEIGHT].to_numpy()), rows


def reject_row_options(**given: object) -> None:
    """Refuse what is looked up row by row."""
    for name, value in given.items():
        if value is not None:
            raise InvalidParameterError(
                f"{name} needs single rows, which are not looked at beyond memory; leave it out, or use "
                'engine="memory".'
            )
