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

from sfumato.coding.cutting.batches import Batch
from sfumato.coding.cutting.cut_tree import CutTree
from sfumato.coding.domain import Domain
from sfumato.coding.ordering import stable_argsort
from sfumato.exceptions import ReadError
from sfumato.release.large.row_hashes import hash_rows
from sfumato.sources.base import DistributedSource, EngineSource, TableProfile, ValueMapping

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
