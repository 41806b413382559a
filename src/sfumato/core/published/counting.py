"""Count the groups of a published table: sizes, and sensitive values in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import lcm

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.coding.codes import CodedColumn, code_column
from sfumato.coding.domain import Domain
from sfumato.coding.grouping import group_columns
from sfumato.coding.histograms import sparse_counts
from sfumato.core.groups import Groups, Histogram
from sfumato.core.publication import NOT_PUBLISHED
from sfumato.core.published.table import PublishedTable, bucket_numbers
from sfumato.core.published.totals import Totals, without_stars
from sfumato.schema.missing import Missing
from sfumato.schema.schema import Schema

LARGEST_COUNT = 2**62
ROUNDED_SCALE = 2**31


def count_groups(
    table: PublishedTable,
    shown: pa.Table,
    schema: Schema,
    domains: Mapping[str, Domain] | None = None,
    *,
    totals: Totals | None = None,
) -> Groups:
    """Count the groups of a table; `domains` are those of the original's sensitive attributes, if it is known.

    If the table holds only some groups of a larger one, `totals` are the sensitive values of that.

    A `*` in a sensitive column is a suppressed cell: it may be any value, whatever the policy for missing values.
    If an attribute is published in buckets, the histogram of a group contains what an adversary expects: every
    record of the group has each value of its bucket with the share of that value in the bucket. If rows of the table
    stand for several records, all counts are in records.
    """
    if totals is None:
        columns, missing = _coded(shown, schema, domains or {})
    else:
        columns, missing = [totals.code(name, shown[name]) for name in schema.sensitive], totals.missing
    group, groups = table.grouped.labels, len(table.grouped)
    whole = None if totals is None else totals.counts
    linked = Groups.from_rows(group, groups, columns, missing, weights=table.weights, totals=whole)
    histograms = dict(linked.histograms)
    for column in columns:
        buckets = bucket_numbers(shown, column.name)
        if buckets is not None:
            expected = expected_counts(group, groups, buckets, column, weights=table.weights)
            histograms[column.name] = expected.apart() if missing is Missing.MATCHES_ALL else expected
    return Groups(linked.sizes, histograms, linked.totals, linked.domains)


def _coded(shown: pa.Table, schema: Schema, domains: Mapping[str, Domain]) -> tuple[list[CodedColumn], Missing]:
    """Code the sensitive columns of a whole table, and find out how its missing cells count."""
    columns, starred = [], False
    for name in schema.sensitive:
        column, has_stars = without_stars(shown[name])
        known = domains.get(name)
        columns.append(code_column(name, column, schema) if known is None else CodedColumn(known, known.encode(column)))
        starred |= has_stars
    return columns, Missing.MATCHES_ALL if starred else Missing(schema.missing)


def expected_counts(
    group: npt.NDArray[np.int32],
    groups: int,
    bucket: npt.NDArray[np.int64],
    column: CodedColumn,
    *,
    weights: npt.NDArray[np.int64] | None = None,
) -> Histogram:
    """Count expected values per group; a cell outside any bucket is linked to its record.

    Counts are whole multiples of the expected values if these fit. Otherwise they are rounded down, and the
    remainder goes to the group's most frequent value, the worst case.
    """
    if not len(bucket):
        nothing = np.zeros(0, dtype=np.int64)
        return Histogram.of_entries(nothing, nothing, nothing, groups=groups, width=len(column.domain) + 1)
    alone = bucket == NOT_PUBLISHED
    single = int(bucket.max(initial=-1)) + 1  # the first number of those that stand for cells outside any bucket
    bucket = np.where(alone, single + np.cumsum(alone), bucket)
    buckets = int(bucket.max()) + 1
    sizes = np.bincount(bucket, weights, minlength=buckets).astype(np.int64)
    sizes[single:] = np.minimum(sizes[single:], 1)
    width = len(column.domain) + 1
    offsets, codes, counts = sparse_counts(bucket, buckets, column.codes, width, weights)
    counts[offsets[single] :] = 1
    pairs = group_columns([group, bucket], [groups, buckets])
    met = pairs.counts if weights is None else np.bincount(pairs.labels, weights).astype(np.int64)
    pair_group, pair_bucket = np.divmod(pairs.keys, buckets)
    spread = np.diff(offsets)[pair_bucket]
    first = np.repeat(offsets[pair_bucket] - np.cumsum(spread) + spread, spread)
    entry = first + np.arange(int(spread.sum()))
    shared, held, size = np.repeat(met, spread), counts[entry], np.repeat(sizes[pair_bucket], spread)
    scale = lcm(*np.unique(sizes[sizes > 0]).tolist())
    rows, codes = np.repeat(pair_group, spread), codes[entry]
    if scale * int(met.sum()) * int(sizes.max()) < LARGEST_COUNT:
        return Histogram.of_entries(rows, codes, shared * held * (scale // size), groups=groups, width=width)
    amounts = np.floor(shared * (held / size) * ROUNDED_SCALE).astype(np.int64)
    rounded = Histogram.of_entries(rows, codes, amounts, groups=groups, width=width)
    lost = np.bincount(group, weights, minlength=groups).astype(np.int64) * ROUNDED_SCALE - rounded.sizes
    return replace(rounded, missing=np.maximum(lost, 0)).folded
