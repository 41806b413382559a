"""One column at a time: from any Arrow type or Python values to a canonical Arrow type."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, time
from decimal import Decimal
from numbers import Number
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._threads import map_in_threads
from sfumato.errors import SchemaError
from sfumato.io._values import decimals_to_exact_floats, encode_distinct, format_distinct_values, format_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

EXACT_WHOLE = 2.0**53  # beyond it a float64 no longer tells neighboring whole numbers apart
FIRST_DAY, LAST_DAY = -719_162, 2_932_897  # 1 January of the years 1 and 10000, in days since 1970
MOST_DIGITS = 400  # of a decimal; floats end before
MIDNIGHT = "T00:00:00"  # datetimes that are all at midnight are stored as dates, so a single one is also a date
STRING_LIMIT = 2**31 - 1  # bytes that one chunk of pa.string() can hold

PYTHON_TYPE_NAMES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("text", (str,)),
    ("booleans", (bool, np.bool_)),
    ("numbers", (Number, Decimal, np.number)),
    ("dates", (date, datetime, np.datetime64)),
    ("times", (time,)),
)


def check_unique_names(names: Iterable[str]) -> None:
    """Refuse a table with two columns of the same name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise SchemaError(f"Several columns are named {twice[0]!r}; give every column its own name.")


