"""Tables in SQLite files, through the standard library."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import suggest_closest
from sfumato.errors import ReadError, WriteError
from sfumato.io._columns import (
    check_single_type,
    check_unique_names,
    column_from_values,
    format_texts,
    mixed_types_error,
)
from sfumato.io._sql import missing_table_name_error, quote_identifier, strip_semicolon, table_exists_error
from sfumato.io._type_inference import DAY, MOMENT, ZONED, match_all, moments
from sfumato.io._values import format_values, format_zoned_values

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIST_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
ROWS_AT_ONCE = 1 << 15
ISO_TYPES = ((DAY, pa.date32()), (MOMENT, pa.timestamp("us")), (ZONED, pa.timestamp("us", "UTC")))
TYPES = {
    pa.string(): "TEXT",
    pa.int64(): "INTEGER",
    pa.float64(): "REAL",
    pa.bool_(): "BOOLEAN",
    pa.date32(): "DATE",
    pa.timestamp("us"): "TIMESTAMP",
}


def read_sqlite(path: Path, *, table: str | None, query: str | None, as_text: bool = False) -> pa.Table:
    """Read one table or query; columns declared BOOLEAN, DATE or TIMESTAMP get that type if all values fit.

    With `as_text` every value is its own text, whatever its column was declared as.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            known = [name for (name,) in connection.execute(LIST_TABLES)]
            if table is None and query is None:
                raise missing_table_name_error(path, known)
            if table is not None:
                if table.casefold() not in map(str.casefold, known):
                    raise ReadError(f"{path} has no table {table!r}{suggest_closest(table, known) or '.'}")
                query = f"SELECT * FROM {quote_identifier(table)}"  # noqa: S608 - the name is quoted
            return _fetch_table(connection, strip_semicolon(query or ""), as_text=as_text)
    except sqlite3.Error:
        raise ReadError(f"{path} cannot be read as an SQLite database (damaged, locked or another format).") from None


def _fetch_table(connection: sqlite3.Connection, query: str, *, as_text: bool) -> pa.Table:
    """Run a query; only the errors of compiling it are quoted, because they cannot contain values."""
    try:
        connection.execute(f"CREATE TEMP VIEW sfumato_result AS {query}")
        declared = [kind for _, _, kind, *_ in connection.execute("PRAGMA temp.table_info(sfumato_result)")]
    except (sqlite3.OperationalError, sqlite3.ProgrammingError, sqlite3.Warning) as error:
        raise ReadError(f"The query cannot be run: {str(error).rstrip('.')}.") from None
    cursor = connection.execute(query)
    names = [name for name, *_ in cursor.description]
    check_unique_names(names)
    if as_text:
        found = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
        return pa.table([format_texts(values) for values in found], names=names)
    columns = _fetch_columns(cursor, names)
    typed = [_convert_declared(column, kind) for column, kind in zip(columns, declared, strict=True)]
    return pa.table(typed, names=names)


def _fetch_columns(cursor: sqlite3.Cursor, names: list[str]) -> list[pa.ChunkedArray]:
    chunks: list[list[pa.Array]] = [[] for _ in names]
    types: list[set[type]] = [set() for _ in names]
    while rows := cursor.fetchmany(ROWS_AT_ONCE):
        for place, values in enumerate(zip(*rows, strict=True)):
            types[place].update(map(type, values))
            check_single_type(names[place], types[place])
            chunks[place].append(column_from_values(names[place], values))
    return [_concatenate_chunks(name, column) for name, column in zip(names, chunks, strict=True)]


def _concatenate_chunks(name: str, chunks: list[pa.Array]) -> pa.ChunkedArray:
    kinds = {chunk.type for chunk in chunks if not pa.types.is_null(chunk.type)}
    kind = pa.float64() if len(kinds) > 1 else next(iter(kinds), pa.string())
    try:
        return pa.chunked_array([chunk.cast(kind) for chunk in chunks], kind)
    except pa.ArrowInvalid:
        raise mixed_types_error(name) from None


def _convert_declared(column: pa.ChunkedArray, kind: str) -> pa.ChunkedArray:
    """Convert a column to its declared type, which SQLite does not enforce, if all values fit."""
    kind = kind.upper()
    if kind.startswith("BOOL"):
        return _convert_booleans(column)
    if pa.types.is_string(column.type) and kind.startswith(("DATE", "TIMESTAMP")):
        known = column.unique().drop_null()
        for pattern, wanted in ISO_TYPES:
            if match_all(known, pattern):
                found = moments(column, wanted)
                return column if found is None else found
    return column


def _convert_booleans(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_string(column.type):
        words = pc.utf8_lower(column)
        column = pc.index_in(words, pa.array(["false", "true"])) if _has_only(words, ["false", "true"]) else column
    fits = pa.types.is_integer(column.type) and _has_only(column, [0, 1])
    return column.cast(pa.bool_()) if fits else column


def _has_only(column: pa.ChunkedArray, allowed: list[Any]) -> bool:
    return set(column.unique().to_pylist()) <= {None, *allowed}


def write_sqlite(table: pa.Table, path: Path, *, name: str, replace: bool) -> None:
    """Write a table in one transaction; dates and datetimes are ISO text, declared DATE and TIMESTAMP."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                _write(connection, table, path, name=name, replace=replace)
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        _roll_back_unfinished(path)
        raise WriteError(f"{path} cannot be written: {_describe_error(error)}.") from None


def _roll_back_unfinished(path: Path) -> None:
    """Let SQLite undo a transaction cut off by a full disk, which it does when the file is next opened."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as connection:
        connection.execute(LIST_TABLES).fetchall()


def _describe_error(error: sqlite3.Error) -> str:
    """Return the kind of failure without the driver's words, which may quote values."""
    known = {
        "SQLITE_FULL": "no space is left",
        "SQLITE_IOERR_WRITE": "no space is left, or the disk fails",
        "SQLITE_BUSY": "another program is using the database",
        "SQLITE_READONLY": "it is read-only",
        "SQLITE_CANTOPEN": "it cannot be opened",
        "SQLITE_NOTADB": "it is not an SQLite database",
    }
    return known.get(getattr(error, "sqlite_errorname", ""), "SQLite refused the table")


def _write(connection: sqlite3.Connection, table: pa.Table, path: Path, *, name: str, replace: bool) -> None:
    known = {each.casefold() for (each,) in connection.execute(LIST_TABLES)}
    if name.casefold() in known:
        if not replace:
            raise table_exists_error(path, name)
        connection.execute(f"DROP TABLE {quote_identifier(name)}")
    columns = ", ".join(
        f"{quote_identifier(field.name)} {TYPES.get(field.type, 'TIMESTAMP')}" for field in table.schema
    )
    connection.execute(f"CREATE TABLE {quote_identifier(name)} ({columns})")
    places = ", ".join("?" * table.num_columns)
    connection.executemany(f"INSERT INTO {quote_identifier(name)} VALUES ({places})", _iter_rows(table))  # noqa: S608 - quoted


def _iter_rows(table: pa.Table) -> Iterator[tuple[object, ...]]:
    columns = [_to_storage(column) for column in table.columns]
    for start in range(0, table.num_rows, ROWS_AT_ONCE):
        yield from zip(*(column.slice(start, ROWS_AT_ONCE).to_pylist() for column in columns), strict=True)


def _to_storage(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    if pa.types.is_date(column.type):
        return format_values(column)
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        return pa.chunked_array([format_zoned_values(chunk) for chunk in column.chunks], pa.string())
    if pa.types.is_timestamp(column.type):
        return pc.replace_substring(format_values(column), "T", " ")
    return column
