"""How far apart records are that share some columns: Gower's distance, summed over columns.

Numbers and dates are a share of their range apart, other values 0 or 1. Two missing cells are 0 apart, a missing and
another one 1. The range is that of all tables together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sfumato.io._values import format_values, is_metric_type, to_numbers
from sfumato.tables.attacks._beliefs import Floats, Ints

BLOCK = 1 << 23  # distances held at once
TIE = 1e-9  # distances that are closer are equal: they differ by rounding only


class ColumnScale(NamedTuple):
    """The least of all values of a column, and how far the greatest is from it."""

    low: float
    width: float


@dataclass(frozen=True, eq=False, repr=False)
class ComparedRecords:
    """Several tables with the same columns, as numbers that can be compared between them.

    `numbers` holds per table and column of numbers the values as shares of the common range, NaN where they are
    missing; `codes` per table and other column the numbers of the values, -1 where they are missing.
    """

    numbers: Mapping[str, Mapping[str, Floats]]
    codes: Mapping[str, Mapping[str, Ints]]
    rows: Mapping[str, int]
    scales: Mapping[str, ColumnScale]

    @classmethod
    def of(cls, tables: Mapping[str, pa.Table], names: Sequence[str]) -> ComparedRecords:
        """Code the columns of all tables alike."""
        numbers: dict[str, dict[str, Floats]] = {which: {} for which in tables}
        codes: dict[str, dict[str, Ints]] = {which: {} for which in tables}
        scales: dict[str, ColumnScale] = {}
        for name in names:
            columns = {which: table[name] for which, table in tables.items()}
            if all(is_metric_type(column.type) or column.null_count == len(column) for column in columns.values()):
                values = {which: _to_floats(column) for which, column in columns.items()}
                known = np.concatenate(list(values.values()))
                known = known[~np.isnan(known)]
                low, width = (float(known.min()), float(np.ptp(known))) if len(known) else (0.0, 0.0)
                scales[name] = ColumnScale(low, width)
                for which, each in values.items():
                    numbers[which][name] = (each - low) / width if width > 0 else np.where(np.isnan(each), np.nan, 0.0)
            else:
                listed = {which: format_values(column).to_pylist() for which, column in columns.items()}
                # in the order of texts: numbers in order of appearance would tell which table a value is from
                known_texts = sorted({each for cells in listed.values() for each in cells if each is not None})
                places = {None: -1} | {each: place for place, each in enumerate(known_texts)}
                for which, cells in listed.items():
                    codes[which][name] = np.array([places[each] for each in cells], dtype=np.int64)
        return cls(numbers, codes, {which: table.num_rows for which, table in tables.items()}, scales)

    def is_number(self, name: str) -> bool:
        """Return whether a column holds numbers."""
        return any(name in columns for columns in self.numbers.values())

    def values(self, which: str, name: str) -> Floats:
        """Return a column of a table as numbers; codes count as numbers, missing cells are NaN."""
        if self.is_number(name):
            return self.numbers[which][name]
        codes = self.codes[which][name]
        return np.where(codes < 0, np.nan, codes)

    def distances(
        self, which: str, rows: Ints, names: Sequence[str], to: str = "published"
    ) -> Iterator[tuple[slice, Floats]]:
        """Yield, for some of the rows at a time, their distances to all rows of another table."""
        step = max(1, BLOCK // max(1, self.rows[to]))
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            yield slice(start, start + len(part)), self._block(which, part, names, to)

    def _block(self, which: str, rows: Ints, names: Sequence[str], to: str) -> Floats:
        from scipy.spatial.distance import cdist

        total = np.zeros((len(rows), self.rows[to]))
        complete = []
        for name in names:
            if not self.is_number(name):
                total += self.codes[which][name][rows][:, None] != self.codes[to][name][None, :]
                continue
            one, other = self.numbers[which][name][rows], self.numbers[to][name]
            if np.isnan(one).any() or np.isnan(other).any():
                apart = np.abs(one[:, None] - other[None, :])
                both = np.isnan(one)[:, None] & np.isnan(other)[None, :]
                total += np.where(np.isnan(apart), np.where(both, 0.0, 1.0), apart)
            else:
                complete.append((one, other))
        if complete:
            ones, others = zip(*complete, strict=True)
            total += cdist(np.column_stack(ones), np.column_stack(others), "cityblock")
        return total

    def least(self, which: str, rows: Ints, names: Sequence[str], to: str = "published") -> Floats:
        """Return the distance of every row to the nearest one of another table."""
        found = np.empty(len(rows))
        for part, apart in self.distances(which, rows, names, to):
            found[part] = apart.min(axis=1)
        return found


def _to_floats(column: pa.ChunkedArray) -> Floats:
    if column.null_count == len(column):
        return np.full(len(column), np.nan)
    return to_numbers(column)
