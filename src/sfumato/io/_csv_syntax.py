"""The syntax between the cells of a CSV file: separators, quotation marks and spaces."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._threads import map_in_threads
from sfumato.io._limits import MAX_LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

SEPARATORS = (",", ";", "\t", "|")
SPACE_MARK = " "  # any number of spaces
WIDE = 2  # cells
NUMBER = r"[-+]?[0-9]*[.,]?[0-9]+(?:[eE][-+]?[0-9]+)?"
BLOCK = 1 << 24
SAMPLE = 1 << 16
MOSTLY = 0.9
FEWEST_LINES = 2  # of the same width below a title
QUOTED_CELL = r'(?:(?<=[,;\t|\r\n])|\A) *"(?:[^"]|"")*"'
QUOTE, SPACE, NEWLINE, RETURN = b'" \n\r'


def detect_separator(data: bytes) -> str:
    r"""Find the separator whose count outside quotes matches the header's on most of the first lines.

    >>> detect_separator(b"name;height\nEve;1,70\nBob;1,80\n")
    ';'
    """
    header, *rest = _unquoted_lines(data) or [""]
    scores = {}
    for separator in SEPARATORS:
        columns = header.count(separator)
        agreeing = sum(line.count(separator) == columns for line in rest)
        if columns and (agreeing or any(separator in line for line in rest) or not rest):
            scores[separator] = (agreeing, columns)
    if scores:
        return max(scores, key=lambda separator: scores[separator])
    if separated_by_spaces(data):
        return SPACE_MARK
    return next((separator for separator in SEPARATORS if separator not in header), SEPARATORS[0])


def separated_by_spaces(data: bytes) -> bool:
    r"""Return whether spaces part nearly all lines into the same number of cells, some of which are numbers.

    >>> separated_by_spaces(b"A11 6 A34\nA12 48 A32\n"), separated_by_spaces(b"name\nEve Smith\nBob Jones\n")
    (True, False)
    """
    rows = [line.split() for line in _unquoted_lines(data, "q")]
    (width, often), *_ = Counter(map(len, rows)).most_common(1) or [(0, 0)]
    alike = [row for row in rows if len(row) == width]
    if width < WIDE or len(rows[0]) != width or often < max(FEWEST_LINES, MOSTLY * len(rows)):
        return False
    return any(
        all(re.fullmatch(NUMBER, cell) or cell in {"?", "NA"} for cell in cells[1:])
        for cells in zip(*alike, strict=True)
    )


def tabbed(data: bytes) -> bytes:
    r"""Put tabs where any number of spaces and tabs stand between cells.

    >>> tabbed(b'  5.1   "a b"\n10 x  \n')
    b'5.1\t"a b"\n10\tx\n'
    """
    ends = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", data)
    return re.sub(rb'(?<![^ \t\r\n])("(?:[^"]|"")*")(?![^ \t\r\n])|[ \t]+', lambda found: found[1] or b"\t", ends)


def _unquoted_lines(data: bytes, quoted: str = "") -> list[str]:
    """Return the first lines that are not empty, with something else for what stands in quotes."""
    sample = data[:SAMPLE].decode(errors="replace")
    if len(data) > SAMPLE:
        sample = sample[: max(sample.rfind("\n"), sample.rfind("\r"))]
    bare = re.sub(QUOTED_CELL if not quoted else r'"(?:[^"]|"")*"', quoted, sample)
    return [line for line in bare.splitlines() if line.strip()]


def count_title_lines(data: bytes) -> int:
    r"""Count the lines before the header: those before the first that is as wide as nearly all others and half full.

    There are none if one of them might be the header itself, or if the first line below them has numbers.

    >>> count_title_lines(b"Patients 2024\n\nname;age\nEve;39\nBob;40\n")
    2
    """
    sample = data[:SAMPLE].decode(errors="replace")
    if len(data) > SAMPLE:
        sample = sample[: max(sample.rfind("\n"), sample.rfind("\r"))]
    lines = re.sub(QUOTED_CELL, "q", sample).splitlines()
    found = (0, 0)
    for separator in SEPARATORS:
        widths = Counter(line.count(separator) for line in lines if line.strip())
        (width, often), *_ = widths.most_common(1) or [(0, 0)]
        first = next((place for place, line in enumerate(lines) if _is_header(line, separator, width)), 0)
        below = [line.count(separator) == width for line in lines[first:] if line.strip()]
        sparse = all(_count_filled(line, separator) <= max(1, width // 2) for line in lines[:first])
        if width and sparse and often > FEWEST_LINES and sum(below) + 1 >= MOSTLY * len(below):
            found = max(found, (often, first))
    return found[1]


def _is_header(line: str, separator: str, width: int) -> bool:
    cells = line.split(separator)
    filled = _count_filled(line, separator)
    numbers = any(re.fullmatch(r"[-+]?[0-9][0-9.,/:-]*", cell.strip()) for cell in cells)
    return len(cells) == width + 1 and filled > 1 and filled >= len(cells) / 2 and not numbers


def _count_filled(line: str, separator: str) -> int:
    return sum(bool(cell.strip()) for cell in line.split(separator))


def drop_last_lines(data: bytes, count: int) -> bytes:
    r"""Leave the last lines out, empty ones not counted.

    >>> drop_last_lines(b"age\n39\n40\nall: 79\n\n", 1)
    b'age\n39\n40'
    """
    for _ in range(count):
        data = data.rstrip()
        data = data[: max(data.rfind(b"\n"), data.rfind(b"\r"), 0)]
    return data


def read_declared_separator(data: bytes) -> str | None:
    r"""Return the separator that a first line states for Excel.

    >>> read_declared_separator(b"sep=;\nname;age\n")
    ';'
    """
    found = re.match(rb"[\"']?sep=([^\r\n])[\"']?[\r\n]", data, re.IGNORECASE)
    return found[1].decode(errors="replace") if found else None


def skip_lines(data: bytes, count: int) -> bytes | None:
    r"""Leave the first lines out, empty ones counted; None if there are not that many.

    >>> skip_lines(b"Patients\r\n\nname;age\n", 2)
    b'name;age\n'
    """
    ends = (match.end() for match in re.finditer(rb"\r\n|\r|\n", data))
    end = 0 if count == 0 else next(islice(ends, count - 1, None), None)
    return None if end is None else data[end:]


def has_overlong_line(data: bytes) -> bool:
    """Return whether a line is longer than any record, as where line breaks are lost."""
    start = 0
    while len(data) - start > MAX_LINE_BYTES:
        end = max(data.rfind(mark, start, start + MAX_LINE_BYTES + 1) for mark in (b"\n", b"\r"))
        if end < 0:
            return True
        start = end + 1
    return False


def find_body_separator(data: bytes, width: int) -> str | None:
    r"""Find a separator that parts nearly all lines but the first into one other number of cells.

    Then the first line is a title rather than the header, or the separator of the file is another.

    >>> find_body_separator(b"Patients 2024\nname;age\nEve;39\nBob;40\n", 1)
    ';'
    """
    _, *rest = _unquoted_lines(data) or [""]
    for separator in SEPARATORS:
        (counts, often), *_ = Counter(line.count(separator) for line in rest).most_common(1) or [(0, 0)]
        if counts and counts + 1 != width and often > 1 and often >= MOSTLY * len(rest):
            return separator
    return None


def split_first_record(data: bytes, separator: str) -> tuple[bytes, int]:
    """Return the first line that is not empty, including quoted line breaks, and where the rest begins."""
    mark = re.escape(separator.encode())
    cell = rb'(?:"(?:[^"]|"")*"[^' + mark + rb"\r\n]*|[^" + mark + rb"\r\n]*)"
    record = rb"[\r\n]*(" + cell + rb"(?:" + mark + cell + rb")*)(?:\r\n|\r|\n|\Z)"
    match = re.compile(record).match(data)
    return (match[1], match.end()) if match else (b"", 0)


def trim_cells(data: bytes, separator: str) -> tuple[bytes, bool]:
    r"""Remove the spaces around cells, outside quotes, and return whether the quotation marks are sound.

    Quotation marks are sound if each quoted cell begins after a separator and ends before one.

    >>> trim_cells(b'a, b\n1 ," x, y "\n', ",")
    (b'a,b\n1," x, y "\n', True)
    """
    mark = separator.encode()
    blocks = list(_blocks(data))
    quotes = np.cumsum([0, *(block.count(b'"') for block in blocks)]) % 2
    pieces, same = [], True

    def trim(at: int) -> bytes | None:
        return _trim_block(blocks[at], mark[0], bool(quotes[at]))

    for block, piece in zip(blocks, map_in_threads(trim, range(len(blocks)), len(data)), strict=True):
        if piece is None:
            return _trim_cell_by_cell(data, mark), False
        pieces.append(piece)
        same &= piece is block
    return data if same else b"".join(pieces), not quotes[-1]


def has_outer_spaces(column: pa.ChunkedArray) -> bool:
    """Return whether a cell of a dictionary-coded column begins or ends with a space."""
    return any(
        pc.any(pc.or_(pc.starts_with(each.dictionary, " "), pc.ends_with(each.dictionary, " "))).as_py()
        for each in column.chunks
    )


def _blocks(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + BLOCK) + 1 or len(data)
        yield data[start:end]
        start = end


def _trim_block(block: bytes, mark: int, inside: bool) -> bytes | None:
    """Trim one block that ends with a line; nothing if its quotation marks are not sound.

    `inside` says whether the block begins within a quoted cell.
    """
    cells = np.frombuffer(block, np.uint8)
    around = np.full(len(cells) + 2, NEWLINE, np.uint8)  # around[i + 1] is cells[i]
    around[1:-1] = cells
    quotes = np.flatnonzero(cells == QUOTE)
    allowed, border = _byte_lookup([mark, NEWLINE, RETURN, QUOTE, SPACE]), _byte_lookup([mark, NEWLINE, RETURN])
    opening, closing = quotes[int(inside) :: 2], quotes[1 - int(inside) :: 2]
    sound = bool(allowed[around[opening]].all() and allowed[around[closing + 2]].all())
    spaces = np.flatnonzero(cells == SPACE)
    if not sound:
        return None
    if not len(spaces):
        return block
    first = np.append(True, np.diff(spaces) > 1)
    starts, ends = spaces[first], spaces[np.append(first[1:], True)] + 1
    loose = border[around[starts]] | border[around[ends + 1]]
    edges = np.flatnonzero(loose)
    loose[edges] = (np.searchsorted(quotes, starts[edges]) + inside) % 2 == 0
    if not loose.any():
        return block
    keep = np.ones(len(cells), bool)
    keep[spaces[np.repeat(loose, ends - starts)]] = False
    return cells[keep].tobytes()


def _byte_lookup(wanted: list[int]) -> npt.NDArray[np.bool_]:
    """Make a list by which every byte is looked up: whether it is one of those."""
    found = np.zeros(256, dtype=np.bool_)
    found[wanted] = True
    return found


def _trim_cell_by_cell(data: bytes, mark: bytes) -> bytes:
    """Trim a file with quotation marks inside unquoted cells."""
    border = b"[" + re.escape(mark) + rb"\r\n]"
    quoted = rb"(?:(?<=[\r\n " + re.escape(mark) + rb'])|\A)("(?:[^"]|"")*")(?= *(?:' + border + rb"|\Z))"
    return re.sub(quoted + rb"| *(" + border + rb") *|\A +| +\Z", rb"\1\2", data)


def find_uneven_line(data: bytes, separator: str, width: int) -> tuple[int, int] | None:
    """Find the first line with another number of cells, as (line, cells); called only after a failure."""
    lines = csv.reader(_open_lines(data), delimiter=separator)
    before = 0
    try:
        for cells in lines:
            if cells and len(cells) != width:
                return before + 1, len(cells)
            before = lines.line_num
    except csv.Error:
        return None
    return None


def find_stray_quote(data: bytes, separator: str) -> int | None:
    """Find the line of a quoted cell that is not closed at its end; called only for unsound marks."""
    lines = csv.reader(_open_lines(data), delimiter=separator, strict=True)
    before = 0
    try:
        for _ in lines:
            before = lines.line_num
    except csv.Error:
        return before + 1
    return None


def _open_lines(data: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
