"""What is stated about columns, never looked up in them: bounds of numbers, categories of texts, edges of bins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from math import ceil, floor, frexp, isfinite, isnan, nan
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import is_finite_number, suggest_closest
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._columns import MIDNIGHT
from sfumato.io._type_inference import NUMBER
from sfumato.io._values import encode_distinct, format_value
from sfumato.queries.query import NUMBER as REAL
from sfumato.queries.query import (
    NumberColumn,
    RowColumn,
    TextColumn,
    check_column_exists,
    codes_of,
    date_column,
    days_since_epoch,
    text_column,
)

PAIR = 2
SMALLEST, LARGEST = 1e-150, 1e150  # squares of these are numbers still
BITS = 30  # a bound is about 2**30 steps of the integers that are summed
OWNER = "PrivateTable"
NUMERIC = re.compile(rf"{REAL.pattern}|\s*[+-]?inf(inity)?\s*", re.IGNORECASE)
PLAIN_NUMBER = re.compile(NUMBER)
Bound = float | date


@dataclass(frozen=True, kw_only=True, eq=False)
class DeclaredColumns:
    """The columns of a table, read as stated."""

    columns: Mapping[str, RowColumn]
    bounds: Mapping[str, tuple[float, float]]
    categories: Mapping[str, tuple[str, ...]]
    known: tuple[str, ...]

    def bounded(self, name: str) -> tuple[npt.NDArray[np.float64], float, float]:
        """Return the numbers of a column and their bounds; refuse a column without bounds."""
        self.check_declared(name)
        column = self.columns[name]
        if not isinstance(column, NumberColumn) or column.dates:
            what = "dates" if isinstance(column, NumberColumn) else "categories"
            raise SchemaError(f"Column {name!r} has {what}; sums, means and quantiles need bounds that are numbers.")
        return column.values, *self.bounds[name]

    def cells(self, name: str, edges: Sequence[Bound] | None) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
        """Return the cell of every row, and the labels of the cells; rows in no cell get -1."""
        self.check_declared(name)
        column = self.columns[name]
        if isinstance(column, TextColumn):
            if edges is not None:
                raise InvalidParameterError(f"Column {name!r} has categories; drop its edges.")
            return _category_codes(column, self.categories[name]), self.categories[name]
        if edges is None:
            raise InvalidParameterError(
                f"Column {name!r} contains numbers; state the edges of its bins, as in edges={{{name!r}: [0, 10, 20]}}."
            )
        return _bin_codes(column, edges)

    def check_declared(self, name: str) -> None:
        """Refuse a column about which nothing was stated."""
        if name in self.columns:
            return
        if name in self.known:
            raise SchemaError(
                f"Nothing is stated about column {name!r}; give its bounds or categories, which are never taken "
                "from the data."
            )
        raise SchemaError(f"The table has no column {name!r}{suggest_closest(name, self.known) or '.'}")


def declare_columns(
    table: pa.Table, bounds: Mapping[str, tuple[Bound, Bound]], categories: Mapping[str, Iterable[object]]
) -> DeclaredColumns:
    """Read the columns as stated."""
    limits = {name: _parse_bounds(name, given) for name, given in bounds.items()}
    labels = {name: _parse_categories(name, given) for name, given in categories.items()}
    for name in [*limits, *labels]:
        check_column_exists(name, table)
        if name in limits and name in labels:
            raise InvalidParameterError(f"Column {name!r} has bounds and categories; state one of them.")
    columns: dict[str, RowColumn] = {}
    for name, given in bounds.items():
        reading = date_column if isinstance(given[0], date) else bounded_column
        columns[name] = reading(name, table[name])
    columns |= {name: read_categories(name, table[name], labels[name]) for name in labels}
    return DeclaredColumns(columns=columns, bounds=limits, categories=labels, known=tuple(table.column_names))


def bounded_column(name: str, column: pa.ChunkedArray) -> NumberColumn:
    """Read a column as numbers, cell by cell, where infinite ones are beyond the bounds; anything else is missing."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return NumberColumn(name, column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    distinct, codes = encode_distinct(column)
    read = [float(each) if NUMERIC.fullmatch(each) else nan for each in distinct.to_pylist()]
    return NumberColumn(name, np.array([*read, nan])[codes_of(codes)])


def read_categories(name: str, column: pa.ChunkedArray, labels: tuple[str, ...]) -> TextColumn:
    """Read a column as texts, cell by cell, in the one writing that labels have, too.

    Where all labels are dates the column is one of dates, which have an order; what writes no date is missing.
    """
    read = text_column(name, column)
    written = [canonical_text(each) for each in read.texts]
    ordered = not any(isnan(days_since_epoch(each)) for each in labels)
    places = {each: place for place, each in enumerate(dict.fromkeys(written))}
    kept = [-1 if ordered and isnan(days_since_epoch(each)) else places[each] for each in written]
    return TextColumn(name, tuple(places), np.array([*kept, -1], dtype=np.int64)[read.codes], ordered)


