"""Tables in DuckDB files, through Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from sfumato._optional import import_optional
from sfumato._validation import suggest_closest
from sfumato.errors import ReadError, WriteError
from sfumato.io._columns import check_unique_names
from sfumato.io._parquet import write_parquet_batches
from sfumato.io._sql import (
    missing_table_name_error,
    qualify_name,
    quote_identifier,
    strip_semicolon,
    table_exists_error,
)

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

ALONE = {  # a query or view sees its database: no other file, no network, no variable of ours
    "enable_external_access": False,
    "lock_configuration": True,
    "python_enable_replacements": False,
}
BATCH = 500_000
LIST_TABLES = "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"


def read_duckdb(path: Path, *, table: str | None, query: str | None) -> pa.Table:
    """Read one table or query; views and queries cannot reach other files."""
    with _open_relation(path, table, query) as relation:
        return relation.to_arrow_table()


def stream_duckdb(path: Path, target: Path, *, table: str | None, query: str | None, memory: int) -> None:
    """Write one table or query as Parquet, in batches; `memory` is how many bytes DuckDB may take."""
    spilled = target.with_suffix(".spilled")  # a folder of its own, since queries may reach files in it
    limits = {"memory_limit": f"{memory // 10**6}MB", "temp_directory": str(spilled)}
    with _open_relation(path, table, query, limits) as relation:
        write_parquet_batches(relation.to_arrow_reader(BATCH), target)


@contextmanager
def _open_relation(
    path: Path, table: str | None, query: str | None, limits: Mapping[str, str] | None = None
) -> Iterator[Any]:
    duckdb = import_optional("duckdb", extra="duckdb", error=ReadError)
    try:
        with closing(duckdb.connect(str(path), read_only=True, config={**ALONE, **(limits or {})})) as connection:
            if table is None and query is None:
                raise missing_table_name_error(path, [name for name in _list_tables(connection) if "." not in name])
            if table is not None:
                query = f"SELECT * FROM {_find_table(connection, path, table)}"  # noqa: S608 - the name is quoted
            try:
                relation = connection.sql(strip_semicolon(query or ""))
            except duckdb.ProgrammingError as error:
                reason = str(error).splitlines()[0].rstrip("!.")
                raise ReadError(f"The query cannot be run: {reason}.") from None
            if relation is None:
                raise ReadError("The query returns no table; begin it with SELECT.")
            check_unique_names(relation.columns)
            yield relation
    except duckdb.PermissionException:
        raise ReadError(
            f"The table or query would reach other files than {path}, which is not allowed; copy what you need into it."
        ) from None
    except duckdb.Error:
        raise ReadError(
            f"{path} cannot be read as a DuckDB database, or the query fails on its data;"
            " it may be damaged, locked or of another version."
        ) from None


def _find_table(connection: Any, path: Path, table: str) -> str:
    known = _list_tables(connection)
    if table.casefold() not in known:
        raise ReadError(f"{path} has no table {table!r}{suggest_closest(table, known) or '.'}")
    return known[table.casefold()]


def _list_tables(connection: Any) -> dict[str, str]:
    """Return each table by its name, and by schema and name, with its SQL identifier."""
    tables = {}
    for schema, name in connection.execute(LIST_TABLES).fetchall():
        tables[f"{schema}.{name}".casefold()] = f"{quote_identifier(schema)}.{quote_identifier(name)}"
        if schema == "main":
            tables[name.casefold()] = quote_identifier(name)
    return tables


def write_duckdb(table: pa.Table, path: Path, *, name: str, replace: bool) -> None:
    """Write a table in one transaction."""
    duckdb = import_optional("duckdb", extra="duckdb", error=WriteError)
    try:
        with closing(duckdb.connect(str(path), config=ALONE)) as connection:
            if name.casefold() in _list_tables(connection) and not replace:
                raise table_exists_error(path, name)
            connection.register("sfumato_table", table)
            create = "CREATE OR REPLACE TABLE" if replace else "CREATE TABLE"
            connection.execute("BEGIN")
            connection.execute(f"{create} {qualify_name(name)} AS SELECT * FROM sfumato_table")  # noqa: S608 - quoted
            connection.execute("COMMIT")
    except duckdb.Error:
        raise WriteError(f"{path} cannot be written by DuckDB; it may be locked, damaged or full.") from None
