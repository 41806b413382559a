"""From what users name, a file, a folder, a pattern or a dataset, to a table in an engine."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import InvalidParameterError, ReadError, SchemaError, WriteError
from sfumato.io._columns import is_text_type
from sfumato.io._csv_batches import CSVConverter
from sfumato.io._database import resolve_database_file, stream_database
from sfumato.io._parquet import check_partition_columns, read_partition_columns, write_parquet_batches
from sfumato.io._reading import check_readable_file, select_options
from sfumato.io.formats import FORMATS, FileFindings, Option, is_url, resolve_format
from sfumato.tables.engines._duckdb_source import DuckDBSource
from sfumato.tables.engines._duckdb_sql import FILE, select_parquet
from sfumato.tables.engines._source import check_case_insensitive_names


def sum_uncompressed_bytes(files: Sequence[Path], names: Sequence[str] | None) -> int:
    """Sum the bytes that some columns of Parquet files, or all, take in memory, as their footers say."""
    total = 0
    for file in files:
        try:
            footer = pq.read_metadata(file)
        except (pa.ArrowException, OSError):
            raise ReadError(f"{file} is not a complete Parquet file; create or download it again.") from None
        for at in range(footer.num_row_groups):
            group = footer.row_group(at)
            for column in range(group.num_columns):
                chunk = group.column(column)
                if names is None or chunk.path_in_schema.partition(".")[0] in names:
                    total += chunk.total_uncompressed_size
    return total


def open_parquet_source(
    files: Sequence[Path], *, memory: int, temporary: Path, folder: Path | None = None
) -> DuckDBSource:
    """Open Parquet files in DuckDB; the names of folders such as `year=2026` are columns, too."""
    schema = _read_schema(files[0])
    added = {} if folder is None else read_partition_columns(files, folder)
    check_partition_columns(schema.names, list(added))
    if added and FILE in map(str.lower, schema.names):
        raise SchemaError(f"Column {FILE!r} has a name that is needed beyond memory; rename it.")
    check_case_insensitive_names([*schema.names, *added])
    others = sum(_describe_columns(_read_schema(file)) != _describe_columns(schema) for file in files[1:])
    if others:
        raise ReadError(
            f"{others} of {len(files)} Parquet files have other columns, or other types of them, than the first; write "
            "them alike, or name a pattern of those that are."
        )
    zones = {field.name: field.type.tz for field in schema if pa.types.is_timestamp(field.type) and field.type.tz}
    return DuckDBSource(select_parquet(files, added), memory=memory, temporary=temporary, zones=zones)


def _describe_columns(schema: Any) -> list[tuple[str, Any]]:
    """Return names and types, whatever categories are coded as: an engine would cast other types without a word."""
    kinds = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in schema.types]
    return [(name, pa.string() if is_text_type(kind) else kind) for name, kind in zip(schema.names, kinds, strict=True)]


def _read_schema(file: Path) -> Any:
    try:
        return pq.read_schema(file)
    except (pa.ArrowException, OSError):
        raise ReadError(f"{file} is not a complete Parquet file; create or download it again.") from None


# What engines do not read by our rules, written as Parquet first: text files, and tables of databases.

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
