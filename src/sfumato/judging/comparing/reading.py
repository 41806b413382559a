"""Two tables side by side: which columns they share, and their cells as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from math import isfinite, nan

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.publication import Center, Exact, Interval, Node, ValueSet
from sfumato.core.published.labels import as_moment, parse_label
from sfumato.core.published.plain import plain_days, plain_numbers
from sfumato.core.published.table import PublishedColumn
from sfumato.exceptions import SchemaError
from sfumato.schema.scales import Scale
from sfumato.table.frames import Frame, to_arrow
from sfumato.table.numbers import Numbers, has_distances, to_numbers
from sfumato.table.values import coded, texts
from sfumato.validation import did_you_mean

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - canonical moments have no zone


def numbers_of(column: pa.ChunkedArray) -> Numbers:
    """Return the numbers of a column; datetimes are given in days, and empty or suppressed cells are NaN.

    A cell with several numbers counts as its midpoint: of an interval, or the mean of a set.

    >>> numbers_of(pa.chunked_array([["[20, 30)", "7", "{1, 2}", "*"]])).tolist()
    [25.0, 7.0, 1.5, nan]
    """
    if pa.types.is_string(column.type):
        distinct, codes = coded(column)
        values = np.append(middles(distinct.to_pylist()), nan)
        return np.asarray(values[codes.fill_null(len(distinct)).to_numpy()])
    return to_numbers(column)


def both_tables(original: Frame, published: Frame) -> tuple[pa.Table, pa.Table]:
    """Convert both tables to their canonical form; refuse empty ones."""
    tables = to_arrow(original)[0], to_arrow(published)[0]
    for name, table in zip(("original", "published"), tables, strict=True):
        if table.num_rows == 0:
            raise SchemaError(f"The {name} table has no rows; there is nothing to compare.")
    return tables


def numeric_matrices(
    original: pa.Table, published: pa.Table, columns: Sequence[str] | None
) -> tuple[tuple[str, ...], Numbers, Numbers]:
    """Return columns of both tables as numbers, without the records in which one is missing.

    By default, all columns that contain numbers or datetimes in the original and are published.
    """
    if columns is None:
        columns = [name for name in shared(original, published) if has_distances(original.column(name).type)]
    for name in columns:
        refuse_absent(name, original, published)
        if not has_distances(original.column(name).type):
            raise SchemaError(f"Column {name!r} does not contain numbers or dates in the original; drop it.")
    if not columns:
        raise SchemaError("The tables share no column of numbers or dates; there is nothing to compare.")
    first, second = (_complete(table, columns) for table in (original, published))
    for name, matrix in zip(("original", "published"), (first, second), strict=True):
        if len(matrix) < 2:  # noqa: PLR2004 - one record has no spread
            raise SchemaError(f"Fewer than 2 records of the {name} table have a number in every compared column.")
    return tuple(columns), first, second


def shared(original: pa.Table, published: pa.Table) -> list[str]:
    """Return the columns of the original that are published."""
    return [name for name in original.column_names if name in published.column_names]


def refuse_absent(name: str, *tables: pa.Table) -> None:
    """Refuse a column that is missing from one of the tables."""
    for table in tables:
        if name not in table.column_names:
            raise SchemaError(f"A table has no column {name!r}{did_you_mean(name, table.column_names) or '.'}")


def row_keys(tables: Iterable[pa.Table], names: Sequence[str]) -> list[npt.NDArray[np.int64]]:
    """Return a number for every record of several tables, the same for equal values, or else equal texts."""
    tables = list(tables)
    total = sum(table.num_rows for table in tables)
    keys = np.zeros(total, dtype=np.int64)
    for name in names:
        distinct, codes = coded(joined([table.column(name) for table in tables]))
        numbers = codes.fill_null(len(distinct)).to_numpy().astype(np.int64)
        keys = np.unique(keys * (len(distinct) + 1) + numbers, return_inverse=True)[1]
    return np.split(keys, np.cumsum([table.num_rows for table in tables])[:-1])


def joined(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Return columns one below the other, as texts if their types differ."""
    if len({column.type for column in columns}) > 1:
        return pa.chunked_array([texts(column) for column in columns], pa.string())
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks], columns[0].type)


def _complete(table: pa.Table, columns: Sequence[str]) -> Numbers:
    matrix = np.column_stack([numbers_of(table.column(name)) for name in columns])
    return np.asarray(matrix[~np.isnan(matrix).any(axis=1)])


def middles(shown: Sequence[str | None]) -> Numbers:
    """Return the number that every cell counts as: its own, or the middle of what it may be; NaN for none."""
    found = np.full(len(shown), nan)
    unread = np.ones(len(shown), dtype=np.bool_)
    for plain in (plain_numbers(shown), plain_days(shown)):
        found[plain.at] = (plain.low + plain.high) / 2
        unread[plain.at] = False
    places = np.flatnonzero(unread)
    found[places] = [_middle(shown[place]) for place in places.tolist()]
    return found


def middles_of(column: PublishedColumn) -> Numbers:
    """Return what every distinct text of a column counts as; a node that tells no bounds, the mean of its values."""
    found = middles(column.texts)
    for place, label in column.others.items():
        if isinstance(label, Node) and np.isnan(found[place]):
            low, high = column.coverage.low[place], column.coverage.high[place]
            found[place] = to_numbers(pa.chunked_array([column.domain.values[low : high + 1]])).mean()
    return found


def _middle(text: str | None) -> float:
    match parse_label(text, Scale.NUMERIC, {}):
        case Interval(low=low, high=high):
            ends = [end for end in (_number(low), _number(high)) if isfinite(end)]
            return sum(ends) / len(ends) if ends else nan
        case Center(value=value) | Exact(value=value):
            return _number(value)
        case ValueSet(texts=members):
            return float(np.mean([_middle(member) for member in members]))
    return nan


def _number(value: object) -> float:
    moment = as_moment(value)
    if isinstance(moment, datetime):
        return (moment - EPOCH) / timedelta(days=1)
    return float(moment) if isinstance(moment, int | float) else nan
