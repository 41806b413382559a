"""Finish segments one by one: search, write what is published of them, and compare that with their rows."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato._randomness import KeyedRandom
from sfumato.encoding._row_order import Words
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.encoding.domain import Domain
from sfumato.errors import ReadError
from sfumato.io._parquet_parts import PartsWriter
from sfumato.io._values import format_values
from sfumato.schema.schema import Schema
from sfumato.tables._pipeline.apply import apply_solution, published_type
from sfumato.tables.algorithms.local._streaming_mondrian import SegmentedSearch, SegmentPlan
from sfumato.tables.audit._truth_by_rule import sum_truthfulness
from sfumato.tables.audit._truthfulness import TruthComparison, Truthfulness
from sfumato.tables.engines._source import ColumnProfile, restore_time_zone
from sfumato.tables.out_of_core._coded_rows import CodedRows, hash_rows
from sfumato.tables.out_of_core._published_parts import PublishedPart, PublishedParts
from sfumato.tables.published.solution import TableSolution

UNCUT = 2  # a segment of so many times the rows that fit is one that nothing cuts
ROWS_AT_ONCE = 250_000  # of a part, which are a row group


@dataclass(frozen=True, kw_only=True)
class SegmentResult:
    """What became of a segment.

    Parameters
    ----------
    parts : the files of its published rows, in their order; one, unless nothing cuts it.
    hashed : the sum of the hashes of its rows as they were read from its file.
    truth : how the part, read back, compares with its rows.
    valued : the quasi-identifiers that are published as values throughout.
    keys : the files of the keys of its buckets, by the column of their numbers.
    """

    parts: tuple[Path, ...]
    hashed: int
    truth: Truthfulness
    valued: frozenset[str]
    keys: Mapping[str, Path] = field(default_factory=dict)

    @property
    def files(self) -> list[Path]:
        """All its files."""
        return [*self.parts, *self.keys.values()]

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, files by their names."""
        return {
            "parts": [part.name for part in self.parts],
            "keys": {name: file.name for name, file in self.keys.items()},
            "hashed": self.hashed,
            "truth": asdict(self.truth),
            "valued": sorted(self.valued),
        }

    @classmethod
    def from_dict(cls, folder: Path, plain: Mapping[str, Any]) -> SegmentResult:
        """Read it back; its files are in a folder."""
        truth: dict[str, Any] = {
            name: tuple(each) if isinstance(each, list) else each for name, each in plain["truth"].items()
        }
        return cls(
            parts=tuple(folder / name for name in plain["parts"]),
            keys={name: folder / file for name, file in plain["keys"].items()},
            hashed=plain["hashed"],
            truth=Truthfulness(**truth),
            valued=frozenset(plain["valued"]),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class SegmentProcessing:
    """Finishes the segments of a table.

    Parameters
    ----------
    search, plan : how groups are found, and how the table was cut.
    rows : the rows of all segments.
    schema : the roles of the columns.
    columns : the published columns in their order.
    judged : gathers what is judged of parts one by one; None if they are to be judged all at once.
    centers : whether quasi-identifiers are published as values that stand for a whole group.
    by_cases : whether a segment that does not fit can be finished by what is counted in it.
    """

    search: SegmentedSearch
    plan: SegmentPlan
    rows: CodedRows
    schema: Schema
    columns: tuple[ColumnProfile, ...]
    judged: PublishedParts | None = None
    centers: bool = False
    by_cases: bool = True

    def finish(self, segment: int) -> SegmentResult:
        """Find what is published of a segment, write it in its order, and read it back."""
        coder, coded = self.rows.coder, self.read(segment)
        batch = coder.batch(coded)
        publication = self.find_solution(segment, coded)
        original = self.original(self.published_columns(publication, coded), len(batch))
        applied = apply_solution(publication, original, self.schema, self.stream(coded))
        order, keys = applied.rows, applied.keys
        part = self.rows.folder / f"part-{segment:05}.parquet"
        write_part(part, self.zoned(applied.shown))
        del applied
        back = PublishedPart.read(part, self.schema, self.domains)
        compared = TruthComparison(
            published=back.table,
            shown=unzoned(back.shown),
            coded=CodedTable(
                rows=len(batch),
                quasi=tuple(CodedColumn(*pair) for pair in zip(self.search.quasi, batch.codes, strict=True)),
                sensitive=(),
            ),
            original=original,
            schema=self.schema,
            centers=self.centers,
        )
        truth = compared.check(order)
        again = len(order) - int(np.count_nonzero(np.bincount(order, minlength=len(batch))))
        truth = replace(truth, unmatched=truth.unmatched + again)  # no row of the original stands for two
        if self.judged is not None:
            self.judged.add(back)
        return SegmentResult(
            parts=(part,),
            hashed=hash_rows(coded.columns),
            truth=truth,
            valued=columns_of_values(publication),
            keys=self.store_keys(segment, keys),
        )

    def is_uncut(self, segment: int, most: int) -> bool:
        """Return whether a segment has far more rows than fit, because nothing cuts it, and is finished by cases."""
        return bool(self.by_cases and self.plan.sizes[segment] > UNCUT * most)

    def read(self, segment: int) -> pa.RecordBatch:
        """Read the rows of a segment."""
        return self.rows.segment(segment)

    def find_solution(self, segment: int, coded: pa.RecordBatch) -> TableSolution:  # noqa: ARG002 - every segment is searched alike
        """Find what to publish of a segment."""
        return self.search.finish(self.rows.coder.batch(coded), self.plan.totals)

    def published_columns(self, publication: TableSolution, coded: pa.RecordBatch) -> dict[str, pa.Array]:  # noqa: ARG002 - as below
        """Return the columns of a segment that are published as they are: all but quasi-identifiers."""
        return self.rows.coder.original(coded)

    def stream(self, coded: pa.RecordBatch) -> KeyedRandom:  # noqa: ARG002 - nothing is shuffled
        """Return where bits come from that shuffle the values of a segment."""
        return KeyedRandom()

    def store_keys(self, segment: int, keys: Mapping[str, Words]) -> dict[str, Path]:
        """Write the keys of the buckets of a segment."""
        return {
            name: write_keys(self.rows.folder / f"keys-{segment:05}-{at}.npy", each)
            for at, (name, each) in enumerate(keys.items())
        }

    def read_again(self, noted: Mapping[str, Any]) -> SegmentResult:
        """Take a segment as finished by an earlier run; its part is judged as it stands."""
        found = SegmentResult.from_dict(self.rows.folder, noted)
        if self.judged is not None and len(found.parts) == 1:
            self.judged.add(PublishedPart.read(found.parts[0], self.schema, self.domains))
        elif self.judged is not None:
            self.judged.reject()
        return found

    @cached_property
    def domains(self) -> dict[str, Domain]:
        """The domains of the original's quasi-identifiers."""
        return {domain.name: domain for domain in self.search.quasi}

    def original(self, kept: Mapping[str, pa.Array], rows: int) -> pa.Table:
        """Return the cells that are published as they are; quasi-identifiers are published as texts for now."""
        recoded = pa.nulls(rows, pa.string())
        return pa.table({column.name: kept.get(column.name, recoded) for column in self.columns})

    def zoned(self, shown: pa.Table) -> pa.Table:
        """Give moments their time zones back."""
        zones = {column.name: column.zone for column in self.columns}
        return pa.table({name: _timestamps(shown[name], zones.get(name, "")) for name in shown.column_names})

    def typed(self, finished: Sequence[SegmentResult]) -> tuple[ColumnProfile, ...]:
        """Find the quasi-identifiers of which all segments publish nothing but values, and which are no texts."""
        valued = frozenset.intersection(*(each.valued for each in finished))
        return tuple(each for each in self.columns if each.name in valued and not pa.types.is_string(each.type))

    def stage(self, finished: Sequence[SegmentResult], folder: Path, *, keep: bool) -> None:
        """Bring all parts to a folder, where quasi-identifiers are values if that is what all segments publish.

        With `keep`, the parts stay where they are, too.
        """
        typed = self.typed(finished)
        for part in (part for each in finished for part in each.parts):
            if typed:
                retype(part, typed, folder / part.name)
            elif keep:
                shutil.copyfile(part, folder / part.name)
            else:
                shutil.move(part, folder / part.name)


def retype(part: Path, typed: Sequence[ColumnProfile], target: Path) -> None:
    """Write a part anew, with some columns as values; refuse one that does not read the same."""
    shown = written = pq.read_table(part)
    for column in typed:
        cells = written[column.name].dictionary_encode().combine_chunks()
        values = pa.DictionaryArray.from_arrays(cells.indices, cells.dictionary.cast(column.type))
        cells = _timestamps(pa.chunked_array([values.cast(column.type)]), column.zone)
        shown = shown.set_column(shown.schema.get_field_index(column.name), column.name, cells)
    write_part(target, shown)
    _check_same_texts(written, pq.read_table(target), [column.name for column in typed])


def truth_of_segments(finished: Sequence[SegmentResult], rows: CodedRows, records: int) -> Truthfulness:
    """Put together what was found of all segments; rows that are lost or mixed up on the way are untrue."""
    truth = replace(sum_truthfulness(each.truth for each in finished), rows_in=records)
    same = sum(each.hashed for each in finished) % 2**64 == rows.hashed
    return truth if same else replace(truth, unmatched=truth.unmatched + 1)


def columns_of_values(publication: TableSolution) -> frozenset[str]:
    """Find the columns of which nothing but values is published."""
    return frozenset(
        name for name, recoded in publication.recoded.items() if published_type(recoded, pa.null()) == pa.null()
    )


def write_keys(file: Path, keys: Words) -> Path:
    """Write the keys of the buckets of a segment, which are ascending."""
    np.save(file, keys)
    return file


def write_part(part: Path, shown: pa.Table) -> None:
    """Write one part; a folder of its own holds it until it is complete."""
    folder = part.with_suffix("")
    with PartsWriter(folder, rows_per_part=max(shown.num_rows, 1)) as writer:
        for start in range(0, shown.num_rows, ROWS_AT_ONCE):
            writer.write(shown.slice(start, ROWS_AT_ONCE))
    (name,) = writer.parts
    (folder / name).replace(part)
    folder.rmdir()


def _timestamps(cells: pa.ChunkedArray, zone: str) -> pa.ChunkedArray:
    if zone and pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    return pa.chunked_array([restore_time_zone(chunk, zone) for chunk in cells.chunks]) if zone else cells


def unzoned(shown: pa.Table) -> pa.Table:
    """Return moments as they are compared, in UTC."""
    for at, column in enumerate(shown.columns):
        if pa.types.is_timestamp(column.type) and column.type.tz:
            plain = column.cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us"))
            shown = shown.set_column(at, shown.column_names[at], plain)
    return shown


def _check_same_texts(before: pa.Table, after: pa.Table, names: Sequence[str]) -> None:
    plain = unzoned(after)
    for name in before.column_names:
        told = pa.chunked_array([format_values(plain[name])]) if name in names else plain[name]
        if not told.equals(unzoned(before)[name]):
            raise ReadError("A part of the release was not written as it should be; check the disk and try again.")
