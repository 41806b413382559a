"""Columns that are condensed: what they hold, as numbers or as counted values, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa

from sfumato.exceptions import SchemaError
from sfumato.table.numbers import DAY, Numbers, to_numbers

LARGEST = 1e100  # squares of larger numbers, summed, might leave what a float64 can hold
LARGEST_WHOLE = 2**63 - 1024  # the largest float64 that is a 64-bit whole number


class Kind(StrEnum):
    """What the values of a column are."""

    WHOLE = "whole"
    NUMBER = "number"
    DATE = "date"
    MOMENT = "moment"
    BOOLEAN = "boolean"
    TEXT = "text"


ARROW = {
    Kind.WHOLE: pa.int64(),
    Kind.NUMBER: pa.float64(),
    Kind.DATE: pa.date32(),
    Kind.MOMENT: pa.timestamp("us"),
    Kind.BOOLEAN: pa.bool_(),
    Kind.TEXT: pa.string(),
}
WIDER = {Kind.WHOLE: Kind.NUMBER, Kind.DATE: Kind.MOMENT}


@dataclass(frozen=True)
class Column:
    """One column: its name, what it holds, and whether it has means and covariances or only counts of values."""

    name: str
    kind: Kind
    numeric: bool

    def widened(self, kind: Kind) -> Column | None:
        """Return the column that holds values of its own and of another kind; None if there is none.

        >>> Column("weight", Kind.WHOLE, True).widened(Kind.NUMBER).kind.value
        'number'
        """
        if kind is self.kind or WIDER.get(kind) is self.kind:
            return self
        return Column(self.name, kind, self.numeric) if WIDER.get(self.kind) is kind else None


def kind_of(type_: pa.DataType) -> Kind:
    """Return the kind of a canonical type."""
    return next(kind for kind, known in ARROW.items() if known == type_)


def from_numbers(numbers: Numbers, kind: Kind) -> pa.Array:
    """Return numbers as a column: whole numbers, days and microseconds are rounded to the nearest."""
    if kind is Kind.NUMBER:
        return pa.array(numbers)
    if kind is Kind.DATE:
        return pa.array(np.rint(numbers).astype(np.int32)).cast(pa.date32())
    scaled = numbers * DAY if kind is Kind.MOMENT else numbers
    whole = pa.array(np.rint(scaled).clip(-LARGEST_WHOLE, LARGEST_WHOLE).astype(np.int64))
    return whole.cast(ARROW[kind])


def from_texts(values: Sequence[str | None], kind: Kind) -> pa.Array:
    """Return canonical texts as values of a kind."""
    return pa.array(values, pa.string()).cast(ARROW[kind])


def matrix_of(table: pa.Table, names: Sequence[str]) -> Numbers:
    """Return columns as a matrix of numbers, a row for each record; refuse numbers too large to be squared."""
    values = np.empty((table.num_rows, len(names)))
    for place, name in enumerate(names):
        values[:, place] = to_numbers(table.column(name))
        if table.num_rows and np.abs(values[:, place]).max() > LARGEST:
            raise SchemaError(f"Column {name!r} holds numbers beyond {LARGEST:g}; measure it in a larger unit.")
    return values


def refuse_missing(table: pa.Table, names: Sequence[str]) -> None:
    """Refuse empty cells: neither a mean nor a share says what to make of them."""
    for name in names:
        missing = table.column(name).null_count
        if missing:
            raise SchemaError(
                f"Column {name!r} lacks a value in {missing:,} of {table.num_rows:,} rows; fill them, or drop the rows."
            )
