"""Columns that are condensed: their types, as numbers or as counted values, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa

from sfumato.errors import SchemaError
from sfumato.io._values import DAY, Numbers, refuse_huge, to_numbers

MAX_WHOLE = 2**63 - 1024  # the largest float64 that is a 64-bit whole number


class ColumnType(StrEnum):
    """The type of the values of a column."""

    WHOLE = "whole"
    NUMBER = "number"
    DATE = "date"
    MOMENT = "moment"
    BOOLEAN = "boolean"
    TEXT = "text"


ARROW = {
    ColumnType.WHOLE: pa.int64(),
    ColumnType.NUMBER: pa.float64(),
    ColumnType.DATE: pa.date32(),
    ColumnType.MOMENT: pa.timestamp("us"),
    ColumnType.BOOLEAN: pa.bool_(),
    ColumnType.TEXT: pa.string(),
}
WIDER = {ColumnType.WHOLE: ColumnType.NUMBER, ColumnType.DATE: ColumnType.MOMENT}


@dataclass(frozen=True)
class SynthesizedColumn:
    """One column: its name, its type, and whether it has means and covariances or only counts of values."""

    name: str
    kind: ColumnType
    numeric: bool

    def widen(self, kind: ColumnType) -> SynthesizedColumn | None:
        """Return the column for values of its own and of another type; None if there is none.

        >>> SynthesizedColumn("weight", ColumnType.WHOLE, True).widen(ColumnType.NUMBER).kind.value
        'number'
        """
        if kind is self.kind or WIDER.get(kind) is self.kind:
            return self
        return SynthesizedColumn(self.name, kind, self.numeric) if WIDER.get(self.kind) is kind else None


def column_type(type_: pa.DataType) -> ColumnType:
    """Return the kind of a canonical type."""
    return next(kind for kind, known in ARROW.items() if known == type_)


def column_from_numbers(numbers: Numbers, kind: ColumnType) -> pa.Array:
    """Return numbers as a column: whole numbers, days and microseconds are rounded to the nearest."""
    if kind is ColumnType.NUMBER:
        return pa.array(numbers)
    if kind is ColumnType.DATE:
        return pa.array(np.rint(numbers).astype(np.int32)).cast(pa.date32())
    scaled = numbers * DAY if kind is ColumnType.MOMENT else numbers
    whole = pa.array(np.rint(scaled).clip(-MAX_WHOLE, MAX_WHOLE).astype(np.int64))
    return whole.cast(ARROW[kind])


def column_from_texts(values: Sequence[str | None], kind: ColumnType) -> pa.Array:
    """Return canonical texts as values of a kind."""
    return pa.array(values, pa.string()).cast(ARROW[kind])


def numeric_matrix(table: pa.Table, names: Sequence[str]) -> Numbers:
    """Return columns as a matrix of numbers, with a row per record; refuse numbers too large to square."""
    refuse_huge(table, names)
    values = np.empty((table.num_rows, len(names)))
    for place, name in enumerate(names):
        values[:, place] = to_numbers(table.column(name))
    return values


def check_no_missing(table: pa.Table, names: Sequence[str]) -> None:
    """Refuse empty cells, which neither a mean nor a share can describe."""
    for name in names:
        missing = table.column(name).null_count
        if missing:
            raise SchemaError(
                f"Column {name!r} has no value in {missing:,} of {table.num_rows:,} rows; fill them or drop the rows."
            )
