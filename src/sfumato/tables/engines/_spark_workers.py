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

from sfumato import __version__, errors
from sfumato.errors import ReadError, SfumatoError
from sfumato.io._parquet_parts import PartsWriter
from sfumato.tables.engines._packing import LARGEST, PackedField
from sfumato.tables.engines._source import Code, restore_time_zone
from sfumato.tables.engines._spark_errors import missing_package_error, reworded_spark_errors, unshared_folder_error

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


# Rows that workers of Spark have coded: kept next to them, looked at often, and brought together by their numbers.
#
# Many rows are packed into one cell, so what Spark keeps, shuffles and hands to Python is few and large.

CODED = "codes binary, rest binary, rows bigint, hashed bigint, high bigint, low bigint, failed string"
DEALT = "number int, sent binary"
REPLY = "sent binary, failed string"
TOGETHER = 100_000  # rows, or
BYTES_TOGETHER = 1 << 24  # bytes that are coded and packed at once
DEALT_TOGETHER = 1_000_000  # rows that are dealt at once
ADDERS = 4  # workers that add up what all have found
PACKED = "lz4"
AT_ONCE = 100  # things whose replies are fetched together

Look: TypeAlias = Callable[[Iterator[pa.RecordBatch]], bytes]
Add: TypeAlias = Callable[[Iterator[bytes]], bytes]
Deal: TypeAlias = Callable[[pa.RecordBatch], npt.NDArray[np.int32]]
Work: TypeAlias = Callable[[int, Iterator[pa.RecordBatch]], bytes]


class SparkWorkerRows:
    """Rows of a DataFrame that workers coded; they are kept until they are let go.

    Parameters
    ----------
    frame : the cells that are coded, and last the hash of every row as it was digested.
    coding : how they are coded.
    digested : the sums of both halves of these hashes, of all rows.
    """

    def __init__(self, frame: Any, coding: EncodeTask, digested: Sequence[int]) -> None:
        self._frame = run_in_workers(frame, coding, CODED).persist()
        try:
            self.rows, self.hashed, self.size = self._collect_facts(digested)
        except BaseException:
            self.close()
            raise

    def _collect_facts(self, digested: Sequence[int]) -> tuple[int, int, int]:
        with reworded_spark_errors("read"):
            sizes = "length(codes) + length(rest)"
            found = self._frame.selectExpr("rows", "hashed", sizes, "high", "low", "failed").collect()
        _raise_worker_error([each[-1] for each in found])
        rows, hashed, size, *halves = (sum(column) for column in list(zip(*found, strict=True))[:-1])
        if halves != list(digested):
            raise ReadError("The table changed while it was read; make the release again.")
        return rows, hashed % 2**64, size

    def gather(self, look: Look, add: Add) -> list[bytes]:
        """Let workers look at the codes of all rows, each at its own, and add up what they found."""
        seen = run_in_workers(self._frame.select("codes"), InspectTask(look), "sent binary")
        with reworded_spark_errors("read"):
            return [
                bytes(each[0])
                for each in run_in_workers(seen.repartition(ADDERS), SumTask(add), "sent binary").collect()
            ]

    def finish(self, deal: Deal, numbers: int, work: Work) -> list[bytes]:
        """Bring rows of one number together in one worker, and let it work on them."""
        dealt = run_in_workers(self._frame.select("codes", "rest"), PartitionTask(deal), DEALT)
        with reworded_spark_errors("write"):
            replies = run_in_workers(dealt.repartitionById(numbers, "number"), GroupTask(work), REPLY).collect()
        return _read_replies(replies)

    def close(self) -> None:
        """Let go of the rows."""
        self._frame.unpersist()


def map_in_workers(session: Any, items: Sequence[str], work: Callable[[str], bytes]) -> Iterator[bytes]:
    """Let workers work on some things, each in a task of its own."""
    for begin in range(0, len(items), AT_ONCE):
        some = list(items[begin : begin + AT_ONCE])
        sent = pa.table({"at": pa.array(range(len(some)), pa.int32()), "item": some})
        with reworded_spark_errors("write"):
            frame = session.createDataFrame(sent, schema="at int, item string").repartitionById(len(some), "at")
            replies = run_in_workers(frame, ItemTask(work), f"at int, {REPLY}").collect()
        yield from _read_replies([each[1:] for each in sorted(replies, key=itemgetter(0))])


def _read_replies(replies: Sequence[Any]) -> list[bytes]:
    _raise_worker_error([each[-1] for each in replies])
    return [bytes(each[0]) for each in replies]


def _raise_worker_error(failed: Sequence[str | None]) -> None:
    """Refuse what a worker refused, in its words."""
    said = next(filter(None, failed), None)
    if said is not None:
        kind, _, sentence = said.partition(": ")
        raise getattr(errors, kind, SfumatoError)(sentence)


def _error_text(error: SfumatoError) -> str:
    return f"{type(error).__name__}: {error}"


