"""Count the groups of a published table: sizes, and sensitive values in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core._kernels.grouping import COMPILED_ROWS, Grouped, group_columns
from sfumato.core._kernels.readiness import should_compile_for
from sfumato.encoding._counts import Counts, sum_bucket_contents
from sfumato.encoding.coded_table import CodedColumn, CodedTable, encode_column
from sfumato.schema.roles import SENSITIVE
from sfumato.schema.schema import Schema
from sfumato.tables.published._sensitive_values import BucketContents, SensitiveTotals, stars_to_missing
from sfumato.tables.published.groups import Groups, Histogram
from sfumato.tables.published.published_table import PublishedTable, find_bucket_column, read_bucket_numbers
from sfumato.tables.published.solution import NOT_PUBLISHED

ROUNDED_SCALE = 2**31


def count_groups(
    table: PublishedTable,
    shown: pa.Table,
    schema: Schema,
    *,
    totals: SensitiveTotals | None = None,
    contents: Mapping[str, BucketContents] | None = None,
) -> Groups:
    """Count the groups of a table; if it holds only some groups of a larger one, `totals` are the values of that.

    Then `contents` are those of the buckets that its records are in, for every attribute with buckets.

    A missing sensitive cell, or a `*` there, may be any value, whatever the policy for missing values.
    If an attribute is published in buckets, the histogram of a group contains what an adversary expects: every
    record of the group has each value of its bucket with the share of that value in the bucket. If rows of the table
    stand for several records, all counts are in records.
    """
    if totals is None:
        columns = [encode_column(name, stars_to_missing(shown[name])[0], schema) for name in schema.sensitive]
    else:
        columns = [totals.encode(name, shown[name]) for name in schema.sensitive]
    known = contents or {}
    buckets = {column.name: _bucket_positions(shown, column.name, known.get(column.name)) for column in columns}
    linked = [column for column in columns if buckets[column.name] is None]
    group, groups = table.grouped.labels, len(table.grouped)
    counted = Groups.from_rows(group, groups, linked, SENSITIVE, weights=table.weights)
    histograms, whole = dict(counted.histograms), dict(counted.totals)
    for column in columns:
        bucket = buckets[column.name]
        if bucket is not None:
            expected = expected_counts(
                group, groups, bucket, column, weights=table.weights, contents=known.get(column.name)
            )
            histograms[column.name] = expected.separate_missing()
            whole[column.name] = _count_occurring(column, table.weights)
    domains = {column.name: column.domain for column in columns}
    if totals is not None:
        whole = dict(totals.counts)
    return Groups(counted.sizes, {name: histograms[name] for name in domains}, whole, domains)


def count_real_records(
    table: PublishedTable, shown: pa.Table, schema: Schema, rows: npt.NDArray[np.int64]
) -> tuple[PublishedTable, Groups]:
    """Count the groups of some rows, those that belong to somebody; buckets hold what all rows show.

    Returns these rows as a table of their own, too, whose groups are numbered alike.
    """
    persons = table.take(rows)
    label = np.full(
        table.n_weighted_records, len(persons.grouped), dtype=np.int32
    )  # all others are a group of their own
    label[rows] = persons.grouped.labels
    apart = Grouped(label, np.arange(len(persons.grouped) + 1), np.bincount(label, minlength=len(persons.grouped) + 1))
    groups = count_groups(replace(table, grouped=apart), shown, schema)
    return persons, groups.take(np.arange(len(persons.grouped)))


def _bucket_positions(shown: pa.Table, name: str, contents: BucketContents | None) -> npt.NDArray[np.int64] | None:
    """Return the bucket of every record's cell, by its place in what is known of the buckets, if that is known."""
    column = None if contents is None else find_bucket_column(shown.column_names, name)
    return read_bucket_numbers(shown, name) if contents is None or column is None else contents.places(shown[column])


