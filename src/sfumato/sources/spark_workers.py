"""What runs in the workers of Spark: they are asked what they have, pack rows, and write parts of a release."""

from __future__ import annotations

import os
import secrets
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato import __version__
from sfumato.exceptions import ReadError
from sfumato.sources.base import restore_time_zone
from sfumato.sources.packing import LARGEST, PackedField
from sfumato.sources.parts import PartsWriter
from sfumato.sources.spark_errors import missing_package_error, unshared_folder_error

InWorker: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

ASKED = 8  # workers that are asked what they have
SHIPPED = 50_000  # rows that a worker sends at once, about
ROW_GROUP = 500_000
FOUND = "version string, unseen string"
REPORT = "part int, rows bigint, file string, bytes bigint, high bigint, low bigint"
HALF = 2**32
CHANGED = -1  # the number of rows of a part that holds a combination nobody had counted


def check_workers(session: Any, folders: Sequence[Path]) -> None:
    """Ask some workers before any scan what they have, and refuse those that cannot take part."""
    ask = make_worker_probe([str(folder.resolve()) for folder in folders])
    asked = run_in_workers(session.range(0, ASKED, numPartitions=ASKED), ask, FOUND).collect()
    versions, missed = {each[0] for each in asked}, [each[1] for each in asked if each[1]]
    if None in versions:
        raise missing_package_error()
    if versions != {__version__}:
        raise ReadError(
            f"The workers of Spark have another version of Sfumato than this session; install {__version__} there."
        )
    if missed:
        raise unshared_folder_error(missed[0])


