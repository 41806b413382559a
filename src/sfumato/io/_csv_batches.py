"""Text files larger than memory, as Parquet files of the table that `read_csv` returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.errors import ReadError
from sfumato.io._column_types import convert_column, make_parser, parse_by_conventions
from sfumato.io._convention_detection import add_findings, detect_conventions
from sfumato.io._conventions import Conventions, check_columns_exist
from sfumato.io._csv_syntax import drop_last_lines, tabbed, trim_cells
from sfumato.io._header_detection import Header, parse_sample
from sfumato.io._limits import MAX_LINE_BYTES
from sfumato.io._text_encoding import UTF8File, convert_to_utf8_file
from sfumato.io._text_file import TextFile, read_cells, read_header
from sfumato.io._type_inference import MISSING, Parse, cast_or_none, drop_missing_spellings, infer_column
from sfumato.io._values import encode_distinct
from sfumato.io.formats import FileFindings, Option

BATCH = 1 << 22
HEAD = 1 << 20  # bytes that tell the header and the separator
TAIL = 1 << 16
TEXT = "text"


@dataclass(frozen=True, kw_only=True)
class CSVConverter:
    """Reads a text file in batches; types are those of whole columns, so its texts are written first.

    Parameters
    ----------
    path : the file; a name that ends in .gz is unpacked.
    place : an empty folder for texts and typed parts.
    options : those of `sf.read`.
    most : how many bytes the different texts of all columns may take in memory.
    batch : how many bytes are read at once.
    findings : is told what was found out.
    texts : columns whose cells stay the texts that stand in the file.
    """

    path: Path
    place: Path
    options: Mapping[str, Option]
    most: int
    batch: int = BATCH
    findings: FileFindings = field(default_factory=FileFindings)
    texts: Sequence[str] = ()

    def write(self) -> Path:
        """Write the table as Parquet, and return its file."""
        if self.options.get("as_text"):
            raise ReadError("as_text is not served beyond memory; say of columns that they are text by column_types.")
        given = Conventions(**{name: self.options[name] for name in CONVENTIONS if name in self.options})  # type: ignore[arg-type]  # checked there
        known = self._texts(given)
        found = detect_conventions(
            {name: drop_missing_spellings(values, self._missing) for name, values in known.items()}, given
        )
        add_findings(found, given, self.findings)
        columns = {
            name: _ColumnParser.from_texts(name, known.get(name), self._missing, found.conventions)
            for name in self._names()
        }
        target = self.place / "table.parquet"
        with pq.ParquetFile(self.place / "texts.parquet") as texts:
            schema = pa.schema({name: column.type for name, column in columns.items()})
            with pq.ParquetWriter(target, schema) as writer:
                for at in range(texts.num_row_groups):
                    group = texts.read_row_group(at)
                    cells = [columns[name].read(group[name]) for name in schema.names]
                    writer.write_table(pa.table(cells, schema=schema))
        (self.place / "texts.parquet").unlink()
        return target

    @property
    def _missing(self) -> tuple[str, ...]:
        given: Any = self.options.get("missing", MISSING)
        return tuple(given)

    def _names(self) -> list[str]:
        return list(pq.read_schema(self.place / "texts.parquet").names)

    def _texts(self, given: Conventions) -> dict[str, pa.Array]:
        """Write all cells as texts, and return the different ones of every column whose type they decide."""
        text, source, start, end = self._open_batches()
        first, below = read_header(source)
        if not trim_cells(source.data[:below], source.separator)[1]:
            raise ReadError(
                f"The header of {self.path} has a quotation mark that is not closed at the end of its cell."
            )
        names = self._about.column_names(self.path, first, self.findings, header=source.header)
        check_columns_exist(given.column_types, [name for name in names if name])
        kept = {name: place for place, name in enumerate(names) if name}
        as_text = {*self.texts, *(name for name, said in given.column_types.items() if said == TEXT)}
        decided = {name: _DistinctTexts() for name in kept if name not in as_text}
        schema = pa.schema(dict.fromkeys(kept, pa.dictionary(pa.int32(), pa.string())))
        line = source.skipped + source.data[:below].count(b"\n")
        with pq.ParquetWriter(self.place / "texts.parquet", schema) as writer:
            for block in _iter_records(text.path, start + below, end, self.batch):
                columns = read_cells(replace(source, data=block), len(names), self._missing, line)
                line += block.count(b"\n")
                self._check_names(names, columns)
                cells = {name: encode_distinct(columns[place]) for name, place in kept.items()}
                for name, different in decided.items():
                    different.add(cells[name][0])
                self._check_column_count(decided)
                coded_again = [pa.DictionaryArray.from_arrays(codes, values) for values, codes in cells.values()]
                writer.write_table(pa.table(coded_again, schema=schema))
        return {name: different.values() for name, different in decided.items()}

    def _open_batches(self) -> tuple[UTF8File, TextFile, int, int]:
        """Find the header, where its line begins, and where the records end."""
        encoding: Any = self.options.get("encoding")
        text = convert_to_utf8_file(self.path, encoding, self.place)
        self.findings.options["encoding"] = text.encoding
        self.findings.remarks += text.remarks
        skip_rows: Any = self.options.get("skip_rows", 0)
        skip_last: Any = self.options.get("skip_last", 0)
        separator: Any = self.options.get("separator") or ("\t" if ".tsv" in self.path.name.lower() else None)
        source = TextFile(path=self.path, data=self._head(text, skip_last)).trim(separator, skip_rows, 0)
        source.tell(self.findings)
        if source.spaced:
            text = UTF8File(_tabbed(text, self.place / "tabbed"), 0, text.encoding)
            source = TextFile(path=self.path, data=self._head(text, skip_last)).trim("\t", skip_rows, 0)
        rows = parse_sample(source.data, source.separator) or [[]]
        source = replace(source, header=self._about.from_options(self.path, rows[0], rows[1:], self.findings, "line"))
        start = text.start + len(self._head(text, skip_last)) - len(source.data)
        return text, source, start, _find_end(text.path, skip_last)

    def _head(self, text: UTF8File, skip_last: int) -> bytes:
        """Return the first bytes of the text, which tell its header and separator."""
        end = _find_end(text.path, skip_last)
        with text.path.open("rb") as file:
            file.seek(text.start)
            return file.read(max(0, min(end - text.start, max(HEAD, self.batch))))

    @property
    def _about(self) -> Header:
        given: Any = self.options.get("header")
        names: Any = self.options.get("names", ())
        return Header(given=given, names=names)

    def _check_names(self, names: list[str], columns: list[pa.ChunkedArray]) -> None:
        for place, (name, column) in enumerate(zip(names, columns, strict=True), start=1):
            if not name and column.null_count < len(column):
                raise ReadError(f"Column {place} of {self.path} has no name; name it or drop it from the file.")

    def _check_column_count(self, decided: Mapping[str, _DistinctTexts]) -> None:
        if sum(each.size for each in decided.values()) <= self.most:
            return
        if sum(len(each.values()) and each.size for each in decided.values()) > self.most:
            name = max(decided, key=lambda each: decided[each].size)
            raise ReadError(
                f"Column {name!r} of {self.path} has too many different texts to tell its type within memory; say that "
                f"it is text with column_types={{{name!r}: 'text'}}, or give more with "
                "memory=."
            )


CONVENTIONS = ("decimal", "thousands", "date_format", "column_types")


@dataclass
class _DistinctTexts:
    """The different texts of a column, in order of first occurrence."""

    known: list[pa.Array] = field(default_factory=list)

    def add(self, values: pa.Array) -> None:
        """Add texts; they are compared with the others when they are about as many."""
        self.known.append(values)
        if sum(map(len, self.known[1:])) > len(self.known[0]):
            self.values()

    @property
    def size(self) -> int:
        """How many bytes they take."""
        return sum(each.nbytes for each in self.known)

    def values(self) -> pa.Array:
        """Return each of them once."""
        self.known = [pa.concat_arrays([pa.array([], pa.string()), *self.known]).unique()]
        return self.known[0]


@dataclass(frozen=True, kw_only=True)
class _ColumnParser:
    """How the texts of a column are read: by the type that all of them have.

    `parse` reads the texts of a batch; where these alone seem to have another type, `known` and `values` tell.
    """

    type: pa.DataType
    missing: tuple[str, ...]
    parse: Parse | None = None
    known: pa.Array | None = None
    values: pa.ChunkedArray | None = None

    @classmethod
    def from_texts(
        cls, name: str, known: pa.Array | None, missing: tuple[str, ...], conventions: Conventions
    ) -> _ColumnParser:
        """Decide the type of a column; its texts are not known if it is said to be text."""
        if known is None:
            return cls(type=pa.string(), missing=missing)
        codes = pa.array(np.arange(len(known)), pa.int32())
        try:
            values = convert_column(name, known, codes, missing, conventions)
        except ReadError:
            said = conventions.column_types[name]
            raise ReadError(
                f"Column {name!r} has cells that are not of the type {said!r}; correct or empty them, or read it as "
                f"text with column_types={{{name!r}: 'text'}}."
            ) from None
        if pa.types.is_string(values.type):
            return cls(type=values.type, missing=missing)
        told = conventions.column_types.get(name)
        parse = (
            partial(parse_by_conventions, conventions=conventions) if told is None else make_parser(told, conventions)
        )
        return cls(type=values.type, missing=missing, parse=parse, known=known, values=values)

    def read(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Read some cells of the column."""
        distinct, codes = encode_distinct(column)
        if self.parse is None or self.known is None or self.values is None:
            return infer_column(distinct, codes, self.missing, lambda _: None)
        cells = infer_column(distinct, codes, self.missing, self.parse)
        if cells.type == self.type:
            return cells
        if not pa.types.is_string(cells.type):
            cast = cast_or_none(cells, self.type)
            if cast is not None:
                return cast
        places = pc.index_in(distinct, value_set=self.known)
        return pa.chunked_array([self.values.take(places).combine_chunks().take(codes)], self.type)