def canonical_text(cell: str) -> str:
    """Write a number, a truth or a date as every kind of file would give it; leave any other text as it is.

    >>> [canonical_text(each) for each in ("1.0", "1e3", "007", "TRUE", "1984-02-29T00:00:00", "a b")]
    ['1', '1000', '007', 'true', '1984-02-29', 'a b']
    """
    if PLAIN_NUMBER.fullmatch(cell) and isfinite(float(cell)):
        return format_value(float(cell))
    if cell.lower() in {"true", "false"}:
        return cell.lower()
    if not isnan(days_since_epoch(cell)):
        return format_value(np.datetime64(cell.replace(" ", "T"), "us")).removesuffix(MIDNIGHT)
    return cell


def count_unreadable(stated: DeclaredColumns) -> dict[str, int]:
    """Count per column the cells that cannot be read as was stated, or are missing; for the owner's eyes only."""
    return {
        name: int(np.isnan(column.values).sum() if isinstance(column, NumberColumn) else (column.codes < 0).sum())
        for name, column in stated.columns.items()
    }


def step_of(low: float, high: float) -> tuple[float, int]:
    """Return a small step that follows only from the bounds, and how many of it the larger bound is."""
    step = 2.0 ** (frexp(max(abs(low), abs(high)))[1] - 1 - BITS)
    return step, max(abs(floor(low / step)), abs(ceil(high / step)))


def to_integer_steps(values: npt.NDArray[np.float64], low: float, high: float) -> npt.NDArray[np.int64]:
    """Convert numbers to whole multiples of the step of the bounds, to which they are clipped.

    Sums of whole numbers are exact, so that no rounding hides in them.

    >>> to_integer_steps(np.array([3.0, 9.0]), 0, 4).tolist() == [3 * 2**28, 4 * 2**28]
    True
    """
    step, _ = step_of(low, high)
    whole = np.clip(np.rint(np.clip(values, low, high) / step), floor(low / step), ceil(high / step))
    return whole.astype(np.int64)


def _parse_bounds(name: str, given: object) -> tuple[float, float]:
    pair = tuple(given) if isinstance(given, tuple | list) else ()
    if len(pair) == PAIR and all(isinstance(each, date) for each in pair):
        pair = tuple(days_since_epoch(format_value(each)) for each in pair)
    if len(pair) != PAIR or not all(map(is_finite_number, pair)) or not pair[0] < pair[1]:
        raise InvalidParameterError(
            f"{OWNER}.bounds[{name!r}] must be two finite numbers or two dates, the lower first; an unbounded column"
            " has no answer."
        )
    largest = max(abs(float(pair[0])), abs(float(pair[1])))
    if not SMALLEST <= largest <= LARGEST or float(pair[1]) - float(pair[0]) < SMALLEST:
        raise InvalidParameterError(
            f"{OWNER}.bounds[{name!r}] must lie between {SMALLEST:g} and {LARGEST:g} in size; use another unit."
        )
    return float(pair[0]), float(pair[1])


def _parse_categories(name: str, given: object) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidParameterError(f"{OWNER}.categories[{name!r}] must be a list of values.")
    listed = tuple(canonical_text(format_value(each)) for each in given)
    if not listed or len(set(listed)) < len(listed):
        raise InvalidParameterError(f"{OWNER}.categories[{name!r}] must be a list of distinct values, at least one.")
    return listed


def _category_codes(column: TextColumn, categories: tuple[str, ...]) -> npt.NDArray[np.int64]:
    places = {label: place for place, label in enumerate(categories)}
    return np.array([*(places.get(each, -1) for each in column.texts), -1], dtype=np.int64)[column.codes]


def _bin_codes(column: NumberColumn, edges: Sequence[Bound]) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """Find bins that include their lower edge, and the last one also its upper edge."""
    listed = list(edges)
    at: list[Any] = [column.parse_value(each) for each in listed] if column.dates else listed
    if len(at) < PAIR or not (all(map(is_finite_number, at)) and all(a < b for a, b in pairwise(at))):
        kind = "dates" if column.dates else "numbers"
        raise InvalidParameterError(f"The edges of column {column.name!r} must be at least two increasing {kind}.")
    cuts = np.array(at, dtype=np.float64)
    inside = (column.values >= cuts[0]) & (column.values <= cuts[-1])
    bins = np.minimum(np.searchsorted(cuts, column.values, side="right") - 1, len(cuts) - 2)
    names = [f"[{format_value(a)}, {format_value(b)})" for a, b in pairwise(listed)]
    return np.where(inside, bins, -1), (*names[:-1], f"{names[-1][:-1]}]")
