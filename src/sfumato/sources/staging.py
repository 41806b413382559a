"""What engines do not read by our rules, written as Parquet first: text files, and tables of databases."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.exceptions import InvalidParameterError, ReadError, WriteError
from sfumato.table.formats.base import Option
from sfumato.table.formats.csv_batches import CSVConverter
from sfumato.table.formats.database import resolve_database_file, stream_database
from sfumato.table.formats.findings import FileFindings
from sfumato.table.formats.known import FORMATS, is_url, resolve_format
from sfumato.table.formats.parquet import write_parquet_batches
from sfumato.table.read import check_readable_file, select_options

STREAMED = ("duckdb", "postgresql")  # databases that hand out a table in batches
PACKED = 5  # a packed text is about so many times smaller
TEXTS = 4  # the different texts of a file may take one in so many parts of the budget


def estimate_memory(given: str | os.PathLike[str]) -> int | None:
    """Estimate how many bytes a table takes that can be written as Parquet in batches; None if nobody can tell."""
    form = resolve_format(given, ReadError)
    if form.name == "csv":
        size = Path(given).stat().st_size if Path(given).is_file() else 0
        return size * PACKED if Path(given).suffix.lower() == ".gz" else size
    return resolve_database_file(str(given)).stat().st_size if form.name == "duckdb" else None


def stage_as_parquet(
    given: str | os.PathLike[str],
    reading: Mapping[str, Option],
    place: Path,
    *,
    budget: int,
    findings: FileFindings | None = None,
    texts: Sequence[str] = (),
) -> Path | None:
    """Write a text file, or a table of a database, as a Parquet file; None if it is none of these.

    Parameters
    ----------
    given : the file, or the URL of the database.
    reading : the options of `sf.read`.
    place : the folder for temporary data.
    budget : how many bytes of memory the process may take.
    findings : is told what was found out about a text file.
    texts : columns of a text file whose cells stay the texts that stand in it.
    """
    if not is_url(given):
        check_readable_file(Path(given))
    form = resolve_format(given, ReadError)
    if form.name not in {"csv", *STREAMED}:
        return None
    staged = place / "staged"
    staged.mkdir(mode=0o700)
    with _reworded_disk_errors():
        if form.name == "csv":
            options: Any = select_options(form, reading)
            told = FileFindings() if findings is None else findings
            return CSVConverter(
                path=Path(given), place=staged, options=options, most=budget // TEXTS, findings=told, texts=texts
            ).write()
        options = select_options(form, {**reading, "column_types": None})
        _check_no_retyping(reading, "a database")
        target = staged / "table.parquet"
        stream_database(str(given), target, **options, memory=budget // 2)
        return target


def stage_batches(reader: pa.RecordBatchReader, place: Path) -> Path:
    """Write what can be read only once as a Parquet file."""
    target = place / "staged.parquet"
    with _reworded_disk_errors():
        write_parquet_batches(reader, target)
    return target


def check_parquet_options(reading: Mapping[str, Option]) -> None:
    """Refuse options that change what Parquet files hold."""
    _check_no_retyping(reading, "Parquet files")


def _check_no_retyping(reading: Mapping[str, Option], what: str) -> None:
    if reading.get("column_types"):
        raise InvalidParameterError(
            f"column_types is not served for {what} beyond memory; give columns their types there, or use "
            'engine="memory".'
        )


@contextmanager
def _reworded_disk_errors() -> Iterator[None]:
    """Say that a disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        raise WriteError("The temporary folder is full; give one with more space by temporary=.") from None


def is_stageable(given: object) -> bool:
    """Return whether something names a text file or a table of a database that hands it out in batches."""
    if not isinstance(given, str | os.PathLike):
        return False
    known = FORMATS.built_in
    name = str(given).lower()
    if is_url(given):
        return name.partition("://")[0] in {scheme for each in STREAMED for scheme in known[each].schemes}
    return name.endswith(known["csv"].suffixes)