def _tabbed(text: UTF8File, target: Path) -> Path:
    """Write a file whose cells are separated by spaces with tabs between them."""
    with text.path.open("rb") as file, target.open("wb") as written:
        file.seek(text.start)
        written.writelines(map(tabbed, file))
    return target


def _find_end(path: Path, skip_last: int) -> int:
    """Find where the last lines begin that are no records."""
    size = path.stat().st_size
    most = TAIL
    while skip_last:
        with path.open("rb") as file:
            file.seek(max(0, size - most))
            tail = file.read()
        left = drop_last_lines(tail, skip_last)
        if left.strip() or most >= size:
            return size - len(tail) + len(left)
        most *= 2
    return size


def _iter_records(path: Path, start: int, end: int, size: int) -> Iterator[bytes]:
    """Yield whole records; a line break inside of quotes ends none."""
    with path.open("rb") as file:
        file.seek(start)
        rest, left = b"", end - start
        while left > 0:
            some = file.read(min(size, left))
            left -= len(some) or left
            rest += some
            cut = len(rest) if left <= 0 else _last_record(rest)
            if cut:
                yield rest[:cut]
                rest = rest[cut:]
            elif len(rest) > size + MAX_LINE_BYTES:
                raise ReadError(
                    f"{path} has a record of more than {MAX_LINE_BYTES:,} bytes; end every record with a "
                    "line break, and "
                    "close every quotation mark, or write it as Parquet."
                )


def _last_record(data: bytes) -> int:
    """Find where the last whole record ends."""
    mark = b"\n" if b"\n" in data else b"\r"
    end = data.rfind(mark, 0, -1) + 1  # the last byte may be the first of two
    while end and data.count(b'"', 0, end) % 2:
        end = data.rfind(mark, 0, end - 1) + 1
    return end
