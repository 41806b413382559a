"""Tables in PostgreSQL, through ADBC."""

from __future__ import annotations

import re
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato._optional import import_optional
from sfumato._validation import suggest_closest
from sfumato.errors import ReadError, SfumatoError, WriteError
from sfumato.io._columns import check_unique_names, decimals_to_numbers
from sfumato.io._parquet import write_parquet_batches
from sfumato.io._sql import (
    missing_table_name_error,
    qualify_name,
    quote_identifier,
    strip_semicolon,
    table_exists_error,
)
from sfumato.io._type_inference import cast_or_none
from sfumato.io._values import encode_distinct

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DRIVER = "adbc_driver_postgresql.dbapi"
LARGEST = 2**63 - 1
LONGEST_NAME = 63  # bytes; PostgreSQL truncates longer names
LIST_TABLES = """
    SELECT space.nspname::text, class.relname::text, pg_table_is_visible(class.oid)
    FROM pg_class AS class JOIN pg_namespace AS space ON space.oid = class.relnamespace
    WHERE class.relkind IN ('r', 'v', 'm', 'p', 'f')
    AND space.nspname <> 'information_schema' AND space.nspname NOT LIKE 'pg\\_%' ORDER BY 1, 2
"""
TYPES = {
    pa.string(): "text",
    pa.int64(): "bigint",
    pa.float64(): "double precision",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
}
NUMBERS_AS_TEXT = {"numeric", "money"}
ALREADY_ARROW = {
    *("bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar"),
    *("date", "timestamp", "timestamptz", "time", "bytea", "interval"),
}


def read_postgresql(url: str, shown: str, *, table: str | None, query: str | None) -> pa.Table:
    """Read one table or query in a read-only transaction.

    Numeric and money columns become numbers; types unknown to Arrow (enumerations, addresses) become text.

    Parameters
    ----------
    url : how to connect.
    shown : the URL without its password, for messages.
    table, query : one of the two.
    """
    with _open_query(url, shown, table, query) as (cursor, asked):
        return _fetch_table(cursor, asked)


def stream_postgresql(url: str, shown: str, target: Path, *, table: str | None, query: str | None) -> None:
    """Write one table or query as Parquet, in batches; see `read_postgresql`."""
    with _open_query(url, shown, table, query) as (cursor, asked):
        source = f"({asked}\n) AS result"
        names, kinds = _describe_columns(cursor, source)
        numbers = [name for name, kind in zip(names, kinds, strict=True) if kind in NUMBERS_AS_TEXT]
        whole = _find_integer_columns(cursor, source, numbers)
        cursor.execute(_select_statement(names, kinds, source))
        reader = cursor.fetch_record_batch()
        types = {field.name: _streamed_type(field, numbers, whole) for field in reader.schema}
        batches = (
            pa.record_batch(
                [_convert_streamed_column(name, batch[name], kind) for name, kind in types.items()],
                schema=pa.schema(types),
            )
            for batch in reader
        )
        write_parquet_batches(pa.RecordBatchReader.from_batches(pa.schema(types), batches), target)


@contextmanager
def _open_query(url: str, shown: str, table: str | None, query: str | None) -> Iterator[tuple[Any, str]]:
    """Begin to read a table or query."""
    driver = import_optional(DRIVER, extra="postgresql", error=ReadError)
    with _open_cursor(driver, url, shown, ReadError) as (_, cursor):
        try:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            if table is None and query is None:
                raise missing_table_name_error(shown, [name for name in _list_tables(cursor) if "." not in name])
            if table is not None:
                query = f"SELECT * FROM {_find_table(cursor, shown, table)}"  # noqa: S608 - the name is quoted
            yield cursor, strip_semicolon(query or "")
        except driver.Error as error:
            raise ReadError(f"The query cannot be run{_safe_message(error)}.") from None


@contextmanager
def _open_cursor(driver: Any, url: str, shown: str, error: type[SfumatoError]) -> Iterator[tuple[Any, Any]]:
    try:
        opened = driver.connect(url)
    except driver.Error as failure:
        raise error(f"Cannot connect to {shown}: {_connection_failure(str(failure))}.") from None
    with closing(opened) as connection, closing(connection.cursor()) as cursor:
        yield connection, cursor


def _connection_failure(message: str) -> str:
    """Return why a connection failed without the driver's words, which may quote parts of a password."""
    if "authentication failed" in message or "no password supplied" in message:
        return "the user or password was refused"
    if "does not exist" in message:
        return "there is no such database or user"
    return "the server cannot be reached"


def _safe_message(error: Any) -> str:
    """Quote the server where it describes the query (SQLSTATE 42...); elsewhere it may quote values."""
    state = error.sqlstate or ""
    said = re.search(r"ERROR:\s+(.+)", str(error))
    if state.startswith("42") and said:
        return f": {said[1].rstrip('.')}"
    return f" on the data (SQLSTATE {state or 'unknown'})"


def _list_tables(cursor: Any) -> dict[str, str]:
    """Return each table by schema and name, and also by its name alone if the search path finds it."""
    cursor.execute(LIST_TABLES)
    tables = {}
    for schema, name, visible in cursor.fetchall():
        tables[f"{schema}.{name}"] = f"{quote_identifier(schema)}.{quote_identifier(name)}"
        if visible:
            tables[name] = f"{quote_identifier(schema)}.{quote_identifier(name)}"
    return tables


