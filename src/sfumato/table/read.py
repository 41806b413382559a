"""Read a table from anywhere: the suffix of a file or the scheme of a URL tells how."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.exceptions import ReadError
from sfumato.table.formats.csv import read_csv
from sfumato.table.formats.database import is_url, read_database
from sfumato.table.formats.excel import read_excel
from sfumato.table.formats.inference import MISSING
from sfumato.table.formats.parquet import read_parquet
from sfumato.validation import did_you_mean, is_whole, require

if TYPE_CHECKING:
    import pyarrow as pa

TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx",)


def read(
    source: str | os.PathLike[str],
    *,
    table: str | None = None,
    query: str | None = None,
    sheet: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    missing: tuple[str, ...] = MISSING,
    skip_rows: int = 0,
) -> pa.Table:
    """Read a table as Arrow, with canonical types.

    Parameters
    ----------
    source : a file (.csv, .tsv, .txt, each also with .gz, .parquet, .pq, .xlsx) or a database URL such as
        `sqlite:///census.db`, `duckdb:///census.duckdb` or `postgresql://user:password@host/census`.
    table, query : in a database, one of them.
    sheet : in a workbook; the first if not given.
    separator, encoding : of a text file; detected if not given.
    missing : spellings of a missing value in text files and workbooks.
    skip_rows : how many lines of a text file, or rows of a sheet, stand before the header, such as a title.
    """
    require(is_whole(skip_rows) and skip_rows >= 0, "read", "skip_rows", "a whole number of at least 0", skip_rows)
    if isinstance(source, str) and is_url(source):
        _refuse("a text file or a workbook", skip_rows=skip_rows or None)
        _refuse("a file", sheet=sheet, separator=separator, encoding=encoding)
        return read_database(source, table=table, query=query)
    _refuse("a database", table=table, query=query)
    path = Path(source)
    name = path.name.lower()
    _refuse_unreadable(path)
    if name.endswith(TEXT):
        _refuse("a workbook", sheet=sheet)
        tabs = ".tsv" in name and separator is None
        given = "\t" if tabs else separator
        return read_csv(path, separator=given, encoding=encoding, missing=missing, skip_rows=skip_rows)
    _refuse("a text file", separator=separator, encoding=encoding)
    if name.endswith(EXCEL):
        return read_excel(path, sheet=sheet, missing=missing, skip_rows=skip_rows)
    _refuse("a workbook", sheet=sheet)
    _refuse("a text file or a workbook", skip_rows=skip_rows or None)
    if name.endswith(PARQUET):
        return read_parquet(path)
    raise ReadError(f"{path} has no known suffix; known are {', '.join((*TEXT[:3], *PARQUET, *EXCEL))}.")


def _refuse(only: str, **options: str | int | None) -> None:
    """Refuse options that belong to another kind of source."""
    for option, value in options.items():
        require(value is None, "read", option, f"left out unless the source is {only}", value)


def _refuse_unreadable(path: Path) -> None:
    if path.is_dir():
        raise ReadError(f"{path} is a folder; name one file in it.")
    if not path.exists():
        others = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        raise ReadError(f"There is no file {path}{did_you_mean(path.name, others) or '.'}")
    if not path.is_file():
        raise ReadError(f"{path} is no regular file; copy it into one.")
    try:
        with path.open("rb") as file:
            first = file.read(1)
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror}.") from None
    if not first:
        raise ReadError(f"{path} is empty.")
