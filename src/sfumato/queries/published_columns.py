"""The published columns that queries name: what every record shows, and in which bucket."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from sfumato._validation import require, suggest_closest
from sfumato.encoding.domain import Domain, infer_domain
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._columns import column_from_values, to_canonical_column
from sfumato.io._values import encode_distinct, format_distinct_values
from sfumato.queries.query import Condition, Query
from sfumato.queries.value_partition import (
    ConditionProbability,
    Floats,
    Ints,
    NumberBounds,
    Truths,
    ValuePartition,
    build_partition,
    sum_by_label,
)
from sfumato.schema.schema import Schema
from sfumato.tables.published.published_table import read_bucket_numbers
from sfumato.tables.published.solution import NOT_PUBLISHED

# The buckets of one attribute: what is in them, unlinked from the records.


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


Known = Mapping[str, tuple[Domain, bool]]


@dataclass(frozen=True, eq=False, repr=False)
class ColumnSums:
    """What a column adds to sums if a condition holds: the numbers of every label, and the mean of every cell.

    `ascending` are the numbers in buckets, and `descending` the same negated.
    """

    numbers: NumberBounds
    mean: Floats
    ascending: SortedBuckets
    descending: SortedBuckets


@dataclass(frozen=True, eq=False, repr=False)
class PublishedColumn:
    """One attribute as its readers see it.

    What a record shows is a *cell*: the label that is published for it or, if its value is in a bucket, that
    bucket. Cells are numbered: first the labels, then the buckets.
    """

    pieces: ValuePartition
    cells: Ints
    buckets: BucketedCells

    @property
    def labels(self) -> int:
        """The number of labels."""
        return len(self.pieces.cover)

    @property
    def width(self) -> int:
        """The number of cells."""
        return self.labels + len(self.buckets)

    def evaluate(self, condition: Condition | None) -> tuple[ConditionProbability, ConditionProbability]:
        """Judge a condition for every label, and for every cell."""
        known = self._evaluated
        if condition not in known:
            known.clear()
            by_label = self.pieces.evaluate(self.pieces.match(condition))
            if not len(self.buckets):
                known[condition] = by_label, by_label
            else:
                sizes = self.buckets.sizes
                by_cell = ConditionProbability(
                    np.append(by_label.share, self.buckets.mean(by_label.share)),
                    np.append(by_label.sure, self.buckets.count(by_label.sure) == sizes),
                    np.append(by_label.possible, self.buckets.count(by_label.possible) > 0),
                )
                known[condition] = by_label, by_cell
        return known[condition]

    def sums(self, condition: Condition | None) -> ColumnSums:
        """Return what the column adds to a sum if a condition holds."""
        known = self._sums
        if condition not in known:
            known.clear()
            numbers, possible = self.pieces.numbers(self.pieces.match(condition)), self.evaluate(condition)[0].possible
            known[condition] = ColumnSums(
                numbers,
                np.append(numbers.expected, self.buckets.mean(numbers.expected)),
                self.buckets.sort_buckets(numbers.least, possible),
                self.buckets.sort_buckets(-numbers.greatest, possible),
            )
        return known[condition]

    @cached_property
    def _evaluated(self) -> dict[Condition | None, tuple[ConditionProbability, ConditionProbability]]:
        return {}

    @cached_property
    def _sums(self) -> dict[Condition | None, ColumnSums]:
        return {}


def read_columns(
    table: pa.Table, schema: Schema, queries: Sequence[Query], known: Known, whole: Collection[str] = ()
) -> dict[str, PublishedColumn]:
    """Read every column that some query names."""
    columns = {}
    for name in dict.fromkeys(name for query in queries for name in query.attributes):
        check_published(name, table, schema)
        conditions = dict.fromkeys(query.conditions[name] for query in queries if name in query.conditions)
        columns[name] = read_column(table, name, schema, tuple(conditions), known.get(name), whole=name in whole)
    return columns


def read_column(
    table: pa.Table,
    name: str,
    schema: Schema,
    conditions: Sequence[Condition],
    known: tuple[Domain, bool] | None,
    *,
    whole: bool = False,
) -> PublishedColumn:
    """Read one column; see `build_partition`."""
    distinct, indices = encode_distinct(table[name])
    texts = format_distinct_values(distinct).to_pylist()
    label = indices.fill_null(len(texts)).to_numpy(zero_copy_only=False).astype(np.int64)
    pieces = build_partition(name, [*texts, None], schema, conditions, known, whole=whole)
    bucket = read_bucket_numbers(table, name)
    if bucket is None:
        nothing = np.zeros(0, dtype=np.int64)
        return PublishedColumn(pieces, label, BucketedCells(nothing, nothing, nothing))
    places = np.flatnonzero(bucket != NOT_PUBLISHED)
    numbers, mine = np.unique(bucket[places], return_inverse=True)
    cells = label.copy()
    cells[places] = len(texts) + 1 + mine
    order = np.argsort(mine, kind="stable")
    sizes = np.bincount(mine, minlength=len(numbers)).astype(np.int64)
    return PublishedColumn(pieces, cells, BucketedCells(label[places][order], mine[order].astype(np.int64), sizes))


def check_published(name: str, table: pa.Table, schema: Schema) -> None:
    """Refuse an attribute without a role, and one that is not in the table."""
    shown = [each for each in schema.attributes if each in table.column_names]
    if name not in shown:
        hint = suggest_closest(name, shown) or f"; it shows {', '.join(map(repr, shown))}."
        raise SchemaError(f"The query names {name!r}, which the published table does not show{hint}")


def known_domains(stated: Mapping[str, Iterable[object]] | None, schema: Schema) -> Known:
    """Read the stated values of attributes; None among them says that a cell can be missing."""
    require(stated is None or isinstance(stated, Mapping), "estimate", "domains", "a mapping by attribute", stated)
    known = {}
    for name, values in (stated or {}).items():
        if name not in schema.attributes:
            raise InvalidParameterError(
                f"domains names {name!r}, which has no role{suggest_closest(name, schema.attributes) or '.'}"
            )
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise InvalidParameterError(f"domains[{name!r}] must list all values that the attribute can take.")
        listed = list(values)
        column = to_canonical_column(name, pa.chunked_array([column_from_values(name, listed)]))
        known[name] = (infer_domain(name, column, schema), None in listed)
    return known


def whole_columns(stated: Sequence[str], schema: Schema) -> frozenset[str]:
    """Check the names of columns that are stated to hold whole numbers only."""
    good = not isinstance(stated, str) and all(isinstance(name, str) for name in stated)
    require(good, "estimate", "whole", "a list of columns", stated)
    for name in stated:
        if name not in schema.attributes:
            raise InvalidParameterError(
                f"Column {name!r} cannot be whole, it has no role{suggest_closest(name, schema.attributes) or '.'}"
            )
    return frozenset(stated)


def original_domains(original: pa.Table, schema: Schema) -> Known:
    """Return all values in an original table, for its attributes with a role that may be asked about."""
    names = (*schema.quasi_identifiers, *schema.sensitive, *schema.insensitive)
    return {
        name: (infer_domain(name, original[name], schema), original[name].null_count > 0)
        for name in names
        if name in original.column_names
    }
