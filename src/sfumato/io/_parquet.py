"""Tables as Parquet files."""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import ReadError
from sfumato.io._columns import strip_metadata
from sfumato.io._dataframes import to_canonical, to_text_table
from sfumato.io._limits import MAX_COLUMNS, format_too_many_columns

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence


# Columns that stand in the names of folders, such as `year=2026`, in place of the Parquet files inside.

MISSING = "__HIVE_DEFAULT_PARTITION__"
WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")  # 007 and longer numbers are texts
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read_partition_columns(files: Sequence[Path], folder: Path) -> dict[str, pa.Array]:
    """Return the columns that the folders of some files name, with one cell per file; none if not all files have them.

    The type belongs to the whole column: whole numbers, days, or else texts.

    Parameters
    ----------
    files : the files, all of them somewhere in the folder.
    folder : the folder that users name; what stands above it means nothing.
    """
    inside = [file.relative_to(folder).parts[:-1] for file in files] if folder.is_dir() else []
    if not inside or not all(parts and all("=" in part for part in parts) for parts in inside):
        return {}
    pairs = [[tuple(map(unquote, part.split("=", 1))) for part in parts] for parts in inside]
    names = [name for name, _ in pairs[0]]
    if len(set(names)) < len(names) or any([name for name, _ in each] != names for each in pairs):
        raise ReadError(f"The folders in {folder} do not all name the same columns, each once; name one of them.")
    return {name: _infer_type([each[at][1] for each in pairs]) for at, name in enumerate(names)}


def check_partition_columns(names: Sequence[str], added: Sequence[str]) -> None:
    """Refuse files that have a column which a folder names, too: nobody could tell which one counts."""
    twice = [name for name in added if name in names]
    if twice:
        raise ReadError(
            f"Column {twice[0]!r} is in the files and in the names of their folders; rename one, or name a pattern."
        )


def _infer_type(texts: Sequence[str]) -> pa.Array:
    known = [None if text in {"", MISSING} else text for text in texts]
    found = [text for text in known if text is not None]
    if found and all(map(WHOLE.fullmatch, found)):
        return pa.array([None if text is None else int(text) for text in known], pa.int64())
    try:
        if found and all(map(DAY.fullmatch, found)):
            return pa.array([None if text is None else date.fromisoformat(text) for text in known], pa.date32())
    except ValueError:  # the 31st of February
        pass
    return pa.array(known, pa.string())


PARQUET = (".parquet", ".pq")


def list_parquet_files(given: str | os.PathLike[str]) -> list[Path]:
    """Find the Parquet files that a path, a folder or a pattern such as `census/*.parquet` names, in a fixed order.

    Files whose names begin with a dot or an underscore are not data.
    """
    path = Path(given)
    if path.is_dir():
        found = [each for each in path.rglob("*") if each.suffix in PARQUET]
    elif path.is_file():
        return [path]
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


def is_multi_file(given: str | os.PathLike[str]) -> bool:
    """Return whether something names several Parquet files: a folder that holds some, or a pattern."""
    path = Path(given)
    if path.is_dir():
        return any(each.suffix in PARQUET for each in path.rglob("*"))
    return path.suffix in PARQUET and not path.exists() and bool(set("*?[") & set(str(given)))


def is_parquet(given: str | os.PathLike[str]) -> bool:
    """Return whether something names one or several Parquet files."""
    return Path(given).suffix in PARQUET or is_multi_file(given)


def read_parquet(path: Path, *, as_text: bool = False) -> pa.Table:
    """Read a Parquet file, or all of a folder or pattern, as a canonical table, or as texts.

    An unnamed pandas index is dropped. The names of folders such as `year=2026` are columns, too.
    """
    files = list_parquet_files(path)
    found = _add_partition_columns(_concatenate_tables([_read_file(file) for file in files]), files, path)
    return to_text_table(found) if as_text else to_canonical(found)


def _read_file(path: Path) -> pa.Table:
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            width = len(file.schema_arrow.names)
            if width > MAX_COLUMNS:
                raise ReadError(format_too_many_columns(str(path), width))
            table = file.read()
        table.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise ReadError(f"{path} is not a complete Parquet file; create or download it again.") from None
    index = [name for name in table.column_names if re.fullmatch(r"__index_level_\d+__", name)]
    return table.drop_columns(index) if index else table


def _add_partition_columns(joined: tuple[pa.Table, Sequence[int]], files: Sequence[Path], folder: Path) -> pa.Table:
    """Add the columns that the folders of files name."""
    table, sizes = joined
    added = read_partition_columns(files, folder)
    check_partition_columns(table.column_names, list(added))
    at = pa.array(np.repeat(np.arange(len(files)), sizes))
    for name, cells in added.items():
        table = table.append_column(name, cells.take(at))
    return table


def _concatenate_tables(tables: Sequence[pa.Table]) -> tuple[pa.Table, Sequence[int]]:
    """Put tables with the same columns one below the other, and return how many rows each has.

    Categories are texts like others: some files of a folder may code them, and others not.
    """
    sizes = [table.num_rows for table in tables]
    tables = tables if len(tables) == 1 else [strip_metadata(table) for table in tables]
    names = tables[0].column_names
    strange = sum(table.column_names != names for table in tables)
    try:
        if not strange:
            return pa.concat_tables(tables, promote_options="permissive"), sizes
    except pa.ArrowException:
        strange = len(tables) - 1
    raise ReadError(f"{strange} of {len(tables)} Parquet files have other columns than the first; name a pattern.")


def write_parquet_batches(reader: pa.RecordBatchReader, path: Path) -> None:
    """Write a table that comes in batches, none of which is kept."""
    with pq.ParquetWriter(path, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write a canonical table; equal tables give equal bytes with the same version of Arrow."""
    pq.write_table(
        table.replace_schema_metadata(None).combine_chunks(),
        path,
        compression="zstd",
        write_page_checksum=True,
    )
