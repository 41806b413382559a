"""Tables as Parquet files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.exceptions import ReadError
from sfumato.table.frames import all_texts, canonical
from sfumato.table.limits import MOST_COLUMNS, too_many_columns

if TYPE_CHECKING:
    from pathlib import Path


def read_parquet(path: Path, *, as_text: bool = False) -> pa.Table:
    """Read a Parquet file as a canonical table, or as texts; an unnamed pandas index is dropped."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            width = len(file.schema_arrow.names)
            if width > MOST_COLUMNS:
                raise ReadError(too_many_columns(str(path), width))
            table = file.read()
        table.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise ReadError(f"{path} is not a complete Parquet file; create or download it again.") from None
    index = [name for name in table.column_names if re.fullmatch(r"__index_level_\d+__", name)]
    found = table.drop_columns(index) if index else table
    return all_texts(found) if as_text else canonical(found)


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write a canonical table; equal tables give equal bytes with the same version of Arrow."""
    pq.write_table(
        table.replace_schema_metadata(None).combine_chunks(),
        path,
        compression="zstd",
        write_page_checksum=True,
    )
