"""Which rows of an original table satisfy conditions; every row is judged only by its own cells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from math import isfinite

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.exceptions import InvalidParameterError, SchemaError
from sfumato.queries.query import SIGNS, Between, Comparison, Condition, OneOf
from sfumato.table.columns import MIDNIGHT
from sfumato.table.values import encode_distinct, format_distinct_values, format_value
from sfumato.validation import is_finite_number, suggest_closest

Truths = npt.NDArray[np.bool_]
NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?", re.ASCII)


@dataclass(frozen=True, eq=False, repr=False)
class NumberColumn:
    """A column read as numbers, or as dates in days; what is none is missing, written as NaN."""

    name: str
    values: npt.NDArray[np.float64]
    dates: bool = False

    def parse_value(self, value: object) -> float:
        """Read a value of a condition, or an edge of a bin, as the column's cells are read."""
        return _condition_day(self.name, value) if self.dates else _condition_number(self.name, value)

    def matching(self, condition: Condition) -> Truths:
        """Return which rows satisfy a condition."""
        given = tuple(self.parse_value(value) for value in condition.values)
        if isinstance(condition, OneOf):
            return np.isin(self.values, given)
        if isinstance(condition, Between):
            return np.asarray((self.values >= given[0]) & (self.values <= given[1]))
        return np.asarray(SIGNS[condition.sign](self.values, given[0]) & ~np.isnan(self.values))


@dataclass(frozen=True, eq=False, repr=False)
class TextColumn:
    """A column read as text: code i stands for text i, -1 for a missing value."""

    name: str
    texts: tuple[str, ...]
    codes: npt.NDArray[np.int64]
    ordered: bool = False

    def matching(self, condition: Condition) -> Truths:
        """Return which rows satisfy a condition; dates are ordered as text, other texts have no order."""
        given = tuple(_cell_text(value) for value in condition.values)
        if isinstance(condition, OneOf):
            met = [each in given for each in self.texts]
        elif isinstance(condition, Comparison) and condition.sign == "!=":
            met = [each != given[0] for each in self.texts]
        elif not self.ordered:
            raise InvalidParameterError(
                f"The condition on {self.name!r} needs an order, which text does not have; give a value or a set."
            )
        elif isinstance(condition, Between):
            met = [given[0] <= each <= given[1] for each in self.texts]
        else:
            met = [bool(SIGNS[condition.sign](each, given[0])) for each in self.texts]
        return np.array([*met, False], dtype=np.bool_)[self.codes]


RowColumn = NumberColumn | TextColumn


def number_column(name: str, column: pa.ChunkedArray) -> NumberColumn:
    """Read a column as numbers, cell by cell: a text that writes a number is one, anything else is missing."""
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return NumberColumn(name, np.where(np.isfinite(values), values, np.nan))
    if not pa.types.is_string(kind):
        raise SchemaError(f"Column {name!r} does not contain numbers; state its categories instead of bounds.")
    distinct, codes = encode_distinct(column)
    read = [float(each) if NUMBER.fullmatch(each) else np.nan for each in distinct.to_pylist()]
    finite = [each if isfinite(each) else np.nan for each in read]
    return NumberColumn(name, np.array([*finite, np.nan])[codes_of(codes)])


def date_column(name: str, column: pa.ChunkedArray) -> NumberColumn:
    """Read a column as days since 1970, cell by cell: a text that writes a date or moment is one."""
    distinct, codes = encode_distinct(column)
    read = [days_since_epoch(each) for each in format_distinct_values(distinct).to_pylist()]
    return NumberColumn(name, np.array([*read, np.nan])[codes_of(codes)], dates=True)


def days_since_epoch(written: str) -> float:
    """Tell the days since 1970 of a date or moment written as ISO does; NaN for any other text.

    >>> days_since_epoch("1970-01-02"), days_since_epoch("1970-01-01T12:00"), days_since_epoch("unknown")
    (1.0, 0.5, nan)
    """
    if not DATE.fullmatch(written):
        return np.nan
    try:
        return float((np.datetime64(written, "us") - np.datetime64(0, "us")) / np.timedelta64(1, "D"))
    except ValueError:  # the 30th of February
        return np.nan


def text_column(name: str, column: pa.ChunkedArray) -> TextColumn:
    """Read a column as text, cell by cell."""
    distinct, codes = encode_distinct(column)
    ordered = bool(pa.types.is_date(distinct.type) or pa.types.is_timestamp(distinct.type))
    written = [
        each.removesuffix(MIDNIGHT) if ordered else each for each in format_distinct_values(distinct).to_pylist()
    ]
    return TextColumn(name, tuple(written), codes_of(codes), ordered)


def natural_column(name: str, column: pa.ChunkedArray) -> RowColumn:
    """Read numbers as numbers, and anything else as text."""
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return number_column(name, column)
    return text_column(name, column)


def matching_rows(conditions: Mapping[str, Condition], columns: Mapping[str, RowColumn], rows: int) -> Truths:
    """Return which rows satisfy every condition; a missing value satisfies none."""
    found = np.ones(rows, dtype=np.bool_)
    for name, condition in conditions.items():
        found &= columns[name].matching(condition)
    return found


def check_column_exists(name: str, table: pa.Table) -> None:
    """Refuse a column that is not in the table."""
    if name not in table.column_names:
        hint = suggest_closest(name, table.column_names) or "."
        raise SchemaError(f"The table has no column {name!r}{hint}")


def codes_of(codes: pa.Array) -> npt.NDArray[np.int64]:
    """Return codes as numbers, -1 for a missing value."""
    return np.asarray(codes.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)


def _cell_text(value: object) -> str:
    return (
        format_value(value).removesuffix(MIDNIGHT) if isinstance(value, date | np.datetime64) else format_value(value)
    )


def _condition_day(name: str, value: object) -> float:
    found = days_since_epoch(format_value(value)) if isinstance(value, str | date | np.datetime64) else np.nan
    if not isfinite(found):
        raise InvalidParameterError(f"The condition on {name!r} must name dates, as in 1984-02-29.")
    return found


def _condition_number(name: str, value: object) -> float:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str) and NUMBER.fullmatch(value):
        value = float(value)
    if not isinstance(value, int | float) or not is_finite_number(value):
        raise InvalidParameterError(f"The condition on {name!r} must name numbers, like those in the column.")
    return float(value)
