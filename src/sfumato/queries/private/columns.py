"""What is stated about columns, never looked up in them: bounds of numbers, categories of texts, edges of bins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, frexp

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.exceptions import InvalidParameterError, SchemaError
from sfumato.queries.estimates.rows import (
    NumberColumn,
    RowColumn,
    TextColumn,
    number_column,
    refuse_unknown,
    text_column,
)
from sfumato.table.values import text
from sfumato.validation import did_you_mean, is_number

PAIR = 2
BITS = 30  # a bound is about 2**30 steps of the integers that are summed
OWNER = "PrivateTable"


@dataclass(frozen=True, kw_only=True, eq=False)
class Stated:
    """The columns of a table, read as stated."""

    columns: Mapping[str, RowColumn]
    bounds: Mapping[str, tuple[float, float]]
    categories: Mapping[str, tuple[str, ...]]
    known: tuple[str, ...]

    def bounded(self, name: str) -> tuple[npt.NDArray[np.float64], float, float]:
        """Return the numbers of a column and their bounds; refuse a column without bounds."""
        self.refuse_unstated(name)
        column = self.columns[name]
        if not isinstance(column, NumberColumn):
            raise SchemaError(f"Column {name!r} has categories; sums, means and quantiles need bounds.")
        return column.values, *self.bounds[name]

    def cells(self, name: str, edges: Sequence[float] | None) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
        """Return the cell of every row, and the labels of the cells; rows in no cell get -1."""
        self.refuse_unstated(name)
        column = self.columns[name]
        if isinstance(column, TextColumn):
            if edges is not None:
                raise InvalidParameterError(f"Column {name!r} has categories; drop its edges.")
            return _by_category(column, self.categories[name]), self.categories[name]
        if edges is None:
            raise InvalidParameterError(
                f"Column {name!r} contains numbers; state the edges of its bins, as in edges={{{name!r}: [0, 10, 20]}}."
            )
        return _by_edges(column, edges)

    def refuse_unstated(self, name: str) -> None:
        """Refuse a column about which nothing was stated."""
        if name in self.columns:
            return
        if name in self.known:
            raise SchemaError(
                f"Nothing is stated about column {name!r}; give its bounds or categories, which are never taken "
                "from the data."
            )
        raise SchemaError(f"The table has no column {name!r}{did_you_mean(name, self.known) or '.'}")


def stated(
    table: pa.Table, bounds: Mapping[str, tuple[float, float]], categories: Mapping[str, Iterable[object]]
) -> Stated:
    """Read the columns as stated."""
    limits = {name: _bounds(name, given) for name, given in bounds.items()}
    labels = {name: _categories(name, given) for name, given in categories.items()}
    for name in [*limits, *labels]:
        refuse_unknown(name, table)
        if name in limits and name in labels:
            raise InvalidParameterError(f"Column {name!r} has bounds and categories; state one of them.")
    columns: dict[str, RowColumn] = {name: number_column(name, table[name]) for name in limits}
    columns |= {name: text_column(name, table[name]) for name in labels}
    return Stated(columns=columns, bounds=limits, categories=labels, known=tuple(table.column_names))


def whole_steps(values: npt.NDArray[np.float64], low: float, high: float) -> tuple[npt.NDArray[np.int64], float, int]:
    """Convert numbers to whole multiples of a small step, clipped to the bounds; return the step and the largest size.

    The step follows only from the bounds. Sums of whole numbers are exact, so that no rounding hides in them.

    >>> whole_steps(np.array([3.0, 9.0]), 0, 4)[0].tolist() == [3 * 2**28, 4 * 2**28]
    True
    """
    step = 2.0 ** (frexp(max(abs(low), abs(high)))[1] - 1 - BITS)
    least, most = floor(low / step), ceil(high / step)
    whole = np.clip(np.rint(np.clip(values, low, high) / step), least, most)
    return whole.astype(np.int64), step, max(abs(least), abs(most))


def _bounds(name: str, given: object) -> tuple[float, float]:
    pair = tuple(given) if isinstance(given, tuple | list) else ()
    if len(pair) != PAIR or not all(map(is_number, pair)) or not pair[0] < pair[1]:
        raise InvalidParameterError(
            f"{OWNER}.bounds[{name!r}] must be two finite numbers, the lower first; an unbounded column has no answer."
        )
    return float(pair[0]), float(pair[1])


def _categories(name: str, given: object) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidParameterError(f"{OWNER}.categories[{name!r}] must be a list of values.")
    listed = tuple(text(each) for each in given)
    if not listed or len(set(listed)) < len(listed):
        raise InvalidParameterError(f"{OWNER}.categories[{name!r}] must be a list of distinct values, at least one.")
    return listed


def _by_category(column: TextColumn, categories: tuple[str, ...]) -> npt.NDArray[np.int64]:
    places = {label: place for place, label in enumerate(categories)}
    return np.array([*(places.get(each, -1) for each in column.texts), -1], dtype=np.int64)[column.codes]


def _by_edges(column: NumberColumn, edges: Sequence[float]) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """Find bins that include their lower edge, and the last one also its upper edge."""
    listed = list(edges)
    rising = all(map(is_number, listed)) and all(a < b for a, b in pairwise(listed))
    if len(listed) < PAIR or not rising:
        raise InvalidParameterError(f"The edges of column {column.name!r} must be at least two increasing numbers.")
    cuts = np.array(listed, dtype=np.float64)
    inside = (column.values >= cuts[0]) & (column.values <= cuts[-1])
    bins = np.minimum(np.searchsorted(cuts, column.values, side="right") - 1, len(cuts) - 2)
    names = [f"[{text(a)}, {text(b)})" for a, b in pairwise(listed)]
    return np.where(inside, bins, -1), (*names[:-1], f"{names[-1][:-1]}]")
