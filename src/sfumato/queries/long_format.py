"""The probabilistic long form: every record with each value that it may have, and the probability."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._optional import import_optional
from sfumato._validation import require, suggest_closest
from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.encoding._row_order import rank_column
from sfumato.encoding.domain import Domain
from sfumato.errors import SchemaError, WriteError
from sfumato.io._dataframes import Frame, SameBackend, to_arrow
from sfumato.io._duckdb import ALONE
from sfumato.io._sql import quote_identifier
from sfumato.io._values import encode_distinct
from sfumato.queries.published_columns import known_domains, read_column
from sfumato.queries.value_partition import Floats, Ints, ValuePartition, sum_by_label
from sfumato.schema.schema import Schema
from sfumato.tables.published.published_table import (
    check_readable,
    find_bucket_column,
    parse_bucket_column,
    read_bucket_numbers,
)
from sfumato.tables.published.solution import NOT_PUBLISHED

if TYPE_CHECKING:
    import duckdb


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


# The long form as views in DuckDB, so that plain SQL gives expected counts and sums.

MAX_VALUES = 5_000_000
MAX_NUMBERS = 100_000


def long_form_views(
    database: duckdb.DuckDBPyConnection | str | PathLike[str],
    published: Frame,
    schema: Schema,
    *,
    name: str = "published",
    domains: Mapping[str, Iterable[object]] | None = None,
    replace: bool = False,
) -> list[str]:
    """Put a published table into DuckDB with views that list what its cells may mean; return their names.

    - `NAME` is the published table itself, with the number of the record in `_record`;
    - `NAME_long` is its long form: a row for every record and every value of its buckets, with `_probability`;
    - `NAME_values_of_A`, for every quasi-identifier A whose values can be listed, gives for every published cell
      (`shown`) the values that it may represent (`value`) and their `_probability`.

    Parameters
    ----------
    database : a DuckDB connection, or the path of a database file, which is created if it does not exist.
    published : the published table (pandas, Polars or Arrow).
    schema : the roles, and hierarchies to read taxonomy labels.
    name : the name of the table, which is also the prefix of the views.
    domains : all values that an attribute can take, if you know them; see `estimate`.
    replace : whether a table and views of these names may be replaced.
    """
    require(bool(name), "long_form_views", "name", "a name for the table", name)
    table, _ = to_arrow(published)
    check_readable(table, schema)
    check_names_free(table.column_names)
    _check_distinct_names(table.column_names)
    duckdb = import_optional("duckdb", extra="duckdb", error=WriteError)
    known = known_domains(domains, schema)
    values = {
        f"{name}_values_of_{each}": _cell_values(table, each, schema, known.get(each))
        for each in schema.quasi_identifiers
    }
    numbered = table.append_column(RECORD, pa.array(np.arange(table.num_rows)))
    tables = {name: numbered, **{each: found for each, found in values.items() if found is not None}}
    view = _long_view(table, schema, name)
    names = [name, f"{name}_long", *(each for each in tables if each != name)]
    try:
        with _connect(duckdb, database) as connection:
            if not replace:
                _check_tables_absent(connection, names)
            _create(connection, tables, f"{name}_long", view, replace=replace)
    except duckdb.Error:
        raise WriteError(
            f"DuckDB cannot create the table {name!r} and its views; its file may be locked, damaged or full, or a "
            "transaction may be open."
        ) from None
    return names


@contextmanager
def _connect(duckdb: Any, database: Any) -> Iterator[Any]:
    if isinstance(database, duckdb.DuckDBPyConnection):
        yield database
        return
    require(
        isinstance(database, str | PathLike), "long_form_views", "database", "a DuckDB connection or a path", database
    )
    with closing(duckdb.connect(fspath(database), config=ALONE)) as connection:
        yield connection


def _check_distinct_names(names: Sequence[str]) -> None:
    first: dict[str, str] = {}
    for each in names:
        other = first.setdefault(each.casefold(), each)
        if other != each:
            raise WriteError(f"DuckDB does not distinguish the columns {other!r} and {each!r}; rename one of them.")


def _check_tables_absent(connection: Any, names: Iterable[str]) -> None:
    listed = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
    present = {row[0].casefold() for row in connection.execute(listed).fetchall()}
    for each in names:
        if each.casefold() in present:
            raise WriteError(f"The database already has a table {each!r}; choose another name or replace it.")


def _create(connection: Any, tables: Mapping[str, pa.Table], long: str, view: str, *, replace: bool) -> None:
    """Create all tables and the view in one transaction."""
    word = "CREATE OR REPLACE" if replace else "CREATE"
    connection.execute("BEGIN")
    try:
        for each, table in tables.items():
            connection.register("sfumato_table", table)
            connection.execute(f"{word} TABLE {quote_identifier(each)} AS SELECT * FROM sfumato_table")  # noqa: S608 - quoted
            connection.unregister("sfumato_table")
        connection.execute(f"{word} VIEW {quote_identifier(long)} AS {view}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _long_view(table: pa.Table, schema: Schema, name: str) -> str:
    """Return the query that expands all buckets of a table."""
    spelled = bucketized_attributes(table, schema, None)
    shares, joins, columns = [], [], [f"r.{quote_identifier(RECORD)}"]
    slices = slices_by_bucket_column(table, spelled)
    place = {each: (at, column) for at, (column, names) in enumerate(slices.items()) for each in names}
    for at, (column, names) in enumerate(slices.items()):
        value, bucket = ", ".join(map(quote_identifier, names)), quote_identifier(column)
        shares.append(
            f"s{at} AS (SELECT {bucket}, {value}, count(*) / sum(count(*)) OVER (PARTITION BY {bucket}) AS share "  # noqa: S608 - quoted
            f"FROM {quote_identifier(name)} WHERE {bucket} IS NOT NULL GROUP BY {bucket}, {value})"
        )
        joins.append(f"LEFT JOIN s{at} ON r.{bucket} = s{at}.{bucket}")
    for each in table.column_names:
        if each in place:
            at, column = place[each]
            linked = f"r.{quote_identifier(column)} IS NULL"
            columns.append(
                f"CASE WHEN {linked} THEN r.{quote_identifier(each)} ELSE s{at}.{quote_identifier(each)} "
                f"END AS {quote_identifier(each)}"
            )
        elif not is_expanded_bucket_column(each, table, spelled):
            columns.append(f"r.{quote_identifier(each)}")
    product = " * ".join(["1.0", *(f"coalesce(s{at}.share, 1.0)" for at in range(len(slices)))])
    head = f"WITH {', '.join(shares)} " if shares else ""
    shown = ", ".join([*columns, f"{product} AS {quote_identifier(PROBABILITY)}"])
    return f"{head}SELECT {shown} FROM {quote_identifier(name)} r {' '.join(joins)}"  # noqa: S608 - all names are quoted


def _cell_values(table: pa.Table, name: str, schema: Schema, known: tuple[Domain, bool] | None) -> pa.Table | None:
    """Return the values that every published cell of an attribute may represent; None if they cannot be listed."""
    distinct, _ = encode_distinct(table[name])
    pieces = read_column(table, name, schema, (), known).pieces
    if not pieces.listed:
        domain = _axis_values(pieces)
        if domain is None:
            return None
        pieces = read_column(table, name, schema, (), (domain, True)).pieces
    label, piece = pieces.cover.pairs()
    weight = pieces.weight[piece]
    total = sum_by_label(label, weight, len(pieces.cover))
    kept = weight > 0
    if len(label) > MAX_VALUES or (total[np.unique(label)] == 0).any():
        return None
    label, piece = label[kept], piece[kept]
    kept = label < len(distinct)
    label, piece = label[kept], piece[kept]
    return pa.table(
        {
            "shown": distinct.take(pa.array(label)),
            "value": pieces.domain.values.take(pa.array(piece)),
            PROBABILITY: pa.array(pieces.weight[piece] / total[label]),
        }
    )


def _axis_values(pieces: ValuePartition) -> Domain | None:
    """Return the values of an axis: the numbers shown if all cells are single ones, or all whole ones between them."""
    domain, cover = pieces.domain, pieces.cover
    covers = cover.first <= cover.last
    if (cover.first == cover.last)[covers].all():
        return domain
    kind = domain.values.type
    if not pa.types.is_integer(kind) and not pa.types.is_date32(kind):
        return None
    first, last = (int(domain.positions[at]) for at in (0, -1))
    if last - first >= MAX_NUMBERS:
        return None
    numbers = pa.array(np.arange(first, last + 1), pa.int32() if pa.types.is_date32(kind) else pa.int64())
    return Domain(domain.name, domain.scale, numbers.cast(kind))
