"""The probabilistic long form: every record with each value that it may have, and the probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.coding.applying import rank_column
from sfumato.coding.grouping import group_columns, representative_rows
from sfumato.core.publication import NOT_PUBLISHED
from sfumato.core.published.table import check_readable, find_bucket_column, parse_bucket_column, read_bucket_numbers
from sfumato.exceptions import SchemaError
from sfumato.queries.estimates.pieces import Floats, Ints
from sfumato.schema.schema import Schema
from sfumato.table.frames import Frame, SameBackend, to_arrow
from sfumato.validation import suggest_closest

RECORD = "_record"
PROBABILITY = "_probability"
MAX_ROWS = 50_000_000


def long_form(published: Frame, schema: Schema, attributes: Sequence[str] | None = None) -> SameBackend:
    """Expand a bucketized table: one row for every record and every value of its bucket.

    The column `_record` numbers the published records from 0, and `_probability` is the share of the value in the
    bucket; the probabilities of a record sum to 1. A record in buckets of several attributes has a row for every
    combination or, if these were permuted together, for every one that occurs in the bucket. Cells outside buckets, and
    generalized ones, stay as published.

    Parameters
    ----------
    published : the published table (pandas, Polars or Arrow).
    schema : the roles.
    attributes : the attributes to expand; by default all that have buckets. Cells of others in buckets are left
        empty.

    Examples
    --------
    >>> table = pa.table({"age": [22, 24], "disease": ["flu", "cold"], "_bucket_disease": [0, 0]})
    >>> spelled = long_form(table, Schema(quasi_identifiers=["age"], sensitive=["disease"]))
    >>> [list(row.values()) for row in spelled.to_pylist()]
    [[0, 22, 'cold', 0.5], [0, 22, 'flu', 0.5], [1, 24, 'cold', 0.5], [1, 24, 'flu', 0.5]]
    """
    table, kind = to_arrow(published)
    return kind.restore(expand_long_form(table, schema, attributes))


def expand_long_form(table: pa.Table, schema: Schema, attributes: Sequence[str] | None = None) -> pa.Table:
    """Expand an Arrow table; see `long_form`."""
    check_readable(table, schema)
    check_names_free(table.column_names)
    chosen = bucketized_attributes(table, schema, attributes)
    row, probability = np.arange(table.num_rows), np.ones(table.num_rows)
    spelled: dict[str, pa.Array] = {}
    for names in slices_by_bucket_column(table, chosen).values():
        contents = _contents(table, names)
        source, entry = contents.spread(row)
        spelled = {other: column.take(pa.array(source)) for other, column in spelled.items()}
        for name, values in contents.values.items():
            spelled[name] = values.take(pa.array(contents.value[entry]))
        row, probability = row[source], probability[source] * contents.share[entry]
    columns: dict[str, pa.Array | pa.ChunkedArray] = {RECORD: pa.array(row)}
    for name in table.column_names:
        if name in spelled:
            columns[name] = spelled[name]
        elif not is_expanded_bucket_column(name, table, chosen):
            columns[name] = _unbucketed_column(table, name).take(pa.array(row))
    return pa.table({**columns, PROBABILITY: pa.array(probability)})


def check_names_free(names: Sequence[str]) -> None:
    """Refuse a table that already has columns of the names that the long form adds."""
    for name in (RECORD, PROBABILITY):
        if name in names:
            raise SchemaError(f"The published table already has a column {name!r}; rename it first.")


def bucketized_attributes(table: pa.Table, schema: Schema, attributes: Sequence[str] | None) -> list[str]:
    """Return the attributes to expand; refuse one without buckets."""
    known = [name for name in schema.attributes if find_bucket_column(table.column_names, name) is not None]
    if attributes is None:
        return known
    for name in attributes:
        if name not in known:
            hint = suggest_closest(name, known) or (f"; choose one of {', '.join(map(repr, known))}." if known else ".")
            raise SchemaError(f"There are no buckets of {name!r}{hint}")
    return list(dict.fromkeys(attributes))


def slices_by_bucket_column(table: pa.Table, names: Sequence[str]) -> dict[str, list[str]]:
    """Group attributes that were permuted together, by the column of their buckets."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(find_bucket_column(table.column_names, name) or name, []).append(name)
    return found


def is_expanded_bucket_column(column: str, table: pa.Table, chosen: Sequence[str]) -> bool:
    """Return whether a column numbers buckets of expanded attributes only."""
    named = parse_bucket_column(column, table.column_names)
    return bool(named) and set(named) <= set(chosen)


@dataclass(frozen=True, eq=False, repr=False)
class _BucketContents:
    """The content of buckets: for every record its bucket, for every bucket its values, or combinations, with shares.

    A record whose cell is in no bucket has one of its own. `value` is an index into the distinct `values`.
    """

    values: dict[str, pa.Array]
    bucket: Ints
    start: Ints
    value: Ints
    share: Floats

    def spread(self, row: Ints) -> tuple[Ints, Ints]:
        """Repeat records once for every value that they may have; return the index in `row`, and the entry."""
        bucket = self.bucket[row]
        many = self.start[bucket + 1] - self.start[bucket]
        total = int(many.sum())
        if total > MAX_ROWS:
            raise SchemaError(f"The long form would have {total:,} rows; expand fewer attributes at a time.")
        source = np.repeat(np.arange(len(row)), many)
        first = np.repeat(self.start[bucket] - np.cumsum(many) + many, many)
        return source, first + np.arange(total)


def _contents(table: pa.Table, names: Sequence[str]) -> _BucketContents:
    bucket = read_bucket_numbers(table, names[0])
    assert bucket is not None  # noqa: S101 - only attributes with buckets come here
    alone = bucket == NOT_PUBLISHED
    bucket = np.where(alone, bucket.max(initial=-1) + np.cumsum(alone), bucket)
    ranked = [rank_column(table[name]) for name in names]
    joint = group_columns([ranks for ranks, _ in ranked], [width for _, width in ranked])
    order = np.argsort(joint.keys)
    rank = np.empty(len(joint), dtype=np.int64)
    rank[order] = np.arange(len(joint))
    some = pa.array(representative_rows(joint)[order])
    width, buckets = len(joint), int(bucket.max()) + 1
    pairs = group_columns([bucket, rank[joint.labels]], [buckets, width])
    order = np.argsort(pairs.keys)
    owner, value = np.divmod(pairs.keys[order], width)
    share = pairs.counts[order] / np.bincount(bucket, minlength=buckets)[owner]
    values = {name: table[name].take(some).combine_chunks() for name in names}
    return _BucketContents(values, bucket, np.searchsorted(owner, np.arange(buckets + 1)), value, share)


def _unbucketed_column(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column without the cells in buckets."""
    bucket = read_bucket_numbers(table, name)
    if bucket is None:
        return table[name]
    return pc.if_else(pa.array(bucket == NOT_PUBLISHED), table[name], None)
