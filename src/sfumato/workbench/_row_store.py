"""Rows kept in a file that is mapped, not loaded, so that a page of any of them is at hand at once."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from sfumato.core._atomic_writes import atomic_path
from sfumato.io._values import format_values

BATCH = 1 << 16


def write_rows(table: pa.Table, path: Path) -> None:
    """Write a table so that `RowStore` finds any row of it; an older file is replaced."""
    with (
        atomic_path(path) as temporary,
        pa.OSFile(str(temporary), "wb") as sink,
        pa.ipc.new_file(sink, table.schema) as writer,
    ):
        writer.write_table(table, max_chunksize=BATCH)


class RowStore:
    """A table in a file, of which only the rows that are asked for are read.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_rows(pa.table({"age": [39, None, 50]}), Path(folder) / "rows.arrow")
    ...     rows = RowStore(Path(folder) / "rows.arrow")
    ...     rows.count, rows.columns, rows.texts(1, 5)
    (3, ['age'], [[None, '50']])
    """

    def __init__(self, path: Path) -> None:
        self._reader = pa.ipc.open_file(pa.memory_map(str(path)))
        self._first = [0]
        for number in range(self._reader.num_record_batches):
            self._first.append(self._first[-1] + self._reader.get_batch(number).num_rows)

    @property
    def count(self) -> int:
        """The number of rows."""
        return self._first[-1]

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._reader.schema.names)

    def table(self) -> pa.Table:
        """Return the whole table, mapped."""
        return self._reader.read_all()

    def texts(self, first: int, count: int) -> list[list[str | None]]:
        """Return the texts of some rows, column by column; a missing cell is None."""
        last = min(first + count, self.count)
        parts = [
            self._reader.get_batch(number).slice(max(first - start, 0), last - max(first, start))
            for number, start in enumerate(self._first[:-1])
            if start < last and first < self._first[number + 1]
        ]
        found = pa.Table.from_batches(parts, self._reader.schema)
        return [format_values(_decode_column(column)).to_pylist() for column in found.columns]


def _decode_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of a few rows, so that nothing is done with the whole dictionary."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
