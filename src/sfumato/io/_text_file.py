"""A text file on its way to a table: its header, and its cells as dictionary-coded text."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from sfumato._threads import map_in_threads
from sfumato.errors import ReadError
from sfumato.io._csv_syntax import (
    SEPARATORS,
    SPACE_MARK,
    count_title_lines,
    detect_separator,
    drop_last_lines,
    find_body_separator,
    find_stray_quote,
    find_uneven_line,
    has_outer_spaces,
    has_overlong_line,
    read_declared_separator,
    skip_lines,
    split_first_record,
    tabbed,
    trim_cells,
)
from sfumato.io._limits import MAX_COLUMNS, MAX_LINE_BYTES, format_too_many_columns
from sfumato.io._text_encoding import decode_file
from sfumato.io._values import encode_distinct
from sfumato.io.formats import FileFindings

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = 1 << 23
NAMES = {",": "','", ";": "';'", "\t": "a tab", "|": "'|'"}


@dataclass(frozen=True, kw_only=True)
class TextFile:
    """A text file on its way to a table."""

    path: Path
    data: bytes
    separator: str = ","
    given: bool = False
    skipped: int = 0
    header: bool = True
    spaced: bool = False

    @classmethod
    def read(cls, path: Path, encoding: str | None, findings: FileFindings) -> TextFile:
        """Read a whole file as UTF-8."""
        found = decode_file(path, encoding)
        findings.options["encoding"] = found.encoding
        findings.remarks += found.remarks
        return cls(path=path, data=found.data)

    def trim(self, separator: str | None, skip_rows: int, skip_last: int) -> TextFile:
        """Leave out what is no record, and settle the separator."""
        stated = read_declared_separator(self.data)
        skipped = skip_rows or int(stated is not None)
        data = drop_last_lines(_skip_to_header(self.path, self.data, skipped), skip_last)
        given = separator or stated
        chosen = given or detect_separator(data)
        spaced = chosen == SPACE_MARK
        data, chosen = (tabbed(data), "\t") if spaced else (data, chosen)
        return replace(self, data=data, separator=chosen, spaced=spaced, given=given is not None, skipped=skipped)

    def tell(self, findings: FileFindings) -> None:
        """Note the separator, and say so if it is spaces."""
        findings.options["separator"] = SPACE_MARK if self.spaced else self.separator
        if self.spaced and not self.given:
            findings.remarks.append(f"{self.path} is read as separated by spaces; confirm it with separator=' '.")

    @property
    def title_advice(self) -> str:
        """How to leave out the titles, if there seem to be some."""
        titles = count_title_lines(self.data) or int(find_body_separator(self.data, 1) is not None)
        which = "line is a title" if titles == 1 else f"{titles} lines are titles"
        return f"pass skip_rows={self.skipped + titles} if the first {which}"


def read_columns(source: TextFile, missing: tuple[str, ...]) -> tuple[list[str], list[pa.ChunkedArray]]:
    """Return the names in the header, and the columns below it as dictionary-coded text."""
    if (plain := _read_plain_columns(source, missing)) is not None:
        return plain
    path, separator = source.path, source.separator
    data, sound = trim_cells(source.data, separator)
    stray = None if sound else find_stray_quote(data, separator)
    if stray is not None:
        line = stray + source.skipped
        raise ReadError(f"Line {line} of {path} has a quotation mark that is not closed at the end of its cell.")
    source = replace(source, data=data)
    names, start = read_header(source)
    try:
        return names, _parse_cells(source, start=start, width=len(names), missing=missing)
    except pa.ArrowException:
        raise ReadError(_uneven_line_message(source, len(names))) from None


def _read_plain_columns(source: TextFile, missing: tuple[str, ...]) -> tuple[list[str], list[pa.ChunkedArray]] | None:
    """Read a file without quotation marks or spaces around cells, for which only distinct cells are looked at."""
    if b'"' in source.data or any(spelling != spelling.strip(" ") for spelling in missing):
        return None
    names, start = read_header(source)
    columns = _read_plain_cells(source, start, len(names), missing)
    return None if columns is None else (names, columns)


def _read_plain_cells(
    source: TextFile, start: int, width: int, missing: tuple[str, ...]
) -> list[pa.ChunkedArray] | None:
    try:
        columns = _parse_cells(source, start=start, width=width, missing=missing)
    except pa.ArrowException:
        return None  # a line of nothing but spaces, perhaps
    return None if any(map(has_outer_spaces, columns)) else columns


def read_cells(source: TextFile, width: int, missing: tuple[str, ...], line: int) -> list[pa.ChunkedArray]:
    """Read some records of a file as columns of dictionary-coded text.

    Parameters
    ----------
    source : the file, whose data are the records.
    width : how many cells the header has.
    missing : spellings of a missing value.
    line : how many lines stand above the records.
    """
    simple = b'"' not in source.data and not any(spelling != spelling.strip(" ") for spelling in missing)
    columns = _read_plain_cells(source, 0, width, missing) if simple else None
    if columns is not None:
        return columns
    data, sound = trim_cells(source.data, source.separator)
    if not sound:
        raise ReadError(
            f"{source.path} has quotation marks inside of cells, or one that is not closed, after line {line:,}; such "
            "files are not read in batches, so write it as Parquet."
        )
    try:
        return _parse_cells(replace(source, data=data), start=0, width=width, missing=missing)
    except pa.ArrowException:
        found = find_uneven_line(data, source.separator, width)
        which = "a line" if found is None else f"line {line + found[0]:,}"
        raise ReadError(
            f"The header of {source.path} has {width} cells but {which} has another number of them; check that line "
            f"and the separator, {NAMES.get(source.separator, repr(source.separator))}."
        ) from None


def read_header(source: TextFile) -> tuple[list[str], int]:
    """Read the cells of the first line, and find where the records begin: after it, unless it is one."""
    header, start = split_first_record(source.data, source.separator)
    try:
        names = _names(header, source.separator)
    except csv.Error:
        raise ReadError(
            f"The first line of {source.path} has a cell of more than {csv.field_size_limit():,} characters, which is "
            "no name of a column; check the file."
        ) from None
    if len(names) > MAX_COLUMNS:
        raise ReadError(format_too_many_columns(str(source.path), len(names)))
    if source.given and len(names) == 1 and b'"' not in header:
        _check_separator(source.path, names[0], source.separator)
    if not source.given and len(names) == 1:
        _check_no_title(source)
    return names, start if source.header else 0


def _skip_to_header(path: Path, text: bytes, skipped: int) -> bytes:
    data = skip_lines(text, skipped)
    if data is None or not re.search(rb"\S", data):
        after = f" after its first {skipped} lines" if skipped else ""
        raise ReadError(f"{path} is empty{after}; it needs a header line.")
    if has_overlong_line(data):
        raise ReadError(
            f"{path} has a line of more than {MAX_LINE_BYTES:,} bytes; end every record with a line break, or write it"
            " as Parquet."
        )
    return data


def _names(header: bytes, separator: str) -> list[str]:
    cells = next(csv.reader(io.StringIO(header.decode(), newline=""), delimiter=separator), [""])
    return [cell.strip() for cell in cells]


def _check_separator(path: Path, header: str, given: str) -> None:
    other = next((each for each in SEPARATORS if each != given and each in header), None)
    if other:
        raise ReadError(
            f"{path} has one column when separated by {given!r} but seems to be separated by {NAMES[other]};"
            " pass that separator, or none to have it detected."
        )


def _check_no_title(source: TextFile) -> None:
    hidden = find_body_separator(source.data, 1)
    if hidden:
        raise ReadError(
            f"{source.path} would have one column, but its lines after the first are parted by {NAMES[hidden]};"
            f" {source.title_advice}, or a separator that no cell holds."
        )


def _parse_cells(source: TextFile, *, start: int, width: int, missing: tuple[str, ...]) -> list[pa.ChunkedArray]:
    """Read the lines after the header as dictionary-coded text."""
    data, separator = source.data, source.separator
    text = pa.dictionary(pa.int32(), pa.string())
    names = [str(place) for place in range(width)]
    if not re.compile(rb"[^\r\n]").search(data, start):
        return [pa.chunked_array([], text) for _ in names]
    table = arrow_csv.read_csv(
        pa.BufferReader(pa.py_buffer(data).slice(start)),
        read_options=arrow_csv.ReadOptions(column_names=names, block_size=BLOCK),
        parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=b'"' in data),
        convert_options=arrow_csv.ConvertOptions(
            check_utf8=False,
            column_types=dict.fromkeys(names, text),
            null_values=list(missing),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    return list(table.columns)


def _uneven_line_message(source: TextFile, width: int) -> str:
    """Say which line has another number of cells than the header."""
    path, data, separator = source.path, source.data, source.separator
    uneven = find_uneven_line(data, separator, width)
    if not uneven:
        return f"{path} cannot be read as a table; check its quotation marks."
    titled = count_title_lines(data) or find_body_separator(data, width)
    last = uneven[0] >= len(data.rstrip().splitlines())
    hint = f", or {source.title_advice}" if titled else ", or pass skip_last=1 if it is no record" if last else ""
    return (
        f"The header of {path} has {width} cells but line {uneven[0] + source.skipped} has {uneven[1]};"
        f" check that line and the separator, {NAMES.get(separator, repr(separator))}{hint}."
    )


def match_names(
    source: TextFile, names: list[str], columns: list[pa.ChunkedArray]
) -> dict[str, tuple[pa.Array, pa.Array]]:
    """Return the coded columns by their different names; a column with neither name nor value is dropped."""
    parts = {}
    found = zip(names, columns, map_in_threads(encode_distinct, columns, len(source.data)), strict=True)
    for place, (name, column, cells) in enumerate(found, start=1):
        if name:
            parts[name] = cells
        elif pc.any(pc.is_valid(column)).as_py():
            title = f", or {source.title_advice}" if count_title_lines(source.data) else ""
            raise ReadError(f"Column {place} of {source.path} has no name; name it or drop it from the file{title}.")
    return parts
