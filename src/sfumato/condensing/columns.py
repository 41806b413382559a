"""Columns that are condensed: their types, as numbers or as counted values, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa

from sfumato.exceptions import SchemaError
from sfumato.table.numbers import DAY, Numbers, refuse_huge, to_numbers

LARGEST_WHOLE = 2**63 - 1024  # the largest float64 that is a 64-bit whole number


class ColumnKind(StrEnum):
    """The type of the values of a column."""

    WHOLE = "whole"
    NUMBER = "number"
    DATE = "date"
    MOMENT = "moment"
    BOOLEAN = "boolean"
    TEXT = "text"


ARROW = {
    ColumnKind.WHOLE: pa.int64(),
    ColumnKind.NUMBER: pa.float64(),
    ColumnKind.DATE: pa.date32(),
    ColumnKind.MOMENT: pa.timestamp("us"),
    ColumnKind.BOOLEAN: pa.bool_(),
    ColumnKind.TEXT: pa.string(),
}
WIDER = {ColumnKind.WHOLE: ColumnKind.NUMBER, ColumnKind.DATE: ColumnKind.MOMENT}


@dataclass(frozen=True)
class CondensedColumn:
    """One column: its name, its type, and whether it has means and covariances or only counts of values."""

    name: str
    kind: ColumnKind
    numeric: bool

    def widened(self, kind: ColumnKind) -> CondensedColumn | None:
        """Return the column for values of its own and of another type; None if there is none.

        >>> CondensedColumn("weight", ColumnKind.WHOLE, True).widened(ColumnKind.NUMBER).kind.value
        'number'
        """
        if kind is self.kind or WIDER.get(kind) is self.kind:
            return self
        return CondensedColumn(self.name, kind, self.numeric) if WIDER.get(self.kind) is kind else None


def kind_of(type_: pa.DataType) -> ColumnKind:
    """Return the kind of a canonical type."""
    return next(kind for kind, known in ARROW.items() if known == type_)


def from_numbers(numbers: Numbers, kind: ColumnKind) -> pa.Array:
    """Return numbers as a column: whole numbers, days and microseconds are rounded to the nearest."""
    if kind is ColumnKind.NUMBER:
        return pa.array(numbers)
    if kind is ColumnKind.DATE:
        return pa.array(np.rint(numbers).astype(np.int32)).cast(pa.date32())
    scaled = numbers * DAY if kind is ColumnKind.MOMENT else numbers
    whole = pa.array(np.rint(scaled).clip(-LARGEST_WHOLE, LARGEST_WHOLE).astype(np.int64))
    return whole.cast(ARROW[kind])


def from_texts(values: Sequence[str | None], kind: ColumnKind) -> pa.Array:
    """Return canonical texts as values of a kind."""
    return pa.array(values, pa.string()).cast(ARROW[kind])


def matrix_of(table: pa.Table, names: Sequence[str]) -> Numbers:
    """Return columns as a matrix of numbers, with a row per record; refuse numbers too large to square."""
    refuse_huge(table, names)
    values = np.empty((table.num_rows, len(names)))
    for place, name in enumerate(names):
        values[:, place] = to_numbers(table.column(name))
    return values


def refuse_missing(table: pa.Table, names: Sequence[str]) -> None:
    """Refuse empty cells, which neither a mean nor a share can describe."""
    for name in names:
        missing = table.column(name).null_count
        if missing:
            raise SchemaError(
                f"Column {name!r} has no value in {missing:,} of {table.num_rows:,} rows; fill them or drop the rows."
            )
