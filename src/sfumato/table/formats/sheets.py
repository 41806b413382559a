"""What people do to sheets: titles above the header, merged cells, numbers and days entered as text."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.exceptions import ReadError, SchemaError
from sfumato.table.columns import column_from_values, describe_python_types, format_texts
from sfumato.table.formats.column_types import make_parser, parse_by_conventions
from sfumato.table.formats.conventions import Conventions
from sfumato.table.formats.detecting import add_findings, detect_conventions
from sfumato.table.formats.findings import FileFindings
from sfumato.table.formats.inference import parse_narrowest
from sfumato.table.formats.oddities import remark_on_texts

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
