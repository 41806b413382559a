"""Segments that nothing cuts, though they do not fit into memory: equal rows are searched and written as one.

Rows are dealt to buckets by a hash of what is published of them, so that a bucket fits. Which one a row is in tells
nothing that its cells do not tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato._randomness import KeyedRandom
from sfumato.core._kernels.grouping import group_columns
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.io._parquet_parts import PartsWriter
from sfumato.tables._pipeline.apply import apply_solution
from sfumato.tables.algorithms._segments.streamed import Batch
from sfumato.tables.audit._truth_by_rule import sum_truthfulness
from sfumato.tables.audit._truthfulness import TruthComparison, Truthfulness
from sfumato.tables.out_of_core._coded_rows import BatchWriter, hash_each, read_batches
from sfumato.tables.out_of_core._segment_results import (
    ROWS_AT_ONCE,
    SegmentProcessing,
    SegmentResult,
    columns_of_values,
    unzoned,
)
from sfumato.tables.published.published_table import PublishedTable
from sfumato.tables.published.solution import TableSolution

Ints = npt.NDArray[np.int64]
CASE, MANY = "case", "many"


def finish_segment(finishing: SegmentProcessing, segment: int, most: int) -> SegmentResult:
    """Finish a segment as it fits: all its rows at once, or equal ones as one if there are many more than `most`."""
    uncut = finishing.is_uncut(segment, most)
    return OversizedSegment(finishing, most).finish(segment) if uncut else finishing.finish(segment)


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Different rows of codes, and how many records have each."""

    codes: pa.Table
    many: Ints

    @classmethod
    def of(cls, batches: Iterator[pa.RecordBatch], names: Sequence[str], most: int) -> WeightedRows:
        """Reduce the rows of a segment, `most` at a time."""
        held, rows = [], 0
        for batch in batches:
            held.append(_merge_equal_rows(pa.Table.from_batches([batch]).select(names)))
            rows += held[-1].num_rows
            if rows > most:
                held = [_merge_equal_rows(pa.concat_tables(held))]
                rows = held[0].num_rows
        found = _merge_equal_rows(pa.concat_tables(held))
        found = found.sort_by([(name, "ascending") for name in names])
        return cls(found.select(names), found[MANY].to_numpy())

    def find(self, batch: pa.RecordBatch) -> npt.NDArray[np.int32]:
        """Return the case of every row."""
        names = self.codes.column_names
        both = [np.concatenate([self.codes[name].to_numpy(), batch.column(name).to_numpy()]) for name in names]
        grouped = group_columns(both, [int(each.max(initial=0)) + 1 for each in both])
        case = np.empty(len(grouped), dtype=np.int32)
        case[grouped.labels[: len(self.many)]] = np.arange(len(self.many))
        return np.asarray(case[grouped.labels[len(self.many) :]])


