"""Tables as Excel workbooks (.xlsx)."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

import pyarrow as pa
import pyarrow.compute as pc

from sfumato._optional import import_optional
from sfumato._validation import suggest_closest
from sfumato.errors import ReadError, SchemaError, SfumatoError, WriteError
from sfumato.io._column_types import make_parser, parse_by_conventions
from sfumato.io._columns import column_from_values, describe_python_types, format_texts
from sfumato.io._convention_detection import add_findings, detect_conventions
from sfumato.io._conventions import Conventions, check_columns_exist
from sfumato.io._dataframes import to_canonical
from sfumato.io._header_detection import MAX_RECORDS as HEADERS
from sfumato.io._header_detection import Header
from sfumato.io._limits import format_suspicious_size, max_unpacked_bytes
from sfumato.io._remarks import remark_on_texts
from sfumato.io._type_inference import MISSING, parse_narrowest
from sfumato.io._values import format_values, format_zoned_values
from sfumato.io.formats import FileFindings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


# What people do to sheets: titles above the header, merged cells, numbers and days entered as text.

Range = tuple[int, int, int, int]  # first column and row, last row and column, from 1

MIN_WIDTH = 2  # columns of a table
MERGED = re.compile(rb'<(?:\w+:)?mergeCell ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"')


def usual_width(rows: Sequence[Sequence[Any]]) -> int:
    """Return how many cells most rows fill; 0 if all are empty.

    >>> usual_width([("Patients", None), (None, None), ("name", "age"), ("Eve", 39), ("Bob", 40)])
    2
    """
    counts = Counter(count for row in rows if (count := sum(cell is not None for cell in row)))
    return max(counts, key=lambda width: (counts[width], width), default=0)


def count_filled_cells(rows: Sequence[Sequence[Any]]) -> int:
    """Return how many cells the rows of the usual width fill."""
    width = usual_width(rows)
    return width * sum(sum(cell is not None for cell in row) == width for row in rows) if width >= MIN_WIDTH else 0


def count_title_rows(rows: Sequence[Sequence[Any]]) -> int:
    """Count the rows before the header: those before the first that is at least half as full as most.

    There are none if one of them might be the header itself, or if the first row below them has other cells than texts.

    >>> count_title_rows([("Patients", None), (None, None), ("name", "age"), ("Eve", 39), ("Bob", 40)])
    2
    """
    width = usual_width(rows)
    if width < MIN_WIDTH:
        return 0
    fills = [sum(cell is not None for cell in row) for row in rows]
    first = next(place for place, count in enumerate(fills) if count >= max(MIN_WIDTH, width / 2))
    sparse = all(count <= max(1, (width - 1) // 2) for count in fills[:first])
    named = all(cell is None or isinstance(cell, str) for cell in rows[first])
    return first if sparse and named else 0


def read_merged_ranges(path: Path, sheet: Any) -> list[Range]:
    """Return the ranges of merged cells of a sheet, which openpyxl does not read row by row."""
    with zipfile.ZipFile(path) as packed:
        found = MERGED.findall(packed.read(sheet._worksheet_path))  # noqa: SLF001 - no other way
    return [(_column_number(left), int(top), int(bottom), _column_number(right)) for left, top, right, bottom in found]


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


def fill_merged_cells(rows: Sequence[Sequence[Any]], merged: Sequence[Range], skipped: int) -> list[tuple[Any, ...]]:
    """Give the value of the first of merged cells to all of them.

    >>> fill_merged_cells([("Ulm", 1), (None, 2)], [(1, 1, 2, 1)], 0)
    [('Ulm', 1), ('Ulm', 2)]
    """
    cells = [list(row) for row in rows]
    for left, top, bottom, right in merged:
        place = top - 1 - skipped
        if not 0 <= place < len(cells) or left > len(cells[place]):
            continue
        value = cells[place][left - 1]
        for row in cells[place : bottom - skipped]:
            row.extend([None] * (right - len(row)))
            row[left - 1 : right] = [value] * (right - left + 1)
    return [tuple(row) for row in cells]


def convert_cells(
    columns: Mapping[str, list[Any]], conventions: Conventions, findings: FileFindings
) -> dict[str, pa.Array]:
    """Give columns of Python values their types; texts become numbers or days only by conventions that are told."""
    texts = {
        name: pa.array(dict.fromkeys(value for value in values if value is not None), pa.string())
        for name, values in columns.items()
        if name not in conventions.column_types and {type(value) for value in values} <= {str, type(None)}
    }
    unparsed = {name: values for name, values in texts.items() if len(values) and not _is_unambiguous(values)}
    found = detect_conventions(unparsed, conventions)
    add_findings(found, conventions, findings)
    findings.remarks += [
        remark for name, values in texts.items() if name not in unparsed for remark in remark_on_texts(name, values)
    ]
    return {
        name: _convert_values(name, values, found.conventions, texts=unparsed.get(name))
        for name, values in columns.items()
    }


def _is_unambiguous(values: pa.Array) -> bool:
    """Return whether texts are numbers, days or booleans as everybody writes them; moments with a zone are moments."""
    found = parse_narrowest(values)
    return found is not None and not (pa.types.is_timestamp(found.type) and found.type.tz is not None)


def _convert_values(name: str, values: list[Any], conventions: Conventions, texts: pa.Array | None) -> pa.Array:
    said = conventions.column_types.get(name)
    if said == "text":
        return format_texts(values)
    if said is not None:
        return column_from_values(name, _parse_texts(name, values, said, conventions))
    if texts is not None:
        read = parse_by_conventions(texts, conventions)
        if read is not None:
            meant = dict(zip(texts.to_pylist(), read.to_pylist(), strict=True))
            return pa.array([meant.get(value) for value in values], read.type)
    try:
        return column_from_values(name, values)
    except SchemaError:
        kinds = describe_python_types(map(type, values))
        if "text" not in kinds or len(kinds) == 1:
            raise
        raise SchemaError(
            f"Column {name!r} mixes {', '.join(kinds[:-1])} and {kinds[-1]}; read it as one type with"
            f" column_types={{{name!r}: 'number'}}, 'date' or 'text'."
        ) from None


def _parse_texts(name: str, values: list[Any], said: str, conventions: Conventions) -> list[Any]:
    """Read the texts among values as a type."""
    parse = make_parser(said, conventions)
    texts = pa.array(dict.fromkeys(value for value in values if isinstance(value, str)), pa.string())
    nothing = pa.array([], pa.string())
    read = parse(texts) if parse is not None and len(texts) else nothing
    if read is None:
        raise ReadError(
            f"Column {name!r} has text cells that are no {said.partition(':')[0]}s; correct or empty them, or read it"
            f" as text with column_types={{{name!r}: 'text'}}."
        )
    meant = dict(zip(texts.to_pylist(), read.to_pylist(), strict=True))
    return [meant.get(value, value) if isinstance(value, str) else value for value in values]


MAX_ROWS, MAX_COLUMNS, LONGEST_TEXT = 2**20 - 1, 2**14, 2**15 - 1
LARGEST_WHOLE = 10**15  # a sheet keeps 15 digits
FIRST_DAY = date(1900, 3, 1)  # a sheet gets earlier days wrong or not at all
FORBIDDEN = r"[\x00-\x08\x0b-\x1f\x{FFFE}\x{FFFF}]"  # a carriage return would become a line break
ROWS_AT_ONCE = 1 << 14
NOT_AVAILABLE = "#N/A"
UNSURE = {*MISSING, NOT_AVAILABLE}
PREVIEW_ROWS = 200  # rows that show whether a sheet holds a table


def read_excel(
    path: Path,
    *,
    sheet: str | None = None,
    missing: tuple[str, ...] = MISSING,
    skip_rows: int = 0,
    skip_last: int = 0,
    header: bool | None = None,
    names: Sequence[str] = (),
    fill_merged: bool = False,
    decimal: str | None = None,
    thousands: str | None = None,
    date_format: str | None = None,
    column_types: Mapping[str, str] | None = None,
    as_text: bool = False,
    findings: FileFindings | None = None,
) -> pa.Table:
    """Read one sheet, by default the first; its first row that is not empty is the header, unless it is a record.

    Cells have the types of the sheet, or are all texts; text cells in `missing` and blank ones are missing values,
    unless they were entered with an apostrophe, which makes them text. Rows without any value are skipped. For
    formulas, the last computed values are read. Merged cells hold their value in the first one, unless `fill_merged`.
    Conventions are for cells that hold text. Other options are as for text files.
    """
    conventions = Conventions(
        decimal=decimal, thousands=thousands, date_format=date_format, column_types=column_types or {}
    )
    findings = FileFindings() if findings is None else findings
    rows = _read_rows(path, sheet, skip_rows, findings, fill_merged=fill_merged)
    rows = rows[: len(rows) - skip_last]
    if not rows:
        raise ReadError(f"The sheet of {path} is empty; it needs a header row.")
    about = Header(given=header, names=names)
    first, *below = [[(cell or "").strip() for cell in format_texts(row).to_pylist()] for row in rows[: HEADERS + 1]]
    above = about.from_options(path, first, below, findings, "row")
    called = about.column_names(path, first, findings, header=above)
    check_columns_exist(conventions.column_types, called)
    rows = rows[1:] if above else rows
    columns = list(zip_longest(*rows))
    columns += [(None,) * len(rows)] * (len(called) - len(columns))
    named: dict[str, list[Any]] = {}
    absent = {*missing, NOT_AVAILABLE}
    for place, (name, cells) in enumerate(zip_longest(called, columns, fillvalue=""), start=1):
        values = [None if type(cell) is str and cell.strip() in absent else cell for cell in cells]
        if name:
            named[name] = values
        elif not as_text and any(value is not None for value in values):
            titled = _titles_remark([tuple(cell or None for cell in first), *rows], skip_rows)
            raise ReadError(f"Column {place} of {path} has no name; name it or drop it from the sheet{titled}.")
    if as_text:
        return pa.table({name: format_texts(values) for name, values in named.items()})
    return to_canonical(pa.table(convert_cells(named, conventions, findings)))


def _titles_remark(rows: list[tuple[Any, ...]], skipped: int) -> str:
    """Say how to leave out the titles, if there seem to be some."""
    titles = count_title_rows(rows)
    which = "row is a title" if titles == 1 else f"{titles} rows are titles"
    return f", or pass skip_rows={skipped + titles} if the first {which}" if titles else ""


@contextmanager
def _open_workbook(path: Path) -> Iterator[Any]:
    """Open a workbook; what is no workbook is refused."""
    openpyxl = import_optional("openpyxl", extra="excel", error=ReadError)
    broken = (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError, ParseError)
    try:
        with path.open("rb") as file, warnings.catch_warnings():
            _check_unpacked_size(path)
            warnings.simplefilter("ignore")  # about formatting that openpyxl does not know
            yield openpyxl.load_workbook(file, read_only=True, data_only=True)
    except SfumatoError:
        raise
    except broken:
        raise ReadError(f"{path} is not a complete Excel workbook; save it again as .xlsx.") from None
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror}.") from None


def _read_rows(
    path: Path, sheet: str | None, skipped: int, findings: FileFindings, *, fill_merged: bool
) -> list[tuple[Any, ...]]:
    with _open_workbook(path) as book:
        sheets = {each.title: each for each in book.worksheets}
        if sheet is not None and sheet not in sheets:
            raise ReadError(
                f"{path} has no sheet {sheet!r}{suggest_closest(sheet, sheets) or f'; it has {_join_names(sheets)}.'}"
            )
        chosen = sheets[sheet] if sheet is not None else next(iter(sheets.values()))
        rows = _iter_raw_rows(book, chosen, skipped)
        if sheet is None and len(sheets) > 1:
            others = [name for name, each in sheets.items() if each is not chosen and _has_table(book, each)]
            if others and usual_width(rows) < MIN_WIDTH:
                raise ReadError(
                    f"The first sheet of {path}, {chosen.title!r}, holds no table; name one by sheet=: "
                    f"{_join_names(others)}."
                )
            findings.remarks.append(
                f"{path} has the sheets {_join_names(sheets)}, of which the first is read; pass sheet= for another."
            )
        merged = [each for each in read_merged_ranges(path, chosen) if each[2] > skipped]
        if merged and fill_merged:
            rows = fill_merged_cells(rows, merged, skipped)
        elif merged:
            places = "1 place" if len(merged) == 1 else f"{len(merged):,} places"
            findings.remarks.append(
                f"The sheet {chosen.title!r} of {path} has merged cells in {places}, and only the first of them holds"
                " the value; pass fill_merged=True to give it to all of them."
            )
        return [row for row in rows if any(cell is not None for cell in row)]


def _iter_raw_rows(book: Any, sheet: Any, skipped: int = 0, most: int | None = None) -> list[tuple[Any, ...]]:
    sheet.reset_dimensions()  # what a file says of them may be wrong, and fill the memory
    return list(islice(_iter_cells(book, sheet), skipped, None if most is None else skipped + most))


def _has_table(book: Any, sheet: Any) -> bool:
    return usual_width(_iter_raw_rows(book, sheet, most=PREVIEW_ROWS)) >= MIN_WIDTH


def detect_sheet(path: Path, given: object = None) -> dict[str, object]:
    """Find the sheet that holds the largest table, unless one is given, and the titles above it."""
    with _open_workbook(path) as book:
        sheets = [sheet for sheet in book.worksheets if given in {None, sheet.title}]
        tables = [(sheet.title, _iter_raw_rows(book, sheet, most=PREVIEW_ROWS)) for sheet in sheets]
        name, rows = max(tables, key=lambda table: count_filled_cells(table[1]), default=("", []))
        if usual_width(rows) < MIN_WIDTH:
            return {}
        titles = count_title_rows(rows)
        named: dict[str, object] = {"sheet": name} if given is None and len(book.worksheets) > 1 else {}
        return named | ({"skip_rows": titles} if titles else {})


def sheet_names(path: Path) -> list[str]:
    """Return the names of the sheets of a workbook."""
    with _open_workbook(path) as book:
        return [sheet.title for sheet in book.worksheets]


def _join_names(names: Iterable[str]) -> str:
    *others, last = map(repr, names)
    return f"{', '.join(others)} and {last}" if others else last


def _check_unpacked_size(path: Path) -> None:
    with zipfile.ZipFile(path) as packed:
        if sum(part.file_size for part in packed.infolist()) > max_unpacked_bytes(path.stat().st_size):
            raise ReadError(format_suspicious_size(path))


class TextCell(str):
    """A text that was entered with an apostrophe, so that it means itself."""

    __slots__ = ()


def _iter_cells(book: Any, sheet: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of a sheet; cells need to be looked at one by one only where apostrophes were entered."""
    styles = {place for place, style in enumerate(book._cell_styles) if style.quotePrefix}  # noqa: SLF001 - no other way
    if not styles:
        yield from sheet.iter_rows(values_only=True)
        return
    for row in sheet.iter_rows():
        yield tuple(
            TextCell(cell.value)
            if isinstance(cell.value, str) and cell._style_id in styles  # noqa: SLF001 - no other way
            else cell.value
            for cell in row
        )


