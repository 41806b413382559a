"""Rows that workers of Spark have coded: kept next to them, looked at often, and brought together by their numbers.

Many rows are packed into one cell, so what Spark keeps, shuffles and hands to Python is few and large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato import exceptions
from sfumato.exceptions import ReadError, SfumatoError
from sfumato.sources.base import Code
from sfumato.sources.spark_errors import reworded_spark_errors
from sfumato.sources.spark_workers import pack_batches, run_in_workers, sum_hash_halves

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
        raise getattr(exceptions, kind, SfumatoError)(sentence)


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
