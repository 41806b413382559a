"""From what users name, a file, a folder, a pattern or a dataset, to a table in an engine."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.exceptions import ReadError
from sfumato.sources.duckdb_source import DuckDBSource, parquet_query

PARQUET = (".parquet", ".pq")


def parquet_files(given: str | os.PathLike[str]) -> list[Path]:
    """Find the Parquet files that a path, a folder or a pattern such as `census/*.parquet` names, in a fixed order.

    Files whose names begin with a dot or an underscore are not data.
    """
    path = Path(given)
    if path.is_dir():
        found = [each for each in path.rglob("*") if each.suffix in PARQUET]
    elif path.is_file():
        found = [path]
    else:
        found = [Path(each) for each in glob.glob(str(given), recursive=True)]  # noqa: PTH207 - the pattern may be absolute
    files = sorted(each for each in found if each.is_file() and not _hidden(each, path))
    if not files:
        raise ReadError(f"There is no Parquet file in {given}; name a folder, a file or a pattern of some.")
    strange = [each for each in files if each.suffix not in PARQUET]
    if strange:
        raise ReadError(f"{len(strange)} of the {len(files)} files of {given} are no Parquet files; name a pattern.")
    return files


def _hidden(file: Path, folder: Path) -> bool:
    below = file.relative_to(folder).parts if folder.is_dir() else (file.name,)
    return any(part.startswith((".", "_")) for part in below)


def is_parquet(given: str | os.PathLike[str]) -> bool:
    """Return whether something names Parquet files: one, a folder of them, or a pattern."""
    path = Path(given)
    return path.suffix in PARQUET or path.is_dir()


def uncompressed(files: Sequence[Path], names: Sequence[str]) -> int:
    """Sum the bytes that some columns of Parquet files take in memory, as their footers say."""
    wanted, total = set(names), 0
    for file in files:
        try:
            footer = pq.read_metadata(file)
        except (pa.ArrowException, OSError):
            raise ReadError(f"{file} is not a complete Parquet file; create or download it again.") from None
        for at in range(footer.num_row_groups):
            group = footer.row_group(at)
            for column in range(group.num_columns):
                chunk = group.column(column)
                if chunk.path_in_schema.partition(".")[0] in wanted:
                    total += chunk.total_uncompressed_size
    return total


def open_parquet(files: Sequence[Path], *, memory: int, temporary: Path, folder: Path | None = None) -> DuckDBSource:
    """Open Parquet files in DuckDB; the names of folders such as `year=2026` are columns, too."""
    schema = _schema(files[0])
    zones = {field.name: field.type.tz for field in schema if pa.types.is_timestamp(field.type) and field.type.tz}
    inside = [] if folder is None else [file.relative_to(folder).parts[:-1] for file in files]
    partitioned = bool(inside) and all(parts and all("=" in part for part in parts) for parts in inside)
    query = parquet_query(files, partitioned=partitioned)
    return DuckDBSource(query, memory=memory, temporary=temporary, zones=zones)


def _schema(file: Path) -> Any:
    try:
        return pq.read_schema(file)
    except (pa.ArrowException, OSError):
        raise ReadError(f"{file} is not a complete Parquet file; create or download it again.") from None
