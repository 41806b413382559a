"""Tables as comma-separated text."""

from __future__ import annotations

import csv
import gzip
import io
import re
from contextlib import ExitStack
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from sfumato.exceptions import ReadError
from sfumato.table.columns import refuse_duplicates
from sfumato.table.formats.cells import (
    SEPARATORS,
    after_lines,
    detect_separator,
    first_record,
    long_line,
    separator_below,
    stray_quote_line,
    trimmed,
    uneven_line,
)
from sfumato.table.formats.encoding import utf8_bytes
from sfumato.table.formats.inference import MISSING, typed
from sfumato.table.frames import canonical
from sfumato.table.limits import LONGEST_LINE, MOST_COLUMNS, too_many_columns
from sfumato.table.values import coded, distinct_texts
from sfumato.threads import in_threads
from sfumato.validation import require

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BLOCK = 1 << 23
ROWS_AT_ONCE = 1 << 17
NAMES = {",": "','", ";": "';'", "\t": "a tab", "|": "'|'"}
EXECUTED = r"\A[=+\-@\t\r]"
QUOTED = r'["\r\n]|\A | \z|\A\z|\A\x{FEFF}'  # beside the separator


def read_csv(
    path: Path,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    missing: tuple[str, ...] = MISSING,
    skip_rows: int = 0,
    as_text: bool = False,
) -> pa.Table:
    """Read a CSV file with a header line as a canonical table.

    Spaces around unquoted cells are dropped and empty lines are skipped. A cell is missing if it is empty or,
    when not quoted, one of the spellings in `missing`; in columns of numbers, dates or booleans also when
    quoted. A single column whose cells hold a separator is refused, unless the separator is given: the file has more
    columns, and its first line is a title.

    Parameters
    ----------
    path : the file; a name that ends in .gz is unpacked.
    separator : one character; if not given, a tab in .tsv files, and else detected among comma, semicolon, tab and bar.
    encoding : detected if not given; see `sfumato.table.formats.encoding.utf8_bytes`.
    missing : spellings of a missing value.
    skip_rows : how many lines, such as titles, stand before the header.
    as_text : read line by line, every cell as its own text, so that no row changes how another is read.
    """
    known = separator is None or (len(separator) == 1 and separator.isascii() and separator not in '"\r\n ')
    require(known, "read", "separator", "one ASCII character other than a quote, space or line break", separator)
    if separator is None and _has_tabs(path):
        separator = "\t"
    if as_text:
        return _read_lines(path, separator, encoding, missing, skip_rows)
    data = _from_header(path, encoding, skip_rows)
    given, separator = separator, separator or detect_separator(data)
    data, sound = trimmed(data, separator)
    stray = None if sound else stray_quote_line(data, separator)
    if stray is not None:
        line = stray + skip_rows
        raise ReadError(f"Line {line} of {path} has a quotation mark that is not closed at the end of its cell.")
    header, start = first_record(data, separator)
    names = _names(header, separator)
    if len(names) > MOST_COLUMNS:
        raise ReadError(too_many_columns(str(path), len(names)))
    if given and len(names) == 1 and b'"' not in header:
        _refuse_other_separator(path, names[0], given)
    if not given and len(names) == 1:
        _refuse_title(path, data, skip_rows)
    layout = {"start": start, "width": len(names), "skipped": skip_rows}
    return canonical(_named(path, names, _parsed(path, data, separator=separator, missing=missing, **layout), missing))


def _read_lines(
    path: Path, separator: str | None, encoding: str | None, missing: tuple[str, ...], skip_rows: int
) -> pa.Table:
    from sfumato.table.formats.lines import layout, read_lines

    if separator is None or encoding is None:
        separator, encoding = layout(path, separator=separator, encoding=encoding, skip_rows=skip_rows)
    return read_lines(path, separator=separator, encoding=encoding, missing=missing, skip_rows=skip_rows)


def _has_tabs(path: Path) -> bool:
    return ".tsv" in path.name.lower()


def _from_header(path: Path, encoding: str | None, skipped: int) -> bytes:
    data = after_lines(utf8_bytes(path, encoding), skipped)
    if data is None or not re.search(rb"\S", data):
        after = f" after its first {skipped} lines" if skipped else ""
        raise ReadError(f"{path} is empty{after}; it needs a header line.")
    if long_line(data):
        raise ReadError(
            f"{path} has a line of more than {LONGEST_LINE:,} bytes; end every record with a line break, or write it"
            " as Parquet."
        )
    return data


def _names(header: bytes, separator: str) -> list[str]:
    cells = next(csv.reader(io.StringIO(header.decode(), newline=""), delimiter=separator), [""])
    return [cell.strip() for cell in cells]


def _refuse_other_separator(path: Path, header: str, given: str) -> None:
    other = next((each for each in SEPARATORS if each != given and each in header), None)
    if other:
        raise ReadError(
            f"{path} has one column when separated by {given!r} but seems to be separated by {NAMES[other]};"
            " pass that separator, or none to have it detected."
        )


def _refuse_title(path: Path, data: bytes, skipped: int) -> None:
    hidden = separator_below(data, 1)
    if hidden:
        raise ReadError(
            f"{path} would have one column, but its lines after the first are parted by {NAMES[hidden]}; pass"
            f" skip_rows={skipped + 1} (--skip-rows) if the first line is a title, or a separator that no cell holds."
        )


