"""The parts of a table that is written as it comes."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import ReadError
from sfumato.io._parquet import is_multi_file, list_parquet_files

# The list of the parts of a published table, beside their folder: by it a reader knows that all are there, unchanged.
#
# An audit counts what it finds, and a table that lost whole groups still keeps its promise.

LIST, FORMAT = "parts.json", "sfumato-parts-1"


def write_parts_manifest(folder: Path) -> None:
    """Write beside a folder of Parquet files which there are, with the rows, the size and the SHA-256 of each."""
    parts = {
        path.name: {"rows": pq.read_metadata(path).num_rows, "bytes": path.stat().st_size, "sha256": _file_digest(path)}
        for path in sorted(folder.glob("*.parquet"))
    }
    told = {"format": FORMAT, "folder": folder.name, "parts": parts}
    (folder.parent / LIST).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8", newline="\n")


def check_parts_manifest(given: object) -> None:
    """Refuse a folder or pattern of Parquet files that are not those of the list beside their folder.

    A single file, or files without a list, may be anything.
    """
    if not isinstance(given, str | os.PathLike) or not is_multi_file(given):
        return
    found = {path.name: path for path in list_parquet_files(given)}
    folders = {path.parent for path in found.values()}
    if len(folders) != 1:
        return
    folder = folders.pop()
    parts = _read_manifest(folder)
    if parts is None:
        return
    missing = len(parts.keys() - found.keys())
    added = len(found.keys() - parts.keys())
    changed = sum(_file_digest(found[name]) != parts[name] for name in parts.keys() & found.keys())
    if missing or added or changed:
        raise ReadError(
            f"Of the {len(parts)} parts that {folder.parent / LIST} names, {missing} are missing and {changed} were "
            f"changed, and {added} other files are among them; get the release again from where it was made."
        )


def _read_manifest(folder: Path) -> dict[str, str] | None:
    """Read the SHA-256 of every part of a folder; None if nothing lists them."""
    path = folder.parent / LIST
    if not path.is_file():
        return None
    try:
        told: Any = json.loads(path.read_text(encoding="utf-8"))
        if told["format"] != FORMAT or told["folder"] != folder.name:
            return None
        return {str(name): str(part["sha256"]) for name, part in told["parts"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise ReadError(f"{path} is damaged; get the release again from where it was made.") from None


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


ROWS_PER_PART = 10_000_000
LARGEST_DICTIONARY = 64_000_000  # bytes; beyond them the texts of a column are written again for every row


class PartsWriter:
    """Writes batches into Parquet files of a new folder, named in their order.

    Every batch becomes a row group whose dictionaries hold nothing but the values that its own rows show.
    """

    def __init__(self, folder: Path, rows_per_part: int = ROWS_PER_PART) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.rows = 0
        self.parts: list[str] = []
        self._folder, self._rows_per_part, self._left = folder, rows_per_part, 0
        self._writer: pq.ParquetWriter | None = None

    def write(self, table: pa.Table) -> None:
        """Write some rows, and begin another part where one is full."""
        zoned = any(pa.types.is_timestamp(kind) and kind.tz for kind in table.schema.types)
        while table.num_rows:
            some = table.slice(0, self._left or self._rows_per_part)
            shown = pa.table({name: _drop_unused_values(some[name], plain=zoned) for name in some.column_names})
            writer = self._writer if self._left and self._writer else self._next(shown.schema, zoned=zoned)
            writer.write_table(shown)
            self.rows += some.num_rows
            self._left -= some.num_rows
            table = table.slice(some.num_rows)

    def _next(self, schema: pa.Schema, *, zoned: bool) -> pq.ParquetWriter:
        self._close()
        name = f"part-{len(self.parts):05}.parquet"
        path = self._folder / name
        writer = pq.ParquetWriter(
            path,
            schema,
            compression="zstd",
            write_page_checksum=True,
            store_schema=zoned,
            dictionary_pagesize_limit=LARGEST_DICTIONARY,
            write_statistics=[
                field.name for field in schema if not _contains_texts(field.type)
            ],  # of sets, nobody needs them
        )
        self._writer, self._left = writer, self._rows_per_part
        self.parts.append(name)
        return writer

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()


def _contains_texts(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or (pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type)))


def _drop_unused_values(column: pa.ChunkedArray, *, plain: bool) -> pa.ChunkedArray:
    """Leave out of dictionaries what no row shows: a file would carry along values of people who were left out."""
    if not pa.types.is_dictionary(column.type):
        return column
    if plain:
        return column.cast(column.type.value_type)
    combined = pa.concat_arrays(column.unify_dictionaries().chunks)
    return pa.chunked_array([compact_dictionary(combined)])


def compact_dictionary(chunk: pa.DictionaryArray) -> pa.DictionaryArray:
    """Leave out of a dictionary what no cell shows."""
    indices = chunk.indices
    known = (indices.drop_null() if indices.null_count else indices).to_numpy()
    used = np.zeros(len(chunk.dictionary), dtype=np.bool_)
    used[known] = True
    if used.all():
        return chunk
    place = np.cumsum(used, dtype=np.int32) - np.int32(1)
    fewer = pa.array(place).take(indices) if indices.null_count else pa.array(place[known])
    return pa.DictionaryArray.from_arrays(fewer, chunk.dictionary.filter(pa.array(used)), safe=False)
