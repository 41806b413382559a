"""From what users name, a file, a folder, a pattern or a dataset, to a table in an engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.exceptions import ReadError
from sfumato.sources.duckdb_source import DuckDBSource, parquet_query


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
