"""Two tables side by side: which columns they share, and their cells as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from math import isfinite, nan

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import suggest_closest
from sfumato.errors import SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._values import Numbers, encode_distinct, format_values, is_metric_type, to_numbers
from sfumato.schema.roles import Scale
from sfumato.tables.published._labels import parse_date_intervals, parse_label, parse_number_intervals, to_datetime
from sfumato.tables.published.published_table import PublishedColumn
from sfumato.tables.published.solution import Center, Exact, Interval, Node, ValueSet

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - canonical moments have no zone


def column_numbers(column: pa.ChunkedArray, *, whole: bool = False) -> Numbers:
    """Return the numbers of a column, dates in days; empty and suppressed cells are NaN.

    A generalized cell counts as its expected number, see `expected_numbers`.

    >>> column_numbers(pa.chunked_array([["[20, 30)", "7", "{1, 2}", "*"]])).tolist()
    [25.0, 7.0, 1.5, nan]
    """
    if pa.types.is_string(column.type):
        distinct, codes = encode_distinct(column)
        values = np.append(expected_numbers(distinct.to_pylist(), whole=whole), nan)
        return np.asarray(values[codes.fill_null(len(distinct)).to_numpy()])
    return to_numbers(column)


def are_whole(values: pa.Array | pa.ChunkedArray) -> bool:
    """Return whether all numbers or dates of a column are whole: integers, days, or floats without a fraction."""
    if not pa.types.is_floating(values.type):
        return bool(pa.types.is_integer(values.type) or pa.types.is_date32(values.type))
    known = values.drop_null()
    return bool(pc.all(pc.and_(pc.is_finite(known), pc.equal(known, pc.floor(known)))).as_py())


def to_arrow_pair(original: Frame, published: Frame) -> tuple[pa.Table, pa.Table]:
    """Convert both tables to their canonical form; refuse empty ones."""
    tables = to_arrow(original)[0], to_arrow(published)[0]
    for name, table in zip(("original", "published"), tables, strict=True):
        if table.num_rows == 0:
            raise SchemaError(f"The {name} table has no rows; there is nothing to compare.")
    return tables


def numeric_columns(original: pa.Table, published: pa.Table, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns to compare, by default all published ones that hold numbers or dates in the original."""
    if columns is None:
        columns = [name for name in shared_columns(original, published) if is_metric_type(original.column(name).type)]
    for name in columns:
        missing_column_error(name, original, published)
        if not is_metric_type(original.column(name).type):
            raise SchemaError(f"Column {name!r} does not contain numbers or dates in the original; drop it.")
    if not columns:
        raise SchemaError("The tables share no column of numbers or dates; there is nothing to compare.")
    return tuple(columns)


def paired_numbers(
    original: pa.Table, published: pa.Table, columns: Sequence[str]
) -> tuple[list[Numbers], list[Numbers]]:
    """Return the numbers of columns in both tables; NaN where a cell is empty or suppressed."""
    before = [to_numbers(original.column(name)) for name in columns]
    after = [column_numbers(published.column(name), whole=are_whole(original.column(name))) for name in columns]
    return before, after


def complete(columns: Sequence[Numbers]) -> Numbers:
    """Return columns as a matrix of the records that have a number in each of them."""
    if not columns:
        return np.empty((0, 0))
    stacked = np.stack(columns)
    known = ~np.isnan(stacked).any(axis=0)
    return np.asarray(stacked.T if known.all() else stacked[:, known].T)


def numeric_matrices(
    original: pa.Table, published: pa.Table, columns: Sequence[str] | None
) -> tuple[tuple[str, ...], Numbers, Numbers]:
    """Return columns of both tables as numbers, without the records in which one is missing (listwise deletion)."""
    names = numeric_columns(original, published, columns)
    first, second = (complete(side) for side in paired_numbers(original, published, names))
    for name, matrix in zip(("original", "published"), (first, second), strict=True):
        if len(matrix) < 2:  # noqa: PLR2004 - one record has no spread
            raise SchemaError(f"Fewer than 2 records of the {name} table have a number in every compared column.")
    return names, first, second


def shared_columns(original: pa.Table, published: pa.Table) -> list[str]:
    """Return the columns of the original that are published."""
    return [name for name in original.column_names if name in published.column_names]