@dataclass(frozen=True, eq=False)
class EncodeTask:
    """Codes rows in a worker.

    Parameters
    ----------
    code : codes some rows.
    types : the names and types of the cells.
    """

    code: Code
    types: Mapping[str, pa.DataType]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Code all rows of a task, many at a time."""
        for table in _combine_batches(batches):
            high, low = sum_hash_halves(table.column(table.num_columns - 1).to_numpy())
            named = table.remove_column(table.num_columns - 1).rename_columns(list(self.types))
            (batch,) = named.cast(pa.schema(self.types)).combine_chunks().to_batches()
            sums = {"rows": [batch.num_rows], "hashed": [0], "high": [high], "low": [low]}
            try:
                codes, rest, hashed = self.code(batch)
            except SfumatoError as error:
                yield _make_batch(CODED, {"codes": [b""], "rest": [b""], **sums, "failed": [_error_text(error)]})
                return
            sums["hashed"] = np.array([hashed % 2**64], dtype=np.uint64).view(np.int64).tolist()
            yield _make_batch(
                CODED,
                {
                    "codes": [pack_batches([codes], PACKED)],
                    "rest": [pack_batches([rest], PACKED)],
                    **sums,
                    "failed": [None],
                },
            )


@dataclass(frozen=True, eq=False)
class InspectTask:
    """Looks in a worker at the codes of all rows of a task."""

    look: Look

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return what was found."""
        yield _make_batch(
            "sent binary", {"sent": [self.look(each for batch in batches for each in _unpack_cells(batch["codes"]))]}
        )


@dataclass(frozen=True, eq=False)
class SumTask:
    """Adds up in a worker what several have found."""

    add: Add

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return the sum, if there is anything to add."""
        found = [cell.as_py() for batch in batches for cell in batch["sent"]]
        if found:
            yield _make_batch("sent binary", {"sent": [self.add(iter(found))]})


@dataclass(frozen=True, eq=False)
class PartitionTask:
    """Puts rows of one number together in a worker, and packs them."""

    deal: Deal

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Deal all rows of a task, many at a time."""
        held: list[tuple[pa.RecordBatch, pa.RecordBatch]] = []
        rows = 0
        for batch in batches:
            for codes, rest in zip(_unpack_cells(batch["codes"]), _unpack_cells(batch["rest"]), strict=True):
                held.append((codes, rest))
                rows += codes.num_rows
                if rows >= DEALT_TOGETHER:
                    yield from self._partition(held)
                    held, rows = [], 0
        if held:
            yield from self._partition(held)

    def _partition(self, held: Sequence[tuple[pa.RecordBatch, pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
        codes, rest = (pa.concat_batches(each) for each in zip(*held, strict=True))
        number = self.deal(codes)
        order = np.argsort(number, kind="stable")
        table = pa.RecordBatch.from_arrays(
            [*codes.columns, *rest.columns], [*codes.schema.names, *rest.schema.names]
        ).take(pa.array(order))
        numbers, starts = np.unique(number[order], return_index=True)
        for each, (start, stop) in zip(numbers.tolist(), pairwise([*starts.tolist(), len(order)]), strict=True):
            if each >= 0:
                yield _make_batch(
                    DEALT, {"number": [each], "sent": [pack_batches([table.slice(start, stop - start)], PACKED)]}
                )


@dataclass(frozen=True, eq=False)
class GroupTask:
    """Works in a worker on rows of one number."""

    work: Work

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return what came of it."""
        pieces = (
            piece
            for batch in batches
            for piece in zip(batch["number"].to_pylist(), _unpack_cells(batch["sent"]), strict=True)
        )
        for number, some in groupby(pieces, key=itemgetter(0)):
            yield _make_batch(REPLY, _reply(lambda: self.work(number, (rows for _, rows in some))))  # noqa: B023 - called at once


@dataclass(frozen=True, eq=False)
class ItemTask:
    """Works in a worker on things one by one."""

    work: Callable[[str], bytes]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return what came of each."""
        for batch in batches:
            for at, item in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield _make_batch(f"at int, {REPLY}", {"at": [at], **_reply(lambda: self.work(item))})  # noqa: B023 - called at once


def _reply(work: Callable[[], bytes]) -> dict[str, list[Any]]:
    try:
        return {"sent": [work()], "failed": [None]}
    except SfumatoError as error:
        return {"sent": [b""], "failed": [_error_text(error)]}


ARROW = {"binary": pa.binary(), "bigint": pa.int64(), "int": pa.int32(), "string": pa.string()}


def _make_batch(kinds: str, cells: Mapping[str, Sequence[Any]]) -> pa.RecordBatch:
    """Make a batch of columns that are declared as Spark does it."""
    declared = [each.split() for each in kinds.split(", ")]
    return pa.RecordBatch.from_pydict({name: pa.array(cells[name], ARROW[kind]) for name, kind in declared})


def _unpack_cells(column: pa.Array) -> Iterator[pa.RecordBatch]:
    """Unpack cells, each to the batch that was packed into it."""
    return (pa.ipc.open_stream(cell.as_buffer()).read_next_batch() for cell in column)


def _combine_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the same rows in larger tables, none of them empty."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        held.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= TOGETHER or size >= BYTES_TOGETHER:
            yield pa.Table.from_batches(held)
            held, rows, size = [], 0, 0
    if rows:
        yield pa.Table.from_batches(held)
