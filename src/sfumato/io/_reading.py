"""Read a table from anywhere: the suffix of a file or the scheme of a URL determines how."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import is_integer, require, suggest_closest
from sfumato.errors import ReadError, ReadWarning, SfumatoError
from sfumato.io._column_types import convert_table
from sfumato.io._conventions import Conventions
from sfumato.io._dataframes import to_arrow, to_canonical
from sfumato.io._parquet import is_multi_file
from sfumato.io._remarks import detect_total_row
from sfumato.io._text_dates import convert_text_dates
from sfumato.io.formats import FORMATS, FileFindings, Format, Option, check_options, is_url, resolve_format, stated

SHAPED = {
    "sheet": "Of {path} the sheet {value!r} is read, since it holds the largest table; confirm it with "
    "sheet={value!r}, or name another.",
    "skip_rows": "What stands above the header of {path} is left out; confirm it with skip_rows={value}.",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadedTable:
    """A table that was read, the options that it was read with, and what its owner should know of it.

    Parameters
    ----------
    table : the table; None if it stays in an engine.
    reading : the options of `read` that were given or found out.
    remarks : a sentence each, without any cell of the table.
    labels : what a file of a statistics program says about its columns, by name.
    """

    table: pa.Table
    reading: Mapping[str, Option]
    remarks: tuple[str, ...]
    labels: Mapping[str, str] = field(default_factory=dict)


def read(
    source: str | os.PathLike[str],
    *,
    table: str | None = None,
    query: str | None = None,
    sheet: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    missing: tuple[str, ...] | None = None,
    as_text: bool = False,
    skip_rows: int = 0,
    skip_last: int = 0,
    header: bool | None = None,
    names: Sequence[str] = (),
    fill_merged: bool = False,
    decimal: str | None = None,
    thousands: str | None = None,
    date_format: str | None = None,
    column_types: Mapping[str, str] | None = None,
) -> pa.Table:
    """Read a table as Arrow, with canonical types.

    Separator, encoding, decimal commas and formats of dates are found out where they are sure. A `ReadWarning` says so,
    and what looks odd: its sentence names the option that mends it.

    Parameters
    ----------
    source : a file (.csv, .tsv, .txt, .data, .dat, each also with .gz, .parquet, .pq, .xlsx, .dta, .sav, .por,
        .sas7bdat, .xpt), a database URL such as `sqlite:///census.db`, `duckdb:///census.duckdb` or
        `postgresql://user:password@host/census`, or what a format of another package reads.
    table, query, sheet : for a database, one of the first two; for a workbook, the sheet, by default the first.
    separator, encoding : for a text file; by default detected.
    missing : spellings of a missing value in text files and workbooks; the usual ones if not given.
    as_text : read every cell as its own text, and a text file line by line, so that no row changes how another is
        read. A line of another width than the header is then a row without any value. A cell of several lines is
        refused unless separator and encoding are both given, as they are by who looked at the file before.
    skip_rows, skip_last : how many lines of a text file, or rows of a sheet, stand before the header, such as a title,
        and after the last record, such as totals.
    header : whether the first line of a text file, or row of a sheet, is a header; found out if not given, and refused
        where it looks like a record, so that no record becomes the names of columns.
    names : what the columns are called, instead of what a header says; without a header `column_1` and so on.
    fill_merged : in a workbook, whether all merged cells have the value of the first, which alone holds it.
    decimal, thousands : the decimal mark of numbers in text, `"."` or `","`, and what stands between thousands.
    date_format : how days are written, as in `"dd.mm.yyyy"` or `"yyyy年m月d日"`; ISO dates are always read.
    column_types : the types of some columns: `"text"`, `"number"`, `"number:kg"` for numbers with a unit, `"date"`,
        `"date:dd.mm.yyyy"`, several formats joined by `|`, or `"boolean"`.
    """
    given: dict[str, Option | None] = {"table": table, "query": query, "sheet": sheet, "fill_merged": fill_merged}
    given |= {"separator": separator, "encoding": encoding, "missing": missing, "as_text": as_text}
    given |= {"header": header, "names": names if isinstance(names, str) else tuple(names)}
    given |= {"skip_rows": skip_rows, "skip_last": skip_last, "decimal": decimal, "thousands": thousands}
    given |= {"date_format": date_format, "column_types": column_types}
    loaded = read_with_findings(source, given)
    for remark in loaded.remarks:
        warnings.warn(remark, ReadWarning, stacklevel=2)
    return loaded.table


def read_with_findings(
    source: str | os.PathLike[str], options: Mapping[str, Option | None], *, propose: bool = False
) -> LoadedTable:
    """Read a table, and say what was found out about it.

    Parameters
    ----------
    source : as for `read`.
    options : those of `read`; what is None is not given.
    propose : whether to find the header and the sheet of a table, too, which are otherwise asked for.
    """
    several = not is_url(source) and is_multi_file(source)
    if not is_url(source) and not several:
        check_readable_file(Path(source))
    form = FORMATS["parquet"] if several else resolve_format(source, ReadError)
    types: Any = {} if "column_types" in form.read_options else options.get("column_types") or {}
    given = select_options(form, {**options, "column_types": None} if types else options)
    findings = FileFindings(proposing=propose)
    if propose and form.tells:
        findings = replace(detect_layout(form, Path(source), given), proposing=True)
        given |= findings.options
    told = {"findings": findings} if form.tells and not given.get("as_text") else {}
    found = _read_format(form, source, given | told)
    if "column_types" not in form.read_options and not given.get("as_text"):
        found = convert_text_dates(found, types)
    if types:
        found = to_canonical(convert_table(found, Conventions(column_types=types).column_types))
        given["column_types"] = types
    if "skip_last" in form.read_options and not (given.get("skip_last") or given.get("as_text")):
        findings.remarks += detect_total_row(found)
    reading: Any = {**given, **findings.options}
    return LoadedTable(table=found, reading=reading, remarks=tuple(findings.remarks), labels=findings.labels)


def as_written(found: LoadedTable, source: str | os.PathLike[str], names: Sequence[str]) -> pa.Table:
    """Return a table with the texts that stand in its file where several notations were read as one value.

    Whoever has the file sees `30` apart from `30.0`, one offset of a time apart from another, and `NA` apart from an
    empty cell.

    Parameters
    ----------
    found : the table as it was read.
    source : its file.
    names : the columns that are compared, as far as they are there.
    """
    given: Any = found.reading.get("column_types") or {}
    table, types = found.table, dict(given)
    form = None if is_url(source) or is_multi_file(source) else resolve_format(source, ReadError)
    merging = [each for each in names if each in table.column_names and _may_merge(table[each])]
    if form is None or not {"column_types", "missing"} <= {*form.read_options} or not merging:
        return table
    as_text = {**types, **dict.fromkeys(merging, "text")}
    texts = read_with_findings(source, {**found.reading, "column_types": as_text, "missing": ("",)}).table
    for name in merging:
        cells, lost = texts[name], pc.is_null(table[name])
        if len(pc.unique(cells.filter(lost))) <= 1:  # a single notation of nothing stays a missing value
            cells = pc.if_else(lost, None, cells)
        if len(pc.unique(cells)) > len(pc.unique(table[name])):
            table = table.set_column(table.column_names.index(name), name, cells)
    return table


def _may_merge(column: pa.ChunkedArray) -> bool:
    """Return whether cells that differ in their file may be equal in a column."""
    return column.null_count > 1 or not pa.types.is_string(column.type)


def select_options(form: Format, options: Mapping[str, Option | None]) -> dict[str, object]:
    """Return the options that were given, and refuse those that a format does not honor."""
    for name in ("skip_rows", "skip_last"):
        rows = options.get(name, 0)
        good = isinstance(rows, int) and is_integer(rows) and rows >= 0
        require(good, "read", name, "a whole number of at least 0", rows)
    return check_options(form, "read", stated(options))


def read_detecting_layout(source: str | os.PathLike[str], given: Mapping[str, Option] | None = None) -> LoadedTable:
    """Read a table as `read` does, and find its header and its sheet, too.

    Parameters
    ----------
    source : as for `read`.
    given : the options of `read` that you know, by name.

    Returns
    -------
    Loaded
        The table, `reading` for `read(source, **reading)`, and `remarks` that say why.
    """
    return read_with_findings(source, given or {}, propose=True)


def detect_layout(form: Format, path: Path, given: Mapping[str, object]) -> FileFindings:
    """Find the titles above a header, and the sheet that holds a table."""
    findings = FileFindings()
    if form.name == "csv" and "skip_rows" not in given:
        from sfumato.io._csv_syntax import count_title_lines, read_declared_separator
        from sfumato.io._text_encoding import read_as_utf8

        encoding = given.get("encoding")
        text = read_as_utf8(path, None if encoding is None else str(encoding))
        titles = 0 if read_declared_separator(text) else count_title_lines(text)
        findings.options = {"skip_rows": titles} if titles else {}
    elif form.name == "xlsx" and "skip_rows" not in given:
        from sfumato.io._excel import detect_sheet

        findings.options = detect_sheet(path, given.get("sheet"))
    for name, what in SHAPED.items():
        if name in findings.options:
            value = findings.options[name]
            findings.remarks.append(what.format(path=path, value=value))
    return findings


def _read_format(form: Format, source: str | os.PathLike[str], options: dict[str, object]) -> pa.Table:
    if form.read is None:
        raise ReadError(f"The format {form.name!r} is only written; read the table from another file.")
    place = source if form.schemes else Path(source)
    if form.name in FORMATS.built_in:
        return form.read(place, **options)
    try:
        return to_arrow(form.read(place, **options))[0]
    except SfumatoError:
        raise
    except Exception as error:  # noqa: BLE001 - what another package says of a failure may quote cells
        shown = form.kind if form.schemes else str(place)
        raise ReadError(f"{shown} cannot be read by the format {form.name!r} ({type(error).__name__}).") from None


def check_readable_file(path: Path) -> None:
    """Refuse what is no file with something in it."""
    if path.is_dir():
        raise ReadError(f"{path} is a folder; choose a file in it.")
    if not path.exists():
        others = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        raise ReadError(f"There is no file {path}{suggest_closest(path.name, others) or '.'}")
    if not path.is_file():
        raise ReadError(f"{path} is not a regular file; copy it into one.")
    try:
        with path.open("rb") as file:
            first = file.read(1)
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror}.") from None
    if not first:
        raise ReadError(f"{path} is empty.")
