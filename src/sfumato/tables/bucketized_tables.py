"""A bucketized release as a pair of tables, and back: who is in which bucket, and which values are in each bucket."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._randomness import KeyedRandom
from sfumato.encoding._row_order import order_rows, rank_column
from sfumato.errors import SchemaError
from sfumato.io._columns import strip_metadata
from sfumato.io._dataframes import Frame, SameBackend, to_arrow
from sfumato.io._values import encode_distinct, format_values
from sfumato.schema.schema import Schema
from sfumato.tables._pipeline.release import Release
from sfumato.tables.published.published_table import BUCKET_PREFIX, check_bucket_numbers, find_bucket_column
from sfumato.tables.published.solution import JOINING

COUNT_PREFIX = "_count_"
Ints = npt.NDArray[np.int64]


def split_bucketized(
    published: Release | Frame, schema: Schema | None = None
) -> tuple[SameBackend, dict[str, SameBackend]]:
    """Split a bucketized table into records with bucket numbers (QIT) and values per bucket (SAT).

    Both tables are sorted by what they show and nothing else.

    Parameters
    ----------
    published : a release, or its published table (pandas, Polars or Arrow).
    schema : the roles; by default those of the release.

    Returns
    -------
    tuple
        The table of records: everything but the values in buckets. And, for every attribute in buckets, a table
        of bucket, value and count, e.g. with the columns `_bucket_disease`, `disease` and `_count_disease`.
        Attributes that were permuted together share one table, named `age+sex`. All are of the caller's dataframe kind.

    Examples
    --------
    >>> table = pa.table({"age": [20, 30], "disease": ["flu", "ulcer"], "_bucket_disease": [1, 1]})
    >>> records, values = split_bucketized(table, Schema(quasi_identifiers=["age"], sensitive=["disease"]))
    >>> records.column_names
    ['age', '_bucket_disease']
    >>> values["disease"].to_pylist()[0]
    {'_bucket_disease': 1, 'disease': 'flu', '_count_disease': 1}
    """
    if isinstance(published, Release):
        table, kind = strip_metadata(published.published), published.kind
        schema = published.recipe.schema if schema is None else schema
    else:
        table, kind = to_arrow(published)
    if schema is None:
        raise SchemaError("split_tables needs the schema of a published table.")
    known = [name for name in (*schema.quasi_identifiers, *schema.sensitive) if name in table.column_names]
    slices: dict[str, list[str]] = {}
    for name in known:
        bucket = find_bucket_column(table.column_names, name)
        if bucket is not None:
            check_bucket_numbers(bucket, table[bucket])
            slices.setdefault(bucket, []).append(name)
    if not slices:
        raise SchemaError(f"The table has no column {BUCKET_PREFIX!r}..., so it is not bucketized.")
    values = {
        bucket.removeprefix(BUCKET_PREFIX): kind.restore(_counted(table, bucket, names))
        for bucket, names in slices.items()
    }
    for bucket, names in slices.items():
        for name in names:
            table = _without_bucketized(table, name, table[bucket])
    return kind.restore(_sorted(table)), values


def join_bucketized(records: Frame, values: Mapping[str, Frame]) -> SameBackend:
    """Join a table of records and the values of their buckets into one table again.

    The values of every bucket are dealt to its records uniformly at random, using the operating system's randomness.

    Parameters
    ----------
    records : the table of records with bucket numbers.
    values : for every attribute in buckets, the table of bucket, value and count.
    """
    table, kind = to_arrow(records)
    stream = KeyedRandom()
    for name, given in values.items():
        table = _with_drawn_values(table, name, to_arrow(given)[0], stream)
    return kind.restore(_sorted(table))


def _counted(table: pa.Table, bucket: str, names: list[str]) -> pa.Table:
    """Count the values of every bucket, or their combinations."""
    cells = table.select([bucket, *names]).filter(pc.is_valid(table[bucket]))
    counted = cells.group_by([bucket, *names]).aggregate([([], "count_all")])
    counted = counted.rename_columns([bucket, *names, COUNT_PREFIX + bucket.removeprefix(BUCKET_PREFIX)])
    return _sorted(counted)


def _without_bucketized(table: pa.Table, name: str, bucket: pa.ChunkedArray) -> pa.Table:
    """Remove the values in buckets from a table of records; cells in no bucket stay."""
    if not bucket.null_count:
        return table.drop_columns([name])
    shown = pc.if_else(pc.is_valid(bucket), pa.scalar(None, table[name].type), table[name])
    return table.set_column(table.column_names.index(name), name, shown)


def _with_drawn_values(table: pa.Table, name: str, given: pa.Table, stream: KeyedRandom) -> pa.Table:
    """Deal the values of every bucket, or their combinations, to its records."""
    bucket, count = BUCKET_PREFIX + name, COUNT_PREFIX + name
    names = [name] if name in given.column_names else name.split(JOINING)
    for column, there in ((bucket, table), (bucket, given), *((each, given) for each in names), (count, given)):
        if column not in there.column_names:
            what = "records" if there is table else f"values of {name!r}"
            raise SchemaError(f"The table of {what} has no column {column!r}; give the tables of split_tables.")
    for each in (table, given):
        check_bucket_numbers(bucket, each[bucket])
    places, lots = _numbered(table[bucket], given[bucket])
    source = _draw_rows(name, places, lots, given[count], stream)
    for each in names:
        table = _filled(table, each, given[each], source, bucket)
    return table


def _filled(table: pa.Table, name: str, dealt: pa.ChunkedArray, source: Ints, bucket: str) -> pa.Table:
    """Fill dealt values into a column, or add it before that of its buckets; records in no bucket keep their cells."""
    cells = dealt.take(pa.array(source, mask=source < 0))
    if name not in table.column_names:
        return table.add_column(table.column_names.index(bucket), name, cells)
    shown = table[name]
    if shown.type != cells.type:
        shown, cells = pa.chunked_array([format_values(shown)]), pa.chunked_array([format_values(cells)])
    return table.set_column(table.column_names.index(name), name, pc.if_else(pa.array(source < 0), shown, cells))


def _numbered(records: pa.ChunkedArray, lots: pa.ChunkedArray) -> tuple[Ints, Ints]:
    """Return bucket numbers that agree in both tables; -1 if a record is in no bucket."""
    both = pa.concat_arrays([format_values(records), format_values(lots)])
    numbers = encode_distinct(both)[1].fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers[: len(records)], numbers[len(records) :]


def _draw_rows(name: str, places: Ints, lots: Ints, counts: pa.ChunkedArray, stream: KeyedRandom) -> Ints:
    """Draw a row of the table of values for every record; -1 for a record in no bucket."""
    if not pa.types.is_int64(counts.type) or counts.null_count or (len(counts) and pc.min(counts).as_py() < 1):
        raise SchemaError(f"Column {COUNT_PREFIX + name!r} must contain whole numbers of at least 1.")
    often = counts.to_numpy()
    buckets = int(max(places.max(initial=-1), lots.max(initial=-1))) + 1
    if (lots < 0).any():
        raise SchemaError(f"The table of values of {name!r} has rows without a bucket; drop them.")
    held = np.bincount(lots, weights=often, minlength=buckets)
    wrong = int(np.count_nonzero(held != np.bincount(places[places >= 0], minlength=buckets)))
    if wrong:
        raise SchemaError(f"{wrong:,} buckets of {name!r} have more or fewer values than records; correct the tables.")
    drawn = np.flatnonzero(places >= 0)
    drawn = drawn[stream.permutation(len(drawn))]
    drawn = drawn[np.argsort(places[drawn], kind="stable")]
    order = np.argsort(lots, kind="stable")
    source = np.full(len(places), -1, dtype=np.int64)
    source[drawn] = np.repeat(order, often[order])
    return source


def _sorted(table: pa.Table) -> pa.Table:
    """Order rows by what they show."""
    return table.take(pa.array(order_rows([rank_column(column) for column in table.columns], table.num_rows)))