@dataclass(frozen=True, eq=False)
class OversizedSegment:
    """Finishes a segment that has more rows than fit.

    Parameters
    ----------
    finishing : how segments are finished that fit.
    most : how many rows fit.
    """

    finishing: SegmentProcessing
    most: int

    def finish(self, segment: int) -> SegmentResult:
        """Find what is published of a segment, write it bucket by bucket, and read it back."""
        rows, coder = self.finishing.rows, self.finishing.rows.coder
        names = [f"code {at}" for at in range(len(coder.quasi) + len(coder.watched))]
        cases = WeightedRows.of(rows.pieces(segment), names, self.most)
        columns = [cases.codes[name].to_numpy() for name in names]
        cut = len(coder.quasi)
        batch = Batch.from_columns(columns[:cut], columns[cut:], cases.many)
        publication = self.finishing.search.finish(batch, self.finishing.plan.totals)
        if self.finishing.judged is not None:
            self.finishing.judged.reject()
        found = []
        for at, bucket in enumerate(self._distribute(segment, cases, publication)):
            part = rows.folder / f"part-{segment:05}-{at:05}.parquet"
            found.append(_RowPartition(self.finishing, cases, publication, bucket).finish(part, self.most))
            bucket.unlink()
        return SegmentResult(
            parts=tuple(part for each in found for part in each.parts),
            hashed=sum(each.hashed for each in found) % 2**64,
            truth=sum_truthfulness(each.truth for each in found),
            valued=columns_of_values(publication),
        )

    def _distribute(self, segment: int, cases: WeightedRows, publication: TableSolution) -> list[Path]:
        """Write case and kept cells of all rows to buckets, by a hash of what is published of them."""
        rows, buckets = self.finishing.rows, -(-int(cases.many.sum()) // self.most)
        paths = [rows.folder / f"bucket-{at:05}.arrow" for at in range(buckets)]
        with ExitStack() as files:
            writers = [BatchWriter(files, path) for path in paths]
            for batch in rows.pieces(segment):
                case = cases.find(batch)
                kept = [name for name in batch.schema.names if name not in cases.codes.column_names]
                cells = [batch.column(name) for name in kept]
                bucket = hash_each([pa.array(publication.group[case]), *cells]) % np.uint64(buckets)
                table = pa.RecordBatch.from_arrays([pa.array(case), *cells], [CASE, *kept])
                for at in np.unique(bucket).tolist():
                    writers[at].write(table.filter(pa.array(bucket == at)))
        return [path for path in paths if path.exists()]


@dataclass(frozen=True, eq=False)
class _RowPartition:
    """Some rows of a segment, in a file."""

    finishing: SegmentProcessing
    cases: WeightedRows
    publication: TableSolution
    path: Path

    def finish(self, part: Path, most: int) -> SegmentResult:
        """Write the rows in their order, and compare them with what the file says, some at a time."""
        rows, many = self._rows(most)
        case, coder = rows[CASE].to_numpy(), self.finishing.rows.coder
        names = [name for name in rows.column_names if name != CASE]
        kept = pa.RecordBatch.from_arrays([rows[name].combine_chunks() for name in names], names)
        original = self.finishing.original(coder.original(kept), len(case))
        publication = replace(self.publication, group=self.publication.group[case])
        applied = apply_solution(publication, original, self.finishing.schema, KeyedRandom())
        ends = np.cumsum(many[applied.rows])
        _write_repeated(part, self.finishing.zoned(applied.shown), ends)
        codes = [column.combine_chunks().take(pa.array(case)) for column in self.cases.codes.columns]
        quasi = zip(coder.quasi, codes, strict=False)
        coded = CodedTable(len(case), tuple(CodedColumn(domain, each.to_numpy()) for domain, each in quasi), ())
        return SegmentResult(
            parts=(part,),
            hashed=int((hash_each([*codes, *kept.columns]) * many.astype(np.uint64)).sum(dtype=np.uint64)),
            truth=self._truth(part, coded, original, (applied.rows, ends, many)),
            valued=frozenset(),
        )

    def _rows(self, most: int) -> tuple[pa.Table, Ints]:
        """Read different rows, and how many are equal to each."""
        held, rows = [], 0
        for batch in read_batches(self.path):
            held.append(_merge_equal_rows(pa.Table.from_batches([batch])))
            rows += held[-1].num_rows
            if rows > most:
                held = [_merge_equal_rows(pa.concat_tables(held))]
                rows = held[0].num_rows
        found = _merge_equal_rows(pa.concat_tables(held))
        return found.drop_columns([MANY]), found[MANY].to_numpy()

    def _truth(
        self, part: Path, coded: CodedTable, original: pa.Table, written: tuple[Ints, Ints, Ints]
    ) -> Truthfulness:
        """Compare every row group with the rows that it came from; these must all be there, as often as they are.

        `written` are the order of the rows, where each ends in the file, and how often each occurs.
        """
        order, ends, many = written
        schema, domains, file = self.finishing.schema, self.finishing.domains, pq.ParquetFile(part)
        used, truths, start = np.zeros(len(many), dtype=np.int64), [], 0
        for at in range(file.num_row_groups):
            back = file.read_row_group(at)
            compared = TruthComparison(
                PublishedTable.read(back, schema, domains), unzoned(back), coded, original, schema
            )
            source = order[_rows_to_write(ends, start, start + back.num_rows)]
            used += np.bincount(source, minlength=len(many))
            truths.append(replace(compared.check(source), rows_in=back.num_rows, suppressed=0))
            start += back.num_rows
        truth = sum_truthfulness(truths)
        return replace(truth, unmatched=truth.unmatched + int(np.maximum(used - many, 0).sum()))


def _merge_equal_rows(rows: pa.Table) -> pa.Table:
    """Merge equal rows, and count them as `MANY`."""
    names = [name for name in rows.column_names if name != MANY]
    if MANY in rows.column_names:
        found = rows.group_by(names).aggregate([(MANY, "sum")])
        return found.rename_columns([MANY if name == f"{MANY}_sum" else name for name in found.column_names])
    found = rows.group_by(names).aggregate([([], "count_all")])
    return found.rename_columns([MANY if name == "count_all" else name for name in found.column_names])


def _write_repeated(part: Path, shown: pa.Table, ends: Ints) -> None:
    """Write the rows of a table several times: until so many are written in all."""
    folder, rows = part.with_suffix(""), int(ends[-1])
    with PartsWriter(folder, rows_per_part=rows) as writer:
        for start in range(0, rows, ROWS_AT_ONCE):
            writer.write(shown.take(pa.array(_rows_to_write(ends, start, min(start + ROWS_AT_ONCE, rows)))))
    (name,) = writer.parts
    (folder / name).replace(part)
    folder.rmdir()


def _rows_to_write(ends: Ints, start: int, stop: int) -> Ints:
    """Return which rows of a table are written from one place to another.

    >>> _rows_to_write(np.array([2, 3, 6]), 1, 5).tolist()
    [0, 1, 2, 2]
    """
    return np.searchsorted(ends, np.arange(start, stop), side="right")