def write_excel(table: pa.Table, path: Path, *, excel_safe: bool = False) -> None:  # noqa: ARG001 - it always is
    """Write a canonical table into the sheet "data"; equal tables give equal bytes.

    Text is always stored as text, so no cell is a formula, `excel_safe` or not; text that would be read as missing
    ("NA") has an apostrophe. Columns that a sheet cannot hold are written as text: those with whole numbers of more
    than 15 digits,
    with days before March 1900, or with times finer than milliseconds.
    """
    openpyxl = import_optional("openpyxl", extra="excel", error=WriteError)
    _check_fits_sheet(table)
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("data")

    def plain(value: str) -> Any:
        unsure = value.strip() in UNSURE
        if not unsure and not value.startswith(("=", "#")):
            return value
        cell = openpyxl.cell.WriteOnlyCell(sheet, value)
        cell.data_type = "s"
        if unsure:
            cell.quotePrefix = True
        return cell

    for row in _format_rows(table):
        sheet.append([plain(cell) if isinstance(cell, str) else cell for cell in row])
    buffer = io.BytesIO()
    book.save(buffer)
    _repack(buffer, path)


def _format_rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    yield tuple(table.column_names)
    columns = [_format_column(column) for column in table.columns]
    for start in range(0, table.num_rows, ROWS_AT_ONCE):
        yield from zip(*(column.slice(start, ROWS_AT_ONCE).to_pylist() for column in columns), strict=True)