def count_original(original: CodedTable, schema: Schema) -> Groups:
    """Count the sensitive values of all records of an original as one group."""
    columns = [column for column in original.sensitive if column.name in schema.sensitive]
    return Groups.from_rows(
        np.zeros(original.n_weighted_records, dtype=np.int32), 1, columns, SENSITIVE, weights=original.weights
    )


def _count_occurring(column: CodedColumn, weights: Counts | None) -> Counts:
    """Count the values of a column, without missing cells, which may be any value."""
    counts = np.bincount(column.codes, weights, len(column.domain) + 1).astype(np.int64)
    counts[column.domain.missing] = 0
    return counts


def expected_counts(
    group: npt.NDArray[np.int32],
    groups: int,
    bucket: npt.NDArray[np.int64],
    column: CodedColumn,
    *,
    weights: npt.NDArray[np.int64] | None = None,
    contents: BucketContents | None = None,
) -> Histogram:
    """Count expected values per group; a cell outside any bucket is linked to its record.

    Counts are whole multiples of the expected values if these fit. Otherwise they are rounded down, and the
    remainder goes to the group's most frequent value, the worst case. `contents` are those of the buckets, if the
    records are only some of a table's.
    """
    width = len(column.domain) + 1
    if not len(bucket):
        nothing = np.zeros(0, dtype=np.int64)
        return Histogram.from_entries(nothing, nothing, nothing, groups=groups, width=width)
    alone = np.flatnonzero(bucket == NOT_PUBLISHED)
    if contents is None:
        inside = np.flatnonzero(bucket != NOT_PUBLISHED) if len(alone) else slice(None)
        many = None if weights is None else weights[inside]
        records = len(group) if weights is None else int(weights.sum())
        seen = CodedColumn(column.domain, column.codes[inside])
        contents = BucketContents.from_rows(bucket[inside], seen, many, records)
    if len(alone):
        bucket = bucket.copy()
        bucket[alone] = len(contents.offsets) - 1 + np.arange(len(alone))
        contents = contents.add_single_cells(column.codes[alone])
    offsets, codes, counts = contents.offsets, contents.codes, contents.counts
    scale, sizes_of = contents.scale, np.repeat(contents.sizes, np.diff(offsets))
    if scale is not None and weights is None and should_compile_for(len(group), COMPILED_ROWS):
        mixed = sum_bucket_contents(group, groups, bucket, (offsets, codes, counts * (scale // sizes_of)), width)
        return Histogram(*mixed, width, np.zeros(groups, dtype=np.int64))
    rows, entry, shared = _expand_pairs(group, groups, bucket, offsets, weights)
    if scale is not None:
        amounts = shared * (counts * (scale // sizes_of))[entry]
        return Histogram.from_entries(rows, codes[entry], amounts, groups=groups, width=width)
    amounts = np.floor(shared * (counts / sizes_of)[entry] * ROUNDED_SCALE).astype(np.int64)
    rounded = Histogram.from_entries(rows, codes[entry], amounts, groups=groups, width=width)
    lost = np.bincount(group, weights, minlength=groups).astype(np.int64) * ROUNDED_SCALE - rounded.sizes
    return replace(rounded, missing=np.maximum(lost, 0)).worst_case


def _expand_pairs(
    group: npt.NDArray[np.int32], groups: int, bucket: Counts, offsets: Counts, weights: Counts | None
) -> tuple[Counts, Counts, Counts]:
    """List for every pair of group and bucket the bucket's entries: the group, the entry, and the records shared."""
    buckets = len(offsets) - 1
    pairs = group_columns([group, bucket], [groups, buckets])
    met = pairs.counts if weights is None else np.bincount(pairs.labels, weights).astype(np.int64)
    pair_group, pair_bucket = np.divmod(pairs.keys, buckets)
    spread = np.diff(offsets)[pair_bucket]
    first = np.repeat(offsets[pair_bucket] - np.cumsum(spread) + spread, spread)
    entry = first + np.arange(int(spread.sum()))
    return np.repeat(pair_group, spread), entry, np.repeat(met, spread)
