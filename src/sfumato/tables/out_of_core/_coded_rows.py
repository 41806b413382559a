"""Rows as codes in temporary files: what is cut and parted many times is read from there, not from the original."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core._kernels.grouping import stable_argsort
from sfumato.encoding.domain import Domain
from sfumato.errors import ReadError
from sfumato.tables.algorithms._segments.streamed import Batch, CutTree
from sfumato.tables.engines._source import DistributedSource, EngineSource, TableProfile, ValueMapping

# Hashes of rows, summed up: what was parted and written apart is still what was read, whatever its order.

Hashes = npt.NDArray[np.uint64]
MIXER = 0x9E3779B97F4A7C15
LETTER = 0x100000001B3
INVERSE = pow(LETTER, -1, 2**64)
WORD = 64  # bits
AT_ONCE = 1 << 15  # rows whose hashes stay in the processor's cache
MISSING = 0xA5A5A5A5A5A5A5A5


def hash_rows(columns: Sequence[pa.Array]) -> int:
    """Hash every row, with its columns in their order, and sum the hashes modulo 2^64.

    Examples
    --------
    >>> rows, parted = pa.array([1, 2, None]), [pa.array([None, 1]), pa.array([2])]
    >>> hash_rows([rows]) == sum(hash_rows([part]) for part in parted) % 2**64
    True
    """
    hashes = (
        hash_each([column.slice(start, AT_ONCE) for column in columns]).sum(dtype=np.uint64)
        for start in range(0, len(columns[0]), AT_ONCE)
    )
    return sum(map(int, hashes)) % 2**64


def hash_each(columns: Sequence[pa.Array]) -> Hashes:
    """Hash every row, with its columns in their order."""
    total: Hashes = np.zeros(len(columns[0]), dtype=np.uint64)
    for place, word in enumerate(_words(columns)):
        total ^= word
        total *= np.uint64(MIXER)
        total += np.uint64(place + 1)
        total ^= total >> np.uint64(29)
    return total


def _words(columns: Sequence[pa.Array]) -> Iterator[Hashes]:
    """Return a number for every cell of every column; codes, which are never missing, share one where they fit."""
    word, used = None, 0
    for column in columns:
        if not pa.types.is_unsigned_integer(column.type):
            yield _bits(column)
            continue
        width = column.type.bit_width
        if word is not None and used + width <= WORD:
            word <<= np.uint64(width)
            word |= column.to_numpy()
            used += width
            continue
        if word is not None:
            yield word
        word, used = column.to_numpy().astype(np.uint64), width
    if word is not None:
        yield word


def _bits(column: pa.Array) -> Hashes:
    """Return a number for every cell, the same for equal cells; texts are hashed."""
    kind, bits = column.type, np.zeros(0, dtype=np.uint64)
    if pa.types.is_string(kind):
        encoded = column.dictionary_encode()  # most texts occur many times
        places = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
        bits = np.append(_text_hashes(encoded.dictionary), np.uint64(MISSING))[places]
    elif pa.types.is_floating(kind):
        bits = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False).view(np.uint64)
    else:
        narrow = pa.types.is_date32(kind) or pa.types.is_boolean(kind)
        numbers = column.cast(pa.int32()) if narrow else column
        bits = numbers.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False).view(np.uint64)
    if column.null_count:
        bits = np.where(pc.is_null(column).to_numpy(zero_copy_only=False), np.uint64(MISSING), bits)
    return bits


def _text_hashes(column: pa.Array) -> Hashes:
    """Hash texts by the powers of a number, which begin anew for every text."""
    _, offsets, letters = column.buffers()
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    first, last = int(ends[0]), int(ends[-1])
    data = np.zeros(0, dtype=np.uint8) if letters is None else np.frombuffer(letters, np.uint8)[first:last]
    sums = np.zeros(last - first + 1, dtype=np.uint64)
    np.cumsum((data.astype(np.uint64) + np.uint64(1)) * _powers(LETTER, len(data)), out=sums[1:])
    starts, stops = ends[:-1] - first, ends[1:] - first
    hashed: Hashes = (sums[stops] - sums[starts]) * _powers(INVERSE, len(data) + 1)[starts]
    return hashed + (stops - starts).astype(np.uint64)


def _powers(base: int, count: int) -> Hashes:
    """Return the powers of a number modulo 2^64, beginning with the zeroth."""
    factors = np.full(count, base, dtype=np.uint64)
    factors[:1] = 1
    return np.multiply.accumulate(factors)


TOGETHER = ("codes", "cells")  # the files of all rows
MOST_FILES = 200  # that are written at once
MOST_LOOKED_UP = 200_000  # values of a column that an engine looks up
PACKED = pa.ipc.IpcWriteOptions(compression="lz4")
PLAIN = pa.ipc.IpcWriteOptions()  # of codes, which are read once for every depth of cuts and hardly become smaller


@dataclass(frozen=True, eq=False)
class RowCoder:
    """Codes the rows of a table: quasi-identifiers and watched columns by their domains, kept texts by their ranks.

    Parameters
    ----------
    quasi, watched : the domains of the quasi-identifiers, and of the sensitive columns that models read.
    kept : the columns that are published as they are.
    texts : the values of those kept columns that have few texts, in their order.
    ready : the columns that come as codes or ranks already.
    """

    quasi: tuple[Domain, ...]
    watched: tuple[Domain, ...]
    kept: tuple[str, ...]
    texts: Mapping[str, pa.Array]
    ready: frozenset[str] = frozenset()

    def look_ups(self) -> dict[str, ValueMapping]:
        """Say which codes or ranks stand for the values of those columns that are only read as one of both."""
        domains = {domain.name: domain for domain in (*self.quasi, *self.watched)}
        found = {}
        for name, domain in domains.items():
            if name not in self.kept and len(domain) <= MOST_LOOKED_UP:
                values = pa.concat_arrays([domain.values, pa.nulls(1, domain.values.type)])
                found[name] = ValueMapping(values, pa.array(domain.encode(pa.chunked_array([values]))))
        for name, texts in self.texts.items():
            if name not in domains:
                ranks = pa.array([*range(len(texts)), None], pa.int32())
                found[name] = ValueMapping(pa.concat_arrays([texts, pa.nulls(1, texts.type)]), ranks)
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(dict.fromkeys((*(domain.name for domain in (*self.quasi, *self.watched)), *self.kept)))

    def coded(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch, int]:
        """Code some rows; return their codes, their kept columns, and the sum of the hashes of both."""
        codes, cells = self.codes(batch), self.cells(batch)
        return codes, cells, hash_rows([*codes.columns, *cells.columns])

    def codes(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Code the quasi-identifiers and watched columns of some rows."""
        coded = [self._coded(domain, batch.column(domain.name)) for domain in (*self.quasi, *self.watched)]
        return pa.RecordBatch.from_arrays(coded, [f"code {at}" for at in range(len(coded))])

    def _coded(self, domain: Domain, column: pa.Array) -> pa.Array:
        return column if domain.name in self.ready else pa.array(domain.encode(pa.chunked_array([column])))

    def cells(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the kept columns of some rows, few texts as their ranks."""
        kept = [self._ranked(name, batch.column(name)) for name in self.kept]
        return pa.RecordBatch.from_arrays(kept, [f"kept {at}" for at in range(len(kept))])

    def _ranked(self, name: str, column: pa.Array) -> pa.Array:
        if name not in self.texts or name in self.ready:
            return column
        ranks = pc.index_in(column, value_set=self.texts[name])
        if ranks.null_count != column.null_count:
            raise ReadError("The table changed while it was read; make the release again.")
        return ranks

    def batch(self, coded: pa.RecordBatch) -> Batch:
        """Return the codes of some rows as a search reads them."""
        cut = len(self.quasi)
        columns = [coded.column(at).to_numpy() for at in range(cut + len(self.watched))]
        return Batch.from_columns(columns[:cut], columns[cut:])

    def original(self, coded: pa.RecordBatch) -> dict[str, pa.Array]:
        """Return the kept columns as they were."""
        found = {}
        for at, name in enumerate(self.kept):
            cells = coded.column(f"kept {at}")
            found[name] = pa.DictionaryArray.from_arrays(cells, self.texts[name]) if name in self.texts else cells
        return found


@dataclass(frozen=True, eq=False)
class CodedRows:
    """All rows of a table in two files with the same batches: their codes, which are read many times, and all else.

    `hashed` sums a hash of every row, whatever their order; `size` is that of both files in bytes.
    """

    coder: RowCoder
    folder: Path
    rows: int
    hashed: int
    size: int

    @classmethod
    def write(cls, coder: RowCoder, batches: Iterable[pa.RecordBatch], folder: Path) -> CodedRows:
        """Code all rows of a table, batch by batch."""
        rows = hashed = 0
        with ExitStack() as files:
            codes, cells = (
                BatchWriter(files, folder / f"{name}.arrow", options)
                for name, options in zip(TOGETHER, (PLAIN, PACKED), strict=True)
            )
            for batch in batches:
                coded, kept, summed = coder.coded(batch)
                codes.write(coded)
                cells.write(kept)
                rows += batch.num_rows
                hashed += summed
        size = sum((folder / f"{name}.arrow").stat().st_size for name in TOGETHER)
        return cls(coder, folder, rows, hashed % 2**64, size)

    def batches(self) -> Iterator[Batch]:
        """Yield the codes of all rows."""
        return map(self.coder.batch, read_batches(self.files[0]))

    @property
    def files(self) -> list[Path]:
        """The files of all rows together."""
        return [self.folder / f"{name}.arrow" for name in TOGETHER]

    def part(self, tree: CutTree, wanted: Sequence[int], tell: Callable[[float], None]) -> None:
        """Write the rows of every wanted segment to a file of its own."""
        for begin in range(0, len(wanted), MOST_FILES):
            some = np.array(wanted[begin : begin + MOST_FILES])
            self._part(tree, some, lambda done: tell((begin + len(some) * done) / len(wanted)))  # noqa: B023 - called at once

    def _part(self, tree: CutTree, wanted: npt.NDArray[np.int64], tell: Callable[[float], None]) -> None:
        done = 0
        with ExitStack() as files:
            writers = [BatchWriter(files, self.path(segment)) for segment in wanted.tolist()]
            for codes, cells in zip(*map(read_batches, self.files), strict=True):
                segment = tree.descend(self.coder.batch(codes).codes)
                order = stable_argsort(segment.astype(np.int64), tree.segments)
                together = pa.RecordBatch.from_arrays(
                    [*codes.columns, *cells.columns], [*codes.schema.names, *cells.schema.names]
                ).take(pa.array(order))
                ends = (np.searchsorted(segment[order], wanted, side).tolist() for side in ("left", "right"))
                for writer, start, stop in zip(writers, *ends, strict=True):
                    if stop > start:
                        writer.write(together.slice(start, stop - start))
                done += codes.num_rows
                tell(done / self.rows)

    def path(self, segment: int) -> Path:
        """Return the file of a segment."""
        return self.folder / f"segment-{segment:05}.arrow"

    def write_segment(self, segment: int, batches: Iterable[pa.RecordBatch]) -> None:
        """Write the rows of one segment, which come together from elsewhere."""
        with ExitStack() as files:
            writer = BatchWriter(files, self.path(segment))
            for batch in batches:
                writer.write(batch)

    def pieces(self, segment: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one segment, as many at a time as were read together."""
        return read_batches(self.path(segment))

    def segment(self, segment: int) -> pa.RecordBatch:
        """Read the rows of one segment."""
        table = pa.Table.from_batches(self.pieces(segment)).combine_chunks()
        (batch,) = table.to_batches()
        return batch


def coded_source(source: EngineSource, coder: RowCoder, profile: TableProfile) -> tuple[EngineSource, RowCoder]:
    """Let the engine look codes up: it sees every value of a column once where it stores them so.

    An engine with workers would join every row with every look-up, so its rows are coded where they come to.
    """
    if isinstance(source, DistributedSource):
        return source, coder
    found = coder.look_ups()
    alike = {name: each for name, each in found.items() if each.values.type == profile.column(name).type}
    return source.with_mapping(alike), replace(coder, ready=frozenset(alike))


class BatchWriter:
    """Writes batches to a file that is begun with the first of them."""

    def __init__(self, files: ExitStack, path: Path, options: pa.ipc.IpcWriteOptions = PACKED) -> None:
        self._files, self._path, self._options = files, path, options
        self._writer: pa.RecordBatchFileWriter | None = None

    def write(self, batch: pa.RecordBatch) -> None:
        """Write one more batch."""
        if self._writer is None:
            self._writer = self._files.enter_context(pa.ipc.new_file(self._path, batch.schema, options=self._options))
        self._writer.write_batch(batch)


def read_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a file."""
    with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
        for at in range(reader.num_record_batches):
            yield reader.get_batch(at)