def _format_column(column: pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        return pa.chunked_array([format_zoned_values(chunk) for chunk in column.chunks], pa.string())
    return format_values(column) if _exceeds_sheet_range(column) else column


def _exceeds_sheet_range(column: pa.ChunkedArray) -> bool:
    if pa.types.is_int64(column.type):
        extremes = [value.as_py() for value in pc.min_max(column).values()]
        return any(value is not None and abs(value) >= LARGEST_WHOLE for value in extremes)
    if pa.types.is_temporal(column.type):
        fine = pa.types.is_timestamp(column.type) and pc.any(pc.not_equal(pc.microsecond(column), 0)).as_py()
        return bool(fine or pc.any(pc.less(column, pa.scalar(FIRST_DAY).cast(column.type))).as_py())
    return False


def _check_fits_sheet(table: pa.Table) -> None:
    if table.num_rows > MAX_ROWS or table.num_columns > MAX_COLUMNS:
        raise WriteError(
            f"{table.num_rows} rows and {table.num_columns} columns do not fit an Excel sheet; write CSV or Parquet."
        )
    columns = {name: table.column(name) for name in table.column_names}
    named = [(f"Column {name!r} contains", column) for name, column in columns.items()]
    for place, column in [("A column name has", pa.array(table.column_names, pa.string())), *named]:
        if pa.types.is_string(column.type) and _is_unfit_text(column):
            raise WriteError(
                f"{place} text that Excel refuses (control characters or more than"
                f" {LONGEST_TEXT} characters); write CSV or Parquet."
            )


def _is_unfit_text(column: pa.Array | pa.ChunkedArray) -> bool:
    long = pc.greater(pc.utf8_length(column), LONGEST_TEXT)
    return bool(pc.any(pc.or_(pc.match_substring_regex(column, FORBIDDEN), long)).as_py())


def _repack(buffer: io.BytesIO, path: Path) -> None:
    """Repack a workbook without the time of writing."""
    with zipfile.ZipFile(buffer) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as sink:
        for name in source.namelist():
            data = source.read(name)
            if name == "docProps/core.xml":
                data = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"1980-01-01T00:00:00Z", data)
            sink.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
