"""Infer the type of a text column from its distinct values."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")

WHOLE = r"-?(0|[1-9][0-9]{0,18})"
EXPONENT = r"[eE][+-]?[0-9]+"
REAL = rf"(0|[1-9][0-9]*)?\.[0-9]+({EXPONENT})?|(0|[1-9][0-9]*)\.({EXPONENT})?|(0|[1-9][0-9]*){EXPONENT}"
NUMBER = rf"-?((0|[1-9][0-9]{{0,15}})|{REAL})"  # longer whole numbers are codes, which a float would round
INFINITE = r"-?(inf|Inf|INF)(inity|INITY)?"
DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
CLOCK = r"[T ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"  # spreadsheets write hours with one digit
MOMENT = rf"{DAY}(?:{CLOCK})?"
ZONED = rf"{DAY}{CLOCK}(Z|[+-][0-9]{{2}}(:?[0-9]{{2}})?)"
GLANCE = 1000
SLICE = 1 << 20


Parse = Callable[[pa.Array], "pa.Array | None"]


def infer_column(
    distinct: pa.Array, codes: pa.Array, missing: Sequence[str], parse: Parse | None = None
) -> pa.ChunkedArray:
    """Convert a coded column of text to its type: whole number, real number, boolean, date, datetime or text.

    All distinct values must be of one type; a leading zero or plus sign makes text, so codes such as "02139"
    stay as they are. Quoted spellings of a missing value stay in a text column but not in any other. `parse` says how
    texts are read; by default as everybody writes them, with a decimal point and ISO dates.

    >>> infer_column(pa.array(["1", "NA", "2.5"]), pa.array([0, 1, 2]), MISSING).to_pylist()
    [1.0, None, 2.5]
    """
    absent = pc.is_in(distinct, value_set=pa.array(missing, pa.string()))
    values = (parse or parse_narrowest)(distinct.filter(pc.invert(absent)))
    if values is None:
        empty = pc.equal(distinct, "") if "" in missing else pa.scalar(value=False)
        return _look_up_rows(pc.if_else(empty, None, distinct), codes)
    places = pc.if_else(absent, None, pc.subtract(pc.cumulative_sum(pc.invert(absent).cast(pa.int32())), 1))
    return _look_up_rows(values.take(places), codes)


def _look_up_rows(distinct: pa.Array, codes: pa.Array) -> pa.ChunkedArray:
    """Look up the value of every row, in slices, because one text array holds at most 2 GB."""
    slices = [codes.slice(start, SLICE) for start in range(0, len(codes), SLICE)]
    return pa.chunked_array([distinct.take(each) for each in slices], distinct.type)


def parse_narrowest(values: pa.Array) -> pa.Array | None:  # noqa: PLR0911 - one line per type
    """Return distinct texts as values of the narrowest type that fits all of them, or None."""
    if not len(values):
        return None
    numbers = parse_numbers(values)
    if numbers is not None:
        return numbers
    if match_all(values, r"(?i:true|false)"):
        return pc.equal(pc.utf8_lower(values), "true")
    if match_all(values, DAY):
        return cast_or_none(values, pa.date32())
    if match_all(values, MOMENT):
        return moments(values, pa.timestamp("us"))
    if match_all(values, ZONED):
        return moments(values, pa.timestamp("us", "UTC"))
    return None


def moments(values: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray | None:
    """Return ISO texts, whose hours may have one digit, as moments, or None if one of them does not fit.

    >>> moments(pa.array(["2024-02-01 7:39"]), pa.timestamp("us")).cast(pa.string()).to_pylist()
    ['2024-02-01 07:39:00.000000']
    """
    return cast_or_none(pc.replace_substring_regex(values, "([T ])([0-9]:)", r"\10\2"), kind)


def parse_numbers(values: pa.Array) -> pa.Array | None:
    """Return distinct texts as whole or real numbers, or None if one of them is neither."""
    if match_all(values, WHOLE):
        return cast_or_none(values, pa.int64())
    if match_all(values, f"{NUMBER}|{INFINITE}") and not match_all(values, INFINITE):
        return _parse_floats(values)
    return None


def drop_missing_spellings(distinct: pa.Array, missing: Sequence[str]) -> pa.Array:
    """Return the texts that are no spelling of a missing value."""
    return distinct.filter(pc.invert(pc.is_in(distinct, value_set=pa.array(missing, pa.string()))))


def _parse_floats(values: pa.Array) -> pa.Array | None:
    """Return distinct texts as floats, or None if two that mean different numbers would become one."""
    floats = cast_or_none(values, pa.float64())
    if floats is None:
        return None
    ascending = np.sort(floats.to_numpy(zero_copy_only=False))
    if (ascending[1:] != ascending[:-1]).all():
        return floats
    counts = floats.value_counts()
    shared = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    meant: dict[float, Decimal] = {}
    places = pc.is_in(floats, value_set=shared)
    for written, near in zip(values.filter(places).to_pylist(), floats.filter(places).to_pylist(), strict=True):
        if meant.setdefault(near, Decimal(written)) != Decimal(written):
            return None
    return floats


def match_all(values: pa.Array, pattern: str) -> bool:
    """Return whether every text matches a pattern in full."""
    whole = rf"\A(?:{pattern})\z"
    parts = (values.slice(0, GLANCE), values.slice(GLANCE))
    return all(pc.all(pc.match_substring_regex(part, whole), min_count=0).as_py() for part in parts)


def cast_or_none(values: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray | None:
    """Return values as another type, or None if one of them does not fit."""
    try:
        return values.cast(kind)
    except pa.ArrowInvalid:
        return None