def _find_table(cursor: Any, shown: str, table: str) -> str:
    known = _list_tables(cursor)
    if table not in known:
        raise ReadError(f"{shown} has no table {table!r}{suggest_closest(table, known) or '.'}")
    return known[table]


def _fetch_table(cursor: Any, query: str) -> pa.Table:
    source = f"({query}\n) AS result"
    names, kinds = _describe_columns(cursor, source)
    cursor.execute(_select_statement(names, kinds, source))
    table = cursor.fetch_arrow_table()
    columns = [
        _convert_number(name, column) if kind in NUMBERS_AS_TEXT else column
        for name, column, kind in zip(names, table.columns, kinds, strict=True)
    ]
    return pa.table(columns, names=names)


def _describe_columns(cursor: Any, source: str) -> tuple[list[str], list[str]]:
    """Return the names and PostgreSQL's types of all columns."""
    cursor.execute(f"SELECT * FROM {source} LIMIT 0")  # noqa: S608 - the query is the user's own
    schema = cursor.fetch_arrow_table().schema
    check_unique_names(schema.names)
    return schema.names, [(field.metadata or {}).get(b"POSTGRESQL:type", b"text").decode() for field in schema]


def _select_statement(names: list[str], kinds: list[str], source: str) -> str:
    chosen = ", ".join(_select_expression(name, kind) for name, kind in zip(names, kinds, strict=True))
    return f"SELECT {chosen} FROM {source}"  # noqa: S608 - the query is the user's own


def _find_integer_columns(cursor: Any, source: str, names: list[str]) -> set[str]:
    """Find the columns of decimals all of which are written as whole numbers of 64 bits."""
    if not names:
        return set()
    asked = ", ".join(
        f"coalesce(bool_and({quote_identifier(name)}::numeric::text ~ '^-?[0-9]+$'), true) AND "
        f"coalesce(max(abs({quote_identifier(name)}::numeric)) FILTER (WHERE "
        f"{quote_identifier(name)}::numeric::text ~ '^-?[0-9]+$'), 0) "
        f"<= {LARGEST}"
        for name in names
    )
    cursor.execute(f"SELECT {asked} FROM {source}")  # noqa: S608 - the query is the user's own
    return {name for name, whole in zip(names, cursor.fetchone(), strict=True) if whole}


def _streamed_type(field: pa.Field, numbers: list[str], whole: set[str]) -> pa.DataType:
    if field.name not in numbers:
        return field.type
    return pa.int64() if field.name in whole else pa.float64()


def _convert_streamed_column(name: str, column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Give decimals of a batch, which come as texts, the type of the whole column."""
    if column.type == kind:
        return column
    cells = _convert_number(name, pa.chunked_array([column]))
    return pa.concat_arrays(cells.cast(kind).chunks) if len(cells) else pa.array([], kind)


def _select_expression(name: str, kind: str) -> str:
    if kind in ALREADY_ARROW or kind.startswith("_"):
        return quote_identifier(name)
    cast = "::numeric::text" if kind in NUMBERS_AS_TEXT else "::text"
    return f"{quote_identifier(name)}{cast} AS {quote_identifier(name)}"


def _convert_number(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    whole = cast_or_none(column, pa.int64())
    return decimals_to_numbers(name, *encode_distinct(column)) if whole is None else whole


def write_postgresql(table: pa.Table, url: str, shown: str, *, name: str, replace: bool) -> None:
    """Write a table in one transaction; `shown` is the URL without its password, for messages."""
    driver = import_optional(DRIVER, extra="postgresql", error=WriteError)
    _check_supported(table, name)
    schema, _, bare = name.rpartition(".")
    columns = ", ".join(
        f"{quote_identifier(field.name)} {TYPES.get(field.type, 'timestamptz')}" for field in table.schema
    )
    with _open_cursor(driver, url, shown, WriteError) as (connection, cursor):
        try:
            if name in _list_tables(cursor):
                if not replace:
                    raise table_exists_error(shown, name)
                cursor.execute(f"DROP TABLE {qualify_name(name)}")
            cursor.execute(f"CREATE TABLE {qualify_name(name)} ({columns})")
            cursor.adbc_ingest(bare, table, mode="append", db_schema_name=schema or None)
            connection.commit()
        except driver.Error as error:
            raise WriteError(f"{shown} refuses the table {name!r}{_safe_message(error)}.") from None


def _check_supported(table: pa.Table, name: str) -> None:
    parts = [*name.split(".", 1), *table.column_names]
    long = next((part for part in parts if len(part.encode()) > LONGEST_NAME), None)
    if long:
        raise WriteError(f"PostgreSQL truncates names after {LONGEST_NAME} bytes; shorten {long!r}.")
    for column in table.column_names:
        texts = table.column(column)
        if pa.types.is_string(texts.type) and pc.any(pc.match_substring(texts, "\0")).as_py():
            raise WriteError(f"Column {column!r} contains text with null characters, which PostgreSQL refuses.")
