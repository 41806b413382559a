"""Give a column of texts its type, by the conventions of its file and by what its owner says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ReadError
from sfumato.io._conventions import (
    ISO,
    Conventions,
    DateFormat,
    check_columns_exist,
    normalize_numbers,
    parse_iso_dates,
    strip_unit,
)
from sfumato.io._type_inference import Parse, drop_missing_spellings, infer_column, parse_narrowest, parse_numbers
from sfumato.io._values import encode_distinct, format_values


def convert_column(
    name: str,
    distinct: pa.Array,
    codes: pa.Array,
    missing: Sequence[str],
    conventions: Conventions,
    *,
    parse_plain: Parse = parse_narrowest,
) -> pa.ChunkedArray:
    """Convert a coded column of text to the type that it is said to have, or else to the one that fits.

    `parse_plain` is as for `parse_by_conventions`.

    Raises
    ------
    ReadError
        If it is said to have a type that some cells do not have.
    """
    said = conventions.column_types.get(name)
    if said is None:
        return infer_column(
            distinct, codes, missing, partial(parse_by_conventions, conventions=conventions, parse_plain=parse_plain)
        )
    parse = make_parser(said, conventions)
    if parse is None:
        return infer_column(distinct, codes, missing, lambda _: None)
    values = drop_missing_spellings(distinct, missing)
    if len(values) and parse(values) is None:
        places = codes.drop_null().to_numpy(zero_copy_only=False)
        fits = [_fits(each, missing, parse) for each in distinct.to_pylist()]
        raise ReadError(_misfit_message(name, said, int((~np.array(fits, bool))[places].sum())))
    return infer_column(distinct, codes, missing, parse)


def convert_table(table: pa.Table, types: Mapping[str, str]) -> pa.Table:
    """Give columns of a canonical table, wherever it came from, the types that they are said to have."""
    check_columns_exist(types, table.column_names)
    for name, said in types.items():
        column, place = table[name], table.column_names.index(name)
        if said == "text":
            column = pa.chunked_array([format_values(column)], pa.string())
        elif pa.types.is_string(column.type):
            column = convert_column(name, *encode_distinct(column), (), Conventions(column_types={name: said}))
        elif _type_name(column.type) != said.partition(":")[0]:
            raise ReadError(f"Column {name!r} cannot be read as {said!r}, because it holds {_type_name(column.type)}s.")
        table = table.set_column(place, name, column)
    return table


def _type_name(type_: pa.DataType) -> str:
    if pa.types.is_temporal(type_):
        return "date"
    return "boolean" if pa.types.is_boolean(type_) else "number"


def parse_by_conventions(
    values: pa.Array, conventions: Conventions, parse_plain: Parse = parse_narrowest
) -> pa.Array | None:
    """Return texts as values of the narrowest type that fits all of them by these conventions, or None.

    `parse_plain` reads these very texts as everybody writes them; whoever has done that before gives what was found.
    """
    if not len(values):
        return None
    numbers = normalize_numbers(values, conventions.mark, conventions.thousands or "")
    found = parse_plain(values) if numbers is None or numbers is values else parse_narrowest(numbers)
    if numbers is None and found is not None and pa.types.is_floating(found.type):
        found = None  # with points where a comma is the decimal mark
    if found is None and conventions.days is not None and len(values):
        return conventions.days.read(values)
    return found


def make_parser(said: str, conventions: Conventions) -> Parse | None:
    """Return how texts of a type are read; None if they stay texts."""
    kind, _, how = said.partition(":")
    if kind == "text":
        return None
    if kind == "number":
        return partial(_parse_numbers, unit=how, conventions=conventions)
    if kind == "date":
        formats = how.split("|") if how else [conventions.date_format or ISO]
        return partial(_parse_dates, formats=tuple(map(DateFormat, dict.fromkeys([*formats, ISO]))))
    return _parse_booleans


def _parse_numbers(values: pa.Array, unit: str, conventions: Conventions) -> pa.Array | None:
    numbers = normalize_numbers(
        strip_unit(values, unit) if unit else values, conventions.mark, conventions.thousands or ""
    )
    return None if numbers is None else parse_numbers(numbers)


def _parse_dates(values: pa.Array, formats: Sequence[DateFormat]) -> pa.Array | None:
    """Read each text by the first format that fits it."""
    found = pc.coalesce(*(each.as_iso(values) for each in formats))
    return parse_iso_dates(found)


def _parse_booleans(values: pa.Array) -> pa.Array | None:
    found = parse_narrowest(values)
    return found if found is not None and pa.types.is_boolean(found.type) else None


def _fits(written: str, missing: Sequence[str], parse: Parse) -> bool:
    return written in missing or parse(pa.array([written], pa.string())) is not None


def _misfit_message(name: str, said: str, count: int) -> str:
    """Say how many cells do not have the type."""
    what = said.partition(":")[0]
    if not count:  # each is one, but together they are not, as numbers that a float would round
        return f"Column {name!r} cannot be read as {what}s; read it as text."
    cells = f"1 cell that is no {what}" if count == 1 else f"{count:,} cells that are no {what}s"
    return (
        f"Column {name!r} has {cells}, so it cannot be read as {said!r}; correct or empty them, or read it"
        f" as text with column_types={{{name!r}: 'text'}}."
    )