def _parsed(
    path: Path, data: bytes, *, start: int, separator: str, width: int, missing: tuple[str, ...], skipped: int
) -> list[pa.ChunkedArray]:
    """Read the lines after the header as dictionary-coded text."""
    text = pa.dictionary(pa.int32(), pa.string())
    names = [str(place) for place in range(width)]
    if not re.compile(rb"[^\r\n]").search(data, start):
        return [pa.chunked_array([], text) for _ in names]
    try:
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
    except pa.ArrowException:
        uneven = uneven_line(data, separator, width)
        if uneven:
            title = f", or pass skip_rows={skipped + 1} if the first line is a title"
            hint = title if separator_below(data, width) else ""
            raise ReadError(
                f"The header of {path} has {width} cells but line {uneven[0] + skipped} has {uneven[1]};"
                f" check that line and the separator, {NAMES.get(separator, repr(separator))}{hint}."
            ) from None
        raise ReadError(f"{path} cannot be read as a table; check its quotation marks.") from None
    return list(table.columns)


def _named(path: Path, names: list[str], columns: list[pa.ChunkedArray], missing: tuple[str, ...]) -> pa.Table:
    """Give the columns their types and names; a column with neither name nor value is dropped."""
    named: dict[str, pa.ChunkedArray] = {}
    refuse_duplicates(name for name in names if name)
    found = in_threads(lambda column: typed(*coded(column), missing), columns)
    for place, (name, values) in enumerate(zip(names, found, strict=True), start=1):
        if name:
            named[name] = values
        elif values.null_count < len(values):
            raise ReadError(f"Column {place} of {path} has no name; name it or drop it from the file.")
    return pa.table(named)


def write_csv(table: pa.Table, path: Path, *, excel_safe: bool = False) -> None:
    r"""Write a canonical table as UTF-8 with "\n" and few quotes; equal tables give equal bytes.

    Cells are separated by commas, in .tsv files by tabs. Missing values are empty cells. Text that Sfumato would
    otherwise read as missing ("NA") or trim (" a") is quoted, so that `read_csv` restores it; other readers may
    still read a quoted "NA" as missing. A text column whose values all look like numbers, dates or
    booleans comes back as that type: CSV has no types.

    Parameters
    ----------
    table : any canonical table.
    path : the file; a name that ends in .gz is compressed.
    excel_safe : put an apostrophe before text cells and names that a spreadsheet would run as formulas: those that
        begin with = + - @, a tab or a carriage return.
    """
    separator = "\t" if _has_tabs(path) else ","
    with ExitStack() as stack:
        sink: BinaryIO = stack.enter_context(path.open("wb"))
        if path.suffix.lower() == ".gz":
            sink = stack.enter_context(gzip.GzipFile("", "wb", fileobj=sink, mtime=0))  # type: ignore[assignment]
        for lines in _lines(table, separator, excel_safe=excel_safe):
            sink.write(lines)


def without_apostrophes(table: pa.Table) -> pa.Table:
    """Take the apostrophes away that `write_csv` with `excel_safe` has put in front of texts and names."""
    names = [re.sub(rf"\A'(?={EXECUTED[2:]})", "", name) for name in table.column_names]
    marked = rf"\A'({EXECUTED[2:]})"
    columns = [
        pc.replace_substring_regex(column, marked, r"\1") if pa.types.is_string(column.type) else column
        for column in table.columns
    ]
    return pa.table(columns, names=names)


def _lines(table: pa.Table, separator: str, *, excel_safe: bool) -> Iterator[bytes | memoryview]:
    names = _cells(pa.array(table.column_names, pa.string()), "".join(SEPARATORS), excel_safe=excel_safe)
    yield (separator.join(names.to_pylist()) + "\n").encode()
    parting = separator if table.num_columns > 1 else "".join(SEPARATORS)  # so that nobody finds more columns
    parts = list(in_threads(lambda column: _coded_cells(column, parting, excel_safe=excel_safe), table.columns))
    empty = '""' if len(parts) == 1 else ""  # an empty line would not count as a row
    between, nothing, end = (pa.scalar(text, pa.large_string()) for text in (separator, "", "\n"))

    def block(start: int) -> memoryview:
        columns = [cells.take(codes.slice(start, ROWS_AT_ONCE)) for cells, codes in parts]
        rows = pc.binary_join_element_wise(*columns, between, null_handling="replace", null_replacement=empty)
        ended = pc.binary_join_element_wise(rows, nothing, end)
        _, offsets, text = ended.buffers()
        return memoryview(text)[: memoryview(offsets).cast("q")[len(ended)]]

    yield from in_threads(block, range(0, table.num_rows if parts else 0, ROWS_AT_ONCE))


def _coded_cells(column: pa.ChunkedArray, separator: str, *, excel_safe: bool) -> tuple[pa.Array, pa.Array]:
    distinct, codes = coded(column)
    cells = distinct_texts(distinct)
    if pa.types.is_string(column.type):
        cells = _cells(cells, separator, excel_safe=excel_safe)
    return cells.cast(pa.large_string()), codes


def _cells(texts: pa.Array, separators: str, *, excel_safe: bool) -> pa.Array:
    """Put apostrophes before texts that a spreadsheet would run as formulas, and quotes where needed."""
    if excel_safe:
        executed = pc.match_substring_regex(texts, EXECUTED)
        texts = pc.if_else(executed, pc.binary_join_element_wise("'", texts, ""), texts)
    special = pc.match_substring_regex(texts, f"[{re.escape(separators)}]|{QUOTED}")
    unsure = pc.or_(special, pc.is_in(texts, value_set=pa.array(MISSING, pa.string())))
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(unsure, pc.binary_join_element_wise('"', doubled, '"', ""), texts)
