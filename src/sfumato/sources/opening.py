"""From what users name, a file, a folder, a pattern or a dataset, to a table in an engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.exceptions import ReadError, SchemaError
from sfumato.sources.base import check_case_insensitive_names
from sfumato.sources.duckdb_queries import FILE, select_parquet
from sfumato.sources.duckdb_source import DuckDBSource
from sfumato.table.columns import is_text_type
from sfumato.table.formats.partitions import check_partition_columns, read_partition_columns


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
