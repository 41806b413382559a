"""Text files read line by line: no line changes how any other is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import pyarrow as pa

from sfumato.exceptions import ReadError
from sfumato.table.formats.cells import detect_separator, skip_lines, tabbed
from sfumato.table.formats.encoding import detect_encoding, read_as_utf8, read_unpacked
from sfumato.table.formats.findings import FileFindings
from sfumato.table.formats.headers import Header, parse_sample
from sfumato.table.formats.inference import MISSING

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
