"""Tables in databases, addressed by a URL."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sfumato._validation import require, suggest_closest
from sfumato.core._atomic_writes import atomic_path
from sfumato.errors import ReadError, SfumatoError, WriteError
from sfumato.io._dataframes import to_canonical, to_text_table
from sfumato.io._duckdb import read_duckdb, stream_duckdb, write_duckdb
from sfumato.io._postgresql import read_postgresql, stream_postgresql, write_postgresql
from sfumato.io._sqlite import read_sqlite, write_sqlite

if TYPE_CHECKING:
    import pyarrow as pa

IfExists = Literal["fail", "replace"]


def mask_url(url: str) -> str:
    """Return a URL without its password and options, for messages.

    >>> mask_url("postgresql://ann:p@ss/w?rd@db.example:5432/census?sslmode=require")
    'postgresql://ann:***@db.example:5432/census'
    """
    without = re.sub(r"://([^:/@]*):.*@", r"://\1:***@", url, flags=re.DOTALL)
    return re.split(r"[?#]", without, maxsplit=1)[0]


def read_database(url: str, *, table: str | None = None, query: str | None = None, as_text: bool = False) -> pa.Table:
    """Read one table or the result of one query as a canonical table, or as texts; the database is not changed.

    Parameters
    ----------
    url : `sqlite:///relative.db`, `sqlite:////absolute.db`, `duckdb:///file.duckdb` or
        `postgresql://user:password@host:port/database`.
    table : name of a table or view; `schema.table` in DuckDB and PostgreSQL.
    query : an SQL query; give either a query or a table. If neither is given, the error lists the tables.
    """
    both = table is not None and query is not None
    require(not both, "read", "table", "given, or else query, but not both", (table, query))
    scheme = _scheme(url)
    if scheme == "postgresql":
        found = read_postgresql(url, mask_url(url), table=table, query=query)
    else:
        path = resolve_database_file(url)
        if scheme == "sqlite":
            found = read_sqlite(path, table=table, query=query, as_text=as_text)
        else:
            found = read_duckdb(path, table=table, query=query)
    return to_text_table(found) if as_text else to_canonical(found)


def stream_database(
    url: str, target: Path, *, table: str | None = None, query: str | None = None, memory: int = 10**9
) -> None:
    """Write one table or query of DuckDB or PostgreSQL as a Parquet file, in batches; see `read_database`.

    Parameters
    ----------
    url, table, query : as for `read_database`.
    target : the file to write.
    memory : how many bytes the database may take in this process.
    """
    both = table is not None and query is not None
    require(not both, "read", "table", "given, or else query, but not both", (table, query))
    if _scheme(url) == "postgresql":
        stream_postgresql(url, mask_url(url), target, table=table, query=query)
    else:
        stream_duckdb(resolve_database_file(url), target, table=table, query=query, memory=memory)


def resolve_database_file(url: str) -> Path:
    """Return the file of a database, which must exist."""
    path = _path(url, _scheme(url), ReadError)
    if not path.is_file():
        raise ReadError(f"There is no database file {path}{suggest_closest(path.name, _list_tables(path)) or '.'}")
    return path


def write_database(table: pa.Table, url: str, *, table_name: str, if_exists: IfExists = "fail") -> None:
    """Write a canonical table into a database, in one transaction.

    A database file that does not exist is created; its other tables are left alone.
    """
    require(if_exists in {"fail", "replace"}, "write", "if_exists", "'fail' or 'replace'", if_exists)
    scheme = _scheme(url)
    replace = if_exists == "replace"
    if scheme == "postgresql":
        write_postgresql(table, url, mask_url(url), name=table_name, replace=replace)
        return
    _check_distinct_names(table, scheme)
    writer = write_sqlite if scheme == "sqlite" else write_duckdb
    path = _path(url, scheme, WriteError)
    if path.exists():
        writer(table, path, name=table_name, replace=replace)
    else:
        with atomic_path(path) as temporary:
            writer(table, temporary, name=table_name, replace=replace)


def _scheme(url: str) -> str:
    scheme = url.partition("://")[0].lower()
    return "postgresql" if scheme == "postgres" else scheme


def _path(url: str, scheme: str, error: type[SfumatoError]) -> Path:
    host, slash, path = url.partition("://")[2].partition("/")
    if host or not slash or not path:
        raise error(f"{mask_url(url)} names no file; write {scheme}:///name.db or {scheme}:////folder/name.db.")
    return Path(path)


def _check_distinct_names(table: pa.Table, scheme: str) -> None:
    first: dict[str, str] = {}
    for name in table.column_names:
        other = first.setdefault(name.casefold(), name)
        if other != name:
            raise WriteError(f"{scheme} does not distinguish the columns {other!r} and {name!r}; rename one of them.")


def _list_tables(path: Path) -> list[str]:
    return [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