def make_worker_probe(folders: Sequence[str]) -> InWorker:
    """Return a function by which a worker tells its version of Sfumato, if any, and a folder that it may not write to.

    It travels by value: where Sfumato is missing, nothing of it can be loaded.
    """

    def ask(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        try:
            import sfumato
        except ImportError:
            version = None
        else:
            version = sfumato.__version__
        unseen = next((folder for folder in folders if not os.access(folder, os.W_OK | os.X_OK)), None)
        kinds = pa.schema({"version": pa.string(), "unseen": pa.string()})
        yield pa.RecordBatch.from_pydict({"version": [version], "unseen": [unseen]}, kinds)

    return ask


def run_in_workers(frame: Any, function: InWorker, kinds: str) -> Any:
    """Let workers run a function on Arrow batches; Spark warns of its pandas, which no row passes through."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return frame.mapInArrow(function, kinds)


def sum_hash_halves(hashed: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Sum up both halves of hashes, each of which lies around zero, as Spark does."""
    return int((hashed >> 32).sum()), int(((hashed & (HALF - 1)) - HALF // 2).sum())


def pack_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pack many rows into one cell."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= SHIPPED:
            yield pa.RecordBatch.from_arrays([pa.array([pack_batches(held)], pa.binary())], ["sent"])
            held, rows = [], 0
    if held:
        yield pa.RecordBatch.from_arrays([pa.array([pack_batches(held)], pa.binary())], ["sent"])


def unpack_rows(cell: bytes | bytearray) -> pa.Table:
    """Return the rows that were packed into a cell."""
    return pa.ipc.open_stream(bytes(cell)).read_all()


def pack_batches(held: Sequence[pa.RecordBatch], compression: str = "zstd") -> bytes:
    """Pack batches into one cell."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, held[0].schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as stream:
        for each in held:
            stream.write_batch(each)
    return bytes(sink.getvalue())


@dataclass(frozen=True, eq=False)
class PartWriter:
    """Writes rows, which come ordered by the number of their part, to one file per part, and sums up their hashes.

    Every attempt of a task writes into a folder of its own, so one that is killed or repeated spoils nothing: only what
    an attempt reports at its end is taken.

    Parameters
    ----------
    folder : where the parts are made, seen by all workers and by the session.
    sent : what the columns after the part and the hash tell, in their order: cells of a column, or ranks of groups.
    types : the types of columns that are published as they are.
    zones : the time zones of columns of moments.
    names : the published columns in their order.
    ordered : whether the rows of every part come in their order.
    """

    folder: str
    sent: tuple[PackedField | str, ...]
    types: Mapping[str, pa.DataType]
    zones: Mapping[str, str]
    names: tuple[str, ...]
    ordered: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write all rows of a task, and report its parts."""
        for part, runs in groupby(_iter_parts(batches), key=itemgetter(0)):
            report = {"part": pa.array([part], pa.int32())} | self._written(table for _, table in runs)
            yield pa.RecordBatch.from_pydict(report)

    def _written(self, tables: Iterator[pa.Table]) -> dict[str, list[Any]]:
        """Write one part; return its rows, its file, its size, and the sums of both halves of their hashes."""
        high = low = 0
        attempt = Path(self.folder) / f"attempt-{secrets.token_hex(8)}"
        attempt.mkdir(mode=0o700)  # never its parents: a worker that does not see the folder must not make one
        with PartsWriter(attempt) as writer:
            for table in rebatch(tables if self.ordered else iter([sort_rows(tables)]), ROW_GROUP):
                shown = self._read(table)
                if shown is None:
                    return {"rows": [CHANGED], "file": [""], "bytes": [0], "high": [0], "low": [0]}
                writer.write(shown)
                halves = sum_hash_halves(table.column(0).to_numpy())
                high, low = high + halves[0], low + halves[1]
        (name,) = writer.parts
        size = (attempt / name).stat().st_size
        return {
            "rows": [writer.rows],
            "file": [f"{attempt.name}/{name}"],
            "bytes": [size],
            "high": [high],
            "low": [low],
        }

    def _read(self, table: pa.Table) -> pa.Table | None:
        """Return rows as they are published; none if the rank of a group is missing."""
        columns: dict[str, pa.Array] = {}
        for at, told in enumerate(self.sent):
            cells = table.column(at + 1).combine_chunks()
            if isinstance(told, str):
                columns[told] = cells if pa.types.is_dictionary(cells.type) else cells.cast(self.types[told])
            elif cells.null_count:
                return None
            else:
                columns |= told.read(cells.to_numpy())
        return pa.table({name: restore_time_zone(columns[name], self.zones.get(name)) for name in self.names})


def sort_rows(tables: Iterable[pa.Table]) -> pa.Table:
    """Order rows by all columns but the first, the leftmost counting most, missing cells last; texts become codes.

    Columns are ranked one by one, and as many ranks as fit are packed into one whole number, which is sorted.
    """
    table = pa.concat_tables(tables)
    number, span = np.zeros(table.num_rows, dtype=np.int64), 1
    for at in range(1, table.num_columns):
        coded = table.column(at).combine_chunks().dictionary_encode()
        width = len(coded.dictionary) + 1
        ranks = np.full(width, width - 1, dtype=np.int64)
        ranks[pc.sort_indices(coded.dictionary).to_numpy()] = np.arange(width - 1)
        if span * width > LARGEST:
            _, number = np.unique(number, return_inverse=True)
            span = table.num_rows
        number = number * width + ranks[coded.indices.fill_null(width - 1).to_numpy(zero_copy_only=False)]
        span *= width
        if pa.types.is_string(coded.dictionary.type):
            table = table.set_column(at, table.column_names[at], coded)
    return table.take(pa.array(np.argsort(number, kind="stable")))


def _iter_parts(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
    """Yield rows of one part that follow each other, and the number of the part, which is their first column."""
    for batch in batches:
        parts = batch.column(0).to_numpy()
        table = pa.Table.from_batches([batch]).remove_column(0)
        bounds = [0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(parts)]
        for start, stop in pairwise(bounds):
            if stop > start:
                yield int(parts[start]), table.slice(start, stop - start)


def rebatch(tables: Iterator[pa.Table], most: int) -> Iterator[pa.Table]:
    """Yield the same rows in tables of one size, so that files do not tell how Spark dealt them."""
    held: list[pa.Table] = []
    rows = 0
    for table in tables:
        held.append(table)
        rows += table.num_rows
        while rows >= most:
            whole = pa.concat_tables(held)
            yield whole.slice(0, most)
            held, rows = [whole.slice(most)], rows - most
    if rows:
        yield pa.concat_tables(held)