def missing_column_error(name: str, *tables: pa.Table) -> None:
    """Refuse a column that is missing from one of the tables."""
    for table in tables:
        if name not in table.column_names:
            raise SchemaError(f"A table has no column {name!r}{suggest_closest(name, table.column_names) or '.'}")


def row_keys(tables: Iterable[pa.Table], names: Sequence[str]) -> list[npt.NDArray[np.int64]]:
    """Return a number for every record of several tables, the same for equal values, or else equal texts."""
    tables = list(tables)
    total = sum(table.num_rows for table in tables)
    keys = np.zeros(total, dtype=np.int64)
    for name in names:
        distinct, codes = encode_distinct(concatenate_columns([table.column(name) for table in tables]))
        numbers = codes.fill_null(len(distinct)).to_numpy().astype(np.int64)
        keys = np.unique(keys * (len(distinct) + 1) + numbers, return_inverse=True)[1]
    return np.split(keys, np.cumsum([table.num_rows for table in tables])[:-1])


def concatenate_columns(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Return columns one below the other, as texts if their types differ."""
    if len({column.type for column in columns}) > 1:
        return pa.chunked_array([format_values(column) for column in columns], pa.string())
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks], columns[0].type)


def expected_numbers(shown: Sequence[str | None], *, whole: bool) -> Numbers:
    """Return the number that every cell counts as: its own, or the mean of what it covers; NaN for none.

    All numbers of an interval are equally likely, and only whole numbers (or days) if `whole`. An interval with one
    infinite end counts as the other end, and a set as the mean of its members.

    >>> expected_numbers(["[0, 2)", "[0, 2]", "(3, 9]"], whole=True).tolist()
    [0.5, 1.0, 6.5]
    >>> expected_numbers(["[0, 2)"], whole=False).tolist()
    [1.0]
    """
    found = np.full(len(shown), nan)
    unread = np.ones(len(shown), dtype=np.bool_)
    for plain in (parse_number_intervals(shown), parse_date_intervals(shown)):
        closed = np.ones(len(plain), dtype=np.bool_)
        found[plain.at] = _interval_means(plain.low, plain.high, closed, plain.closed, whole=whole)
        unread[plain.at] = False
    places = np.flatnonzero(unread)
    found[places] = [_expected(shown[place], whole=whole) for place in places.tolist()]
    return found


def expected_in(column: PublishedColumn) -> Numbers:
    """Return what every distinct text of a column counts as; a node without bounds, the mean of its values."""
    found = expected_numbers(column.texts, whole=are_whole(column.domain.values))
    for place, label in column.others.items():
        if isinstance(label, Node) and np.isnan(found[place]):
            low, high = column.coverage.low[place], column.coverage.high[place]
            found[place] = to_numbers(pa.chunked_array([column.domain.values[low : high + 1]])).mean()
    return found


def _interval_means(
    low: Numbers, high: Numbers, low_closed: npt.NDArray[np.bool_], high_closed: npt.NDArray[np.bool_], *, whole: bool
) -> Numbers:
    """Return the mean of the numbers in finite intervals; the midpoint where no whole number lies inside."""
    middle = low + (high - low) / 2
    if not whole:
        return middle
    least = np.where(low_closed, np.ceil(low), np.floor(low) + 1)
    greatest = np.where(high_closed, np.floor(high), np.ceil(high) - 1)
    return np.where(least <= greatest, least + (greatest - least) / 2, middle)


def _expected(text: str | None, *, whole: bool) -> float:
    match parse_label(text, Scale.NUMERIC, {}):
        case Interval() as label:
            low, high = _number(label.low), _number(label.high)
            ends = [end for end in (low, high) if isfinite(end)]
            if len(ends) < 2:  # noqa: PLR2004 - both ends
                return ends[0] if ends else nan
            sides = (np.array([side]) for side in (low, high, label.low_closed, label.high_closed))
            return float(_interval_means(*sides, whole=whole)[0])
        case Center(value=value) | Exact(value=value):
            return _number(value)
        case ValueSet(texts=members):
            return float(np.mean([_expected(member, whole=whole) for member in members]))
    return nan


def _number(value: object) -> float:
    moment = to_datetime(value)
    if isinstance(moment, datetime):
        return (moment - EPOCH) / timedelta(days=1)
    return float(moment) if isinstance(moment, int | float) else nan
