"""Tables as comma-separated text."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from sfumato._threads import map_in_threads
from sfumato._validation import require
from sfumato.errors import ReadError
from sfumato.io._column_types import convert_column
from sfumato.io._convention_detection import DetectedConventions, add_findings, detect_conventions
from sfumato.io._conventions import COMMA, ISO, POINT, Conventions, check_columns_exist, format_numbers
from sfumato.io._csv_syntax import SEPARATORS, SPACE_MARK, detect_separator, skip_lines, tabbed
from sfumato.io._dataframes import to_canonical
from sfumato.io._header_detection import Header, parse_sample
from sfumato.io._text_encoding import detect_encoding, encode_lines, read_as_utf8, read_unpacked
from sfumato.io._text_file import TextFile, match_names, read_columns
from sfumato.io._type_inference import MISSING, drop_missing_spellings
from sfumato.io._values import encode_distinct, format_distinct_values, format_zoned_values
from sfumato.io.formats import FileFindings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


BLOCK = 1 << 23
ROWS_AT_ONCE = 1 << 17
NAMES = {",": "','", ";": "';'", "\t": "a tab", "|": "'|'"}
FORMULA_STARTS = r"\A[=+\-@\t\r]"
QUOTED = r'["\r\n]|\A | \z|\A\z|\A\x{FEFF}'  # beside the separator


def read_csv(
    path: Path,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    missing: tuple[str, ...] = MISSING,
    skip_rows: int = 0,
    skip_last: int = 0,
    header: bool | None = None,
    names: Sequence[str] = (),
    decimal: str | None = None,
    thousands: str | None = None,
    date_format: str | None = None,
    column_types: Mapping[str, str] | None = None,
    as_text: bool = False,
    findings: FileFindings | None = None,
) -> pa.Table:
    """Read a CSV file as a canonical table.

    Spaces around unquoted cells are dropped and empty lines are skipped. A cell is missing if it is empty or,
    when not quoted, one of the spellings in `missing`; in columns of numbers, dates or booleans also when
    quoted. A single column whose cells hold a separator is refused, unless the separator is given: the file has more
    columns, and its first line is a title. A first line such as `sep=;` states the separator, for Excel.

    Parameters
    ----------
    path : the file; a name that ends in .gz is unpacked.
    separator : one character; if not given, a tab in .tsv files, and else detected among comma, semicolon, tab, bar and
        space, which stands for any number of spaces.
    encoding : detected if not given; see `sfumato.io._text_encoding.read_as_utf8`.
    missing : spellings of a missing value.
    skip_rows, skip_last : how many lines, such as titles and totals, stand before the header and after the records.
    header, names : see `sfumato.io._header_detection.Header`.
    decimal, thousands, date_format, column_types : see `sfumato.io._conventions.Conventions`.
    as_text : read line by line, every cell as its own text, so that no row changes how another is read.
    findings : is told what was found out.
    """
    conventions = Conventions(
        decimal=decimal, thousands=thousands, date_format=date_format, column_types=column_types or {}
    )
    known = separator is None or (len(separator) == 1 and separator.isascii() and separator not in '"\r\n')
    require(known, "read", "separator", "one ASCII character other than a quote or line break", separator)
    separator = "\t" if separator is None and _has_tabs(path) else separator
    about = Header(given=header, names=names)
    if as_text:
        return _read_lines(path, separator, encoding, missing, skip_rows, about)
    findings = FileFindings() if findings is None else findings
    source = TextFile.read(path, encoding, findings).trim(separator, skip_rows, skip_last)
    rows = parse_sample(source.data, source.separator) or [[]]
    source = replace(source, header=about.from_options(path, rows[0], rows[1:], findings, "line"))
    first, columns = read_columns(source, missing)
    parts = match_names(source, about.column_names(path, first, findings, header=source.header), columns)
    check_columns_exist(conventions.column_types, parts)
    source.tell(findings)
    found = detect_conventions(
        {name: drop_missing_spellings(values, missing) for name, (values, _) in parts.items()}, conventions
    )
    add_findings(found, conventions, findings)
    return to_canonical(_convert_columns(parts, missing, found, len(source.data)))


def _convert_columns(
    parts: Mapping[str, tuple[pa.Array, pa.Array]], missing: tuple[str, ...], found: DetectedConventions, size: int
) -> pa.Table:
    def typed(name: str) -> pa.ChunkedArray:
        return convert_column(name, *parts[name], missing, found.conventions, parse_plain=lambda _: found.parsed[name])

    return pa.table(dict(zip(parts, map_in_threads(typed, parts, size), strict=True)))


def _read_lines(  # noqa: PLR0917 - the options of reading
    path: Path, separator: str | None, encoding: str | None, missing: tuple[str, ...], skip_rows: int, about: Header
) -> pa.Table:

    if separator is None or encoding is None:
        separator, encoding = detect_text_layout(
            path, separator=separator, encoding=encoding, skip_rows=skip_rows, header=about
        )
    return read_lines(path, separator=separator, encoding=encoding, missing=missing, skip_rows=skip_rows, header=about)


def _has_tabs(path: Path) -> bool:
    return ".tsv" in path.name.lower()


def write_csv(
    table: pa.Table,
    path: Path,
    *,
    excel_safe: bool = False,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str = POINT,
    date_format: str = ISO,
) -> None:
    r"""Write a canonical table with "\n" and few quotes; equal tables give equal bytes.

    Missing values are empty cells. Text that Sfumato would
    otherwise read as missing ("NA") or trim (" a") is quoted, so that `read_csv` restores it; other readers may
    still read a quoted "NA" as missing. A text column whose values all look like numbers, dates or
    booleans comes back as that type: CSV has no types.

    Parameters
    ----------
    table : any canonical table.
    path : the file; a name that ends in .gz is compressed.
    excel_safe : put an apostrophe before text cells and names that a spreadsheet would run as formulas: those that
        begin with = + - @, a tab or a carriage return.
    separator : by default a tab in .tsv files, else a comma, or a semicolon if the decimal mark is a comma.
    encoding : by default UTF-8.
    decimal : the decimal mark of numbers; within labels such as `[1.5, 2)` it is always a point.
    date_format : how days are written; see `sfumato.io._conventions.DateFormat`.
    """
    conventions = Conventions(decimal=decimal, date_format=date_format)
    usual = "\t" if _has_tabs(path) else ";" if decimal == COMMA else ","
    chosen = separator or usual
    fits = chosen not in {decimal, SPACE_MARK}
    require(fits, "write", "separator", "another character than the decimal mark, and no space", separator)
    with ExitStack() as stack:
        sink: BinaryIO = stack.enter_context(path.open("wb"))
        if path.suffix.lower() == ".gz":
            sink = stack.enter_context(gzip.GzipFile("", "wb", fileobj=sink, mtime=0))  # type: ignore[assignment]
        for lines in encode_lines(_encode_lines(table, chosen, conventions, excel_safe=excel_safe), encoding):
            sink.write(lines)


def remove_formula_guards(table: pa.Table) -> pa.Table:
    """Take the apostrophes away that `write_csv` with `excel_safe` has put in front of texts and names."""
    names = [re.sub(rf"\A'(?={FORMULA_STARTS[2:]})", "", name) for name in table.column_names]
    marked = rf"\A'({FORMULA_STARTS[2:]})"
    columns = [
        pc.replace_substring_regex(column, marked, r"\1") if pa.types.is_string(column.type) else column
        for column in table.columns
    ]
    return pa.table(columns, names=names)


def _encode_lines(
    table: pa.Table, separator: str, conventions: Conventions, *, excel_safe: bool
) -> Iterator[bytes | memoryview]:
    names = _format_cells(pa.array(table.column_names, pa.string()), "".join(SEPARATORS), excel_safe=excel_safe)
    yield (separator.join(names.to_pylist()) + "\n").encode()
    parting = separator if table.num_columns > 1 else "".join(SEPARATORS)  # so that nobody finds more columns

    def coded_cells(column: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
        return _format_coded_cells(column, parting, conventions, excel_safe=excel_safe)

    parts = list(map_in_threads(coded_cells, table.columns, table.num_rows))
    empty = '""' if len(parts) == 1 else ""  # an empty line would not count as a row
    between, nothing, end = (pa.scalar(text, pa.large_string()) for text in (separator, "", "\n"))

    def block(start: int) -> memoryview:
        columns = [cells.take(codes.slice(start, ROWS_AT_ONCE)) for cells, codes in parts]
        rows = pc.binary_join_element_wise(*columns, between, null_handling="replace", null_replacement=empty)
        ended = pc.binary_join_element_wise(rows, nothing, end)
        _, offsets, text = ended.buffers()
        return memoryview(text)[: memoryview(offsets).cast("q")[len(ended)]]

    yield from map_in_threads(block, range(0, table.num_rows if parts else 0, ROWS_AT_ONCE), table.num_rows)


def _format_coded_cells(
    column: pa.ChunkedArray, separator: str, conventions: Conventions, *, excel_safe: bool
) -> tuple[pa.Array, pa.Array]:
    distinct, codes = encode_distinct(column)
    cells = format_distinct_values(distinct)
    if pa.types.is_string(column.type):
        cells = _format_cells(cells, separator, excel_safe=excel_safe)
    elif pa.types.is_floating(column.type):
        cells = format_numbers(cells, conventions.mark)
    elif pa.types.is_timestamp(column.type) and column.type.tz is not None:
        cells = format_zoned_values(distinct)
    elif pa.types.is_temporal(column.type) and conventions.days is not None:
        cells = conventions.days.write(cells)
    return cells.cast(pa.large_string()), codes


def _format_cells(texts: pa.Array, separators: str, *, excel_safe: bool) -> pa.Array:
    """Put apostrophes before texts that a spreadsheet would run as formulas, and quotes where needed."""
    if excel_safe:
        executed = pc.match_substring_regex(texts, FORMULA_STARTS)
        texts = pc.if_else(executed, pc.binary_join_element_wise("'", texts, ""), texts)
    special = pc.match_substring_regex(texts, f"[{re.escape(separators)}]|{QUOTED}")
    unsure = pc.or_(special, pc.is_in(texts, value_set=pa.array(MISSING, pa.string())))
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(unsure, pc.binary_join_element_wise('"', doubled, '"', ""), texts)


# Text files read line by line: no line changes how any other is read.

USUAL = Header()
MARK = "\ufeff"
PROBE = '\n\r,;"'


def detect_text_layout(
    path: Path,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    skip_rows: int = 0,
    header: Header = USUAL,
) -> tuple[str, str]:
    """Tell the separator and the encoding of a text file once, so that they can be kept.

    A quotation mark that is not closed on its line is refused: a cell of several lines would make one row many. So is a
    first line that looks like a record, unless it is said what it is.
    """
    encoding = (encoding or detect_encoding(path)).removesuffix("-sig")
    text = read_as_utf8(path, encoding)
    if PROBE.encode(encoding) != PROBE.encode():
        raise ReadError(f"{path} is written in {encoding}, whose bytes are not lines; save it as UTF-8.")
    separator = separator or detect_separator(skip_lines(text, skip_rows) or b"")
    for number, line in enumerate(_decode_lines(path, encoding, skip_rows), start=1 + skip_rows):
        if any(not quoted and cell.startswith('"') for cell, quoted in _split_line(line, separator)):
            raise ReadError(
                f"Line {number} of {path} has a quotation mark that is not closed on its line; write every row on one"
                " line, or save the table as Parquet."
            )
    first, *rows = parse_sample(skip_lines(text, skip_rows) or b"", separator) or [[]]
    header.from_options(path, first, rows, FileFindings(), "line")
    return separator, encoding


def read_lines(
    path: Path,
    *,
    separator: str,
    encoding: str,
    missing: Sequence[str] = MISSING,
    skip_rows: int = 0,
    header: Header = USUAL,
) -> pa.Table:
    """Read a text file as a table of texts.

    A line that has more or fewer cells than the header is a row without any value, and bytes that are not of the
    encoding become replacement characters. No line but the header is ever refused.
    """
    lines = [line for line in _decode_lines(path, encoding, skip_rows) if line.strip()] or [""]
    lines[0] = lines[0].removeprefix(MARK)
    first = [cell for cell, _ in _split_line(lines[0], separator)]
    named = not header.names if header.given is None else header.given
    names = header.column_names(path, first, FileFindings(), header=named)
    lines = lines[1:] if named else lines
    absent = {*missing, ""}
    rows = [
        [
            None if cell == "" or (cell in absent and not quoted) else cell
            for cell, quoted in _split_line(line, separator)
        ]
        for line in lines
    ]
    nothing = [None] * len(names)
    columns = zip(*(row if len(row) == len(names) else nothing for row in rows), strict=True)
    found = list(columns) or [()] * len(names)
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in zip(names, found, strict=True) if name})


def _decode_lines(path: Path, encoding: str, skip_rows: int) -> list[str]:
    return [line.decode(encoding, errors="replace") for line in read_unpacked(path).splitlines()[skip_rows:]]


def _split_line(line: str, separator: str) -> list[tuple[str, bool]]:
    """Take a line apart into cells, and whether each is quoted; spaces around cells are dropped."""
    if separator == " ":
        line, separator = tabbed(line.encode()).decode(), "\t"
    if '"' not in line:
        return [(cell.strip(" "), False) for cell in line.split(separator)]
    return [
        (read[2].strip(" "), False) if read[1] is None else (read[1].replace('""', '"'), True)
        for read in _cell_pattern(separator).finditer(line + separator)
    ]


@lru_cache(maxsize=8)
def _cell_pattern(separator: str) -> re.Pattern[str]:
    mark = re.escape(separator)
    return re.compile(rf' *"((?:[^"]|"")*)" *{mark}|([^{mark}]*){mark}')