def to_canonical_column(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Convert a column to its canonical type; a column without any value becomes text."""
    kind = column.type
    if column.null_count == len(column):
        _check_supported_type(name, kind)
        return pa.chunked_array([pa.nulls(len(column), pa.string())])
    if pa.types.is_run_end_encoded(kind):
        return to_canonical_column(name, pc.run_end_decode(column))
    if pa.types.is_dictionary(kind):
        _check_supported_type(name, kind)
        return to_canonical_column(name, column.cast(kind.value_type))
    if isinstance(kind, pa.BaseExtensionType) and is_text_type(kind.storage_type):
        stored = pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)
        return to_canonical_column(name, stored)
    _check_supported_type(name, kind)
    return _convert(name, column)


def strip_metadata(table: pa.Table) -> pa.Table:
    """Return the table without what files would carry along unseen: categories, used or not, and metadata."""

    def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
        return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column

    return pa.table(list(map_in_threads(plain, table.columns, table.num_rows)), names=table.column_names)


def get_value_type(column: pa.Array | pa.ChunkedArray) -> pa.DataType:
    """Return the type of a column's cells, whether they are coded or not."""
    return column.type.value_type if pa.types.is_dictionary(column.type) else column.type


def to_text_column(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Bring every cell of a column to its canonical text, cell by cell."""
    kind = column.type
    _check_supported_type(name, kind)
    if pa.types.is_dictionary(kind):
        return to_text_column(name, column.cast(kind.value_type))
    if is_text_type(kind):
        return _short_text(column)
    return pa.chunked_array([format_distinct_values(chunk) for chunk in column.chunks], pa.string())


def format_texts(values: Iterable[object]) -> pa.Array:
    """Write Python values as canonical texts, cell by cell; what has none is missing."""
    return pa.array([_text_or_none(value) for value in values], pa.string())


def _text_or_none(value: object) -> str | None:
    """Write a value; what has no text is missing: bytes, spans of time, half of a character, days of no calendar."""
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > MOST_DIGITS:
        return None
    try:
        written = None if value is None else format_value(value)
        return None if written is None else written.encode().decode()
    except (TypeError, ValueError, OverflowError):
        return None


def total_cells(column: pa.ChunkedArray) -> pa.ChunkedArray:  # noqa: PLR0911 - one line per type
    """Convert a column cell by cell to numbers or canonical texts; nothing that a cell holds is refused.

    Numbers stay numbers, infinite ones too; moments lose what is finer than microseconds; what has no text is missing.

    >>> total_cells(pa.chunked_array([[float("inf"), float("nan"), 1.0]])).to_pylist()
    [inf, None, 1.0]
    """
    kind, types = column.type, pa.types
    if types.is_run_end_encoded(kind):
        return total_cells(pc.run_end_decode(column))
    if types.is_dictionary(kind):
        return total_cells(column.cast(kind.value_type))
    if isinstance(kind, pa.BaseExtensionType):
        return total_cells(pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type))
    if types.is_integer(kind):
        return column
    if types.is_floating(kind):
        numbers = column.cast(pa.float64())
        return pc.if_else(pc.is_nan(numbers), None, numbers)
    if is_text_type(kind):
        return _empty_to_missing(_short_text(column))
    if types.is_date64(kind) or types.is_timestamp(kind):
        moments = column.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False)
        return pc.replace_substring_regex(to_text_column("", moments), rf"{MIDNIGHT}\z", "")
    if types.is_time(kind):
        return to_text_column("", column.cast(pa.time64("us"), safe=False))
    if types.is_boolean(kind) or types.is_date(kind) or types.is_decimal(kind):
        return to_text_column("", column)
    return pa.chunked_array([pa.nulls(len(column), pa.string())])


def _check_supported_type(name: str, kind: pa.DataType) -> None:
    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    known = (
        is_text_type(kind)
        or types.is_null(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_boolean(kind)
        or types.is_date(kind)
        or types.is_timestamp(kind)
        or types.is_time(kind)
    )
    if not known:
        raise SchemaError(
            f"Column {name!r} has type {kind}, which Sfumato cannot publish;"
            " convert it to text, numbers, dates or booleans, or drop it."
        )


def is_text_type(kind: pa.DataType) -> bool:
    """Return whether a type is one of Arrow's text types."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _convert(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:  # noqa: PLR0911 - one line per type
    kind = column.type
    types = pa.types
    if types.is_boolean(kind) or types.is_int64(kind):
        return column
    if types.is_date32(kind):
        return _check_calendar(name, column)
    if is_text_type(kind):
        return _empty_to_missing(column if types.is_string(kind) else _short_text(column))
    if types.is_integer(kind):
        return _convert_integers(name, column)
    if types.is_floating(kind):
        return _convert_floats(name, column.cast(pa.float64()))
    if types.is_decimal(kind):
        return _convert_decimals(name, column)
    if types.is_time(kind):
        return _convert_times(name, column)
    return _convert_datetimes(name, column)


def _short_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cast long-offset text to pa.string() in chunks that its 32-bit offsets can hold."""
    chunks: list[pa.Array] = []
    pending = list(reversed(column.chunks))
    while pending:
        chunk = pending.pop()
        if chunk.nbytes > STRING_LIMIT and len(chunk) > 1:
            half = len(chunk) // 2
            pending += [chunk.slice(half), chunk.slice(0, half)]
        else:
            chunks.append(chunk.cast(pa.string()))
    return pa.chunked_array(chunks, pa.string())


def _empty_to_missing(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Take empty text for missing: a text file knows no difference, so no count may make one."""
    empty = pc.equal(column, "")
    return pc.if_else(empty, None, column) if pc.any(empty).as_py() else column


def _convert_integers(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        raise SchemaError(f"Column {name!r} contains whole numbers of more than 64 bits; convert it to text.") from None


def _convert_floats(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    infinite = pc.sum(pc.is_inf(column)).as_py() or 0
    if infinite:
        raise SchemaError(f"Column {name!r} contains infinite values (rows: {infinite}); replace or clear them.")
    numbers = pc.add(pc.if_else(pc.is_nan(column), None, column), 0.0)
    if numbers.null_count == len(numbers):
        return pa.chunked_array([pa.nulls(len(numbers), pa.string())])
    whole = pc.and_(pc.equal(numbers, pc.floor(numbers)), pc.less(pc.abs(numbers), EXACT_WHOLE))
    return numbers.cast(pa.int64()) if pc.all(whole).as_py() else numbers


def _convert_decimals(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        distinct, codes = encode_distinct(column)
    return decimals_to_numbers(name, distinct.cast(pa.string()), codes)


def decimals_to_numbers(name: str, distinct: pa.Array, codes: pa.Array) -> pa.ChunkedArray:
    """Return a coded column of decimals, written out, as numbers that mean exactly the same; refuse it otherwise."""
    numbers = decimals_to_exact_floats(distinct)
    if numbers is None:
        raise SchemaError(
            f"Column {name!r} holds decimals with more digits than a 64-bit number keeps; round it to 15 digits,"
            " or convert it to text."
        )
    return _convert_floats(name, pa.chunked_array([numbers.take(codes)]))


def _convert_times(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        column = column.cast(pa.time64("us"))
    except pa.ArrowInvalid:
        raise _precision_error(name) from None
    return pa.chunked_array([format_distinct_values(chunk) for chunk in column.chunks], pa.string())


def _convert_datetimes(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return datetimes as naive timestamps (UTC if they had a time zone), or as dates if all are at midnight."""
    if pa.types.is_date64(column.type):
        column = column.cast(pa.timestamp("ms"))
    try:
        moments = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        if column.type.unit == "ns":
            raise _precision_error(name) from None
        raise calendar_range_error(name) from None
    _check_calendar(name, moments)
    midnight = pc.equal(moments, pc.floor_temporal(moments, unit="day"))
    return moments.cast(pa.date32()) if pc.all(midnight).as_py() else moments


def _check_calendar(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Refuse days that have no text, because their year has fewer or more than four digits or lies before the first."""
    bounds = pc.min_max(column)
    first, last = (pa.scalar(each, pa.date32()).cast(column.type) for each in (FIRST_DAY, LAST_DAY))
    if pc.less(bounds["min"], first).as_py() or pc.greater_equal(bounds["max"], last).as_py():
        raise calendar_range_error(name)
    return column


def calendar_range_error(name: str) -> SchemaError:
    """Say that days or moments of a column have no text."""
    return SchemaError(f"Column {name!r} holds days or moments beyond the years 1 to 9999; empty or correct them.")


def _precision_error(name: str) -> SchemaError:
    return SchemaError(f"Column {name!r} holds times finer than microseconds; round it to microseconds.")


def describe_python_types(types: Iterable[type]) -> list[str]:
    """Return the kinds of values that Python types represent, in a fixed order."""
    found = {_describe_python_type(each) for each in types if each is not type(None)}
    order = [kind for kind, _ in PYTHON_TYPE_NAMES]
    return [kind for kind in order if kind in found] + sorted(found.difference(order))


def _describe_python_type(each: type) -> str:
    return next(
        (kind for kind, members in PYTHON_TYPE_NAMES if issubclass(each, members)), f"values of type {each.__name__}"
    )


def check_single_type(name: str, types: Iterable[type]) -> None:
    """Refuse a column with Python values of several kinds.

    >>> check_single_type("zip", {str, int})
    Traceback (most recent call last):
    ...
    sfumato.errors.SchemaError: Column 'zip' mixes text and numbers; convert it to one type.
    """
    kinds = describe_python_types(types)
    if len(kinds) > 1:
        raise SchemaError(f"Column {name!r} mixes {', '.join(kinds[:-1])} and {kinds[-1]}; convert it to one type.")


def column_from_values(name: str, values: Sequence[object]) -> pa.Array:
    """Make an Arrow column from Python values, all of one kind or None."""
    types = set(map(type, values))
    check_single_type(name, types)
    moments = [issubclass(each, datetime) for each in types if issubclass(each, date)]
    if any(hasattr(each, "nanosecond") for each in types) and any(getattr(each, "nanosecond", 0) for each in values):
        raise _precision_error(name)
    try:
        if any(moments) and not all(moments):
            return pa.array(np.array(values, dtype="datetime64[us]"))
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise mixed_types_error(name) from None


def mixed_types_error(name: str) -> SchemaError:
    """Say that values of one kind do not fit one type, such as fractions beside whole numbers of 17 digits."""
    return SchemaError(
        f"Column {name!r} contains values that do not fit one type; convert it to text, numbers, dates or booleans."
    )
