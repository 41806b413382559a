"""Count the groups of a published table: sizes, and sensitive values in each."""

from __future__ import annotations

from dataclasses import replace
from math import lcm

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.coding.codes import CodedColumn, code_column
from sfumato.coding.grouping import COMPILED_ROWS, group_columns
from sfumato.coding.histograms import Counts, Sparse, mix_contents, sparse_counts
from sfumato.core.groups import Groups, Histogram
from sfumato.core.publication import NOT_PUBLISHED, SUPPRESSED_TEXT
from sfumato.core.published.table import PublishedTable, bucket_numbers
from sfumato.schema.missing import Missing
from sfumato.schema.schema import Schema
from sfumato.table.formats.inference import typed
from sfumato.table.values import coded

LARGEST_COUNT = 2**62
ROUNDED_SCALE = 2**31


def count_groups(table: PublishedTable, shown: pa.Table, schema: Schema) -> Groups:
    """Count the groups of a table.

    A `*` in a sensitive column is a suppressed cell: it may be any value, whatever the policy for missing values.
    If an attribute is published in buckets, the histogram of a group contains what an adversary expects: every
    record of the group has each value of its bucket with the share of that value in the bucket.
    """
    columns, starred = [], False
    for name in schema.sensitive:
        column, has_stars = _without_stars(shown[name])
        columns.append(code_column(name, column, schema))
        starred |= has_stars
    missing = Missing.MATCHES_ALL if starred else Missing(schema.missing)
    group, groups = table.grouped.labels, len(table.grouped)
    buckets = {column.name: bucket_numbers(shown, column.name) for column in columns}
    linked = Groups.from_rows(group, groups, [each for each in columns if buckets[each.name] is None], missing)
    histograms, totals = dict(linked.histograms), dict(linked.totals)
    for column in columns:
        bucket = buckets[column.name]
        if bucket is not None:
            expected = expected_counts(group, groups, bucket, column)
            histograms[column.name] = expected.apart() if missing is Missing.MATCHES_ALL else expected
            totals[column.name] = np.bincount(column.codes, minlength=len(column.domain) + 1).astype(np.int64)
            if missing is Missing.MATCHES_ALL:
                totals[column.name][column.domain.missing] = 0
    domains = {column.name: column.domain for column in columns}
    return Groups(linked.sizes, {name: histograms[name] for name in domains}, totals, domains)


def expected_counts(
    group: npt.NDArray[np.int32], groups: int, bucket: npt.NDArray[np.int64], column: CodedColumn
) -> Histogram:
    """Count expected values per group; a cell outside any bucket is linked to its record.

    Counts are whole multiples of the expected values if these fit. Otherwise they are rounded down, and the
    remainder goes to the group's most frequent value, the worst case.
    """
    if not len(bucket):
        nothing = np.zeros(0, dtype=np.int64)
        return Histogram.of_entries(nothing, nothing, nothing, groups=groups, width=len(column.domain) + 1)
    alone = bucket == NOT_PUBLISHED
    bucket = np.where(alone, bucket.max(initial=-1) + 1 + np.cumsum(alone), bucket)
    buckets = int(bucket.max()) + 1
    sizes = np.bincount(bucket, minlength=buckets)
    width = len(column.domain) + 1
    contents = sparse_counts(bucket, buckets, column.codes, width)
    scale = lcm(*np.unique(sizes[sizes > 0]).tolist())
    if scale * len(group) * int(sizes.max()) < LARGEST_COUNT:
        offsets, codes, counts = contents
        multiples = counts * np.repeat(scale // np.maximum(sizes, 1), np.diff(offsets))
        if len(group) >= COMPILED_ROWS:
            mixed = mix_contents(group, groups, bucket, (offsets, codes, multiples), width)
            return Histogram(*mixed, width, np.zeros(groups, dtype=np.int64))
        rows, entry, shared = _pairs(group, groups, bucket, offsets)
        return Histogram.of_entries(rows, codes[entry], shared * multiples[entry], groups=groups, width=width)
    return _rounded_counts(group, groups, bucket, contents, width)


def _rounded_counts(
    group: npt.NDArray[np.int32], groups: int, bucket: npt.NDArray[np.int64], contents: Sparse, width: int
) -> Histogram:
    """Round expected values down, and add what is lost to each group's most frequent value."""
    offsets, codes, counts = contents
    rows, entry, shared = _pairs(group, groups, bucket, offsets)
    share = counts / np.repeat(np.bincount(bucket, minlength=len(offsets) - 1), np.diff(offsets))
    amounts = np.floor(shared * share[entry] * ROUNDED_SCALE).astype(np.int64)
    rounded = Histogram.of_entries(rows, codes[entry], amounts, groups=groups, width=width)
    lost = np.bincount(group, minlength=groups) * ROUNDED_SCALE - rounded.sizes
    return replace(rounded, missing=np.maximum(lost, 0)).folded


def _pairs(
    group: npt.NDArray[np.int32], groups: int, bucket: npt.NDArray[np.int64], offsets: Counts
) -> tuple[Counts, Counts, Counts]:
    """List for every pair of group and bucket the bucket's entries: the group, the entry, and the records shared."""
    buckets = len(offsets) - 1
    pairs = group_columns([group, bucket], [groups, buckets])
    pair_group, pair_bucket = np.divmod(pairs.keys, buckets)
    spread = np.diff(offsets)[pair_bucket]
    first = np.repeat(offsets[pair_bucket] - np.cumsum(spread) + spread, spread)
    entry = first + np.arange(int(spread.sum()))
    return np.repeat(pair_group, spread), entry, np.repeat(pairs.counts, spread)


def _without_stars(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, bool]:
    """Treat suppressed cells as missing; the others may have been numbers or dates."""
    if not pa.types.is_string(column.type):
        return column, False
    distinct, codes = coded(column)
    stars = pc.match_substring_regex(distinct, rf"\A\s*[{SUPPRESSED_TEXT}]+\s*\z")
    if not pc.any(stars).as_py():
        return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, distinct)]), False
    known = pc.invert(stars)
    places = pc.if_else(known, pc.subtract(pc.cumulative_sum(known.cast(pa.int32())), 1), None)
    return typed(distinct.filter(known), places.take(codes), missing=()), True
