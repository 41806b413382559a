"""Rows in their order as few whole numbers: an engine sorts these, and columns are read from them again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.io._parquet_parts import compact_dictionary
from sfumato.tables.engines._source import CombinationRecoding

LARGEST = 2**62


@dataclass(frozen=True, eq=False)
class PackedField:
    """What a whole number holds of a row: a rank below `width`, and the columns that it tells.

    Parameters
    ----------
    sql : the rank as the engine computes it.
    width : the number of ranks.
    read : returns the cells of the columns by their ranks.
    """

    sql: str
    width: int
    read: Callable[[npt.NDArray[np.int64]], dict[str, pa.Array]]


@dataclass(frozen=True, eq=False)
class PackedKey:
    """Several digits in one whole number, the first counting most."""

    digits: tuple[PackedField, ...]

    @property
    def sql(self) -> str:
        """The number as the engine computes it."""
        first, *others = self.digits
        number = f"CAST({first.sql} AS BIGINT)"
        for digit in others:
            number = f"({number} * {digit.width} + {digit.sql})"
        return number

    def read(self, numbers: npt.NDArray[np.int64]) -> dict[str, pa.Array]:
        """Return the cells of all columns."""
        found: dict[str, pa.Array] = {}
        for digit in reversed(self.digits[1:]):
            numbers, ranks = np.divmod(numbers, digit.width)
            found |= digit.read(ranks)
        return found | self.digits[0].read(numbers)


def pack_fields(digits: list[PackedField | str]) -> list[PackedKey | str]:
    """Put digits that stand side by side into as few numbers as can hold them; a column's name stays as it is."""
    found: list[PackedKey | str] = []
    run: list[PackedField] = []
    span = 1
    for digit in digits:
        if isinstance(digit, str) or span * digit.width > LARGEST:
            found += [PackedKey(tuple(run))] if run else []
            run, span = [], 1
        if isinstance(digit, str):
            found.append(digit)
        else:
            run.append(digit)
            span *= digit.width
    return [*found, PackedKey(tuple(run))] if run else found


def make_group_field(rule: CombinationRecoding, at: int, sql: str) -> PackedField:
    """Return the digit of recoded columns that stand side by side: the rank of the group by them."""
    ranks, names = rule.order[at], rule.run(at)
    assert not isinstance(ranks, str)  # noqa: S101 - callers ask for groups only
    width = int(ranks.max(initial=0)) + 1
    example = np.zeros(width, dtype=np.int64)
    example[ranks] = np.arange(len(ranks))
    shown = {name: rule.shown[name].combine_chunks() for name in names}

    def read(found: npt.NDArray[np.int64]) -> dict[str, pa.Array]:
        begins = np.flatnonzero(np.append(True, found[1:] != found[:-1])) if len(found) else found
        groups, many = pa.array(example[found[begins]]), np.diff(begins, append=len(found))
        return {name: _repeat_cells(column.take(groups), many) for name, column in shown.items()}

    return PackedField(sql, width, read)


def _repeat_cells(cells: pa.Array, many: npt.NDArray[np.int64]) -> pa.Array:
    """Repeat every cell so many times; equal groups stand side by side, so there are few cells."""
    if pa.types.is_dictionary(cells.type):
        texts = compact_dictionary(cells)
        return pa.DictionaryArray.from_arrays(_repeat_cells(texts.indices, many), texts.dictionary, safe=False)
    if cells.null_count or not pa.types.is_int32(cells.type):
        return cells.take(pa.array(np.repeat(np.arange(len(cells)), many)))
    return pa.array(np.repeat(cells.to_numpy(), many))


def make_value_field(name: str, values: pa.Array, cell: str, rank: str) -> PackedField:
    """Return the digit of a kept column: the rank of its value, the last for missing.

    Parameters
    ----------
    name : the column.
    values : its values in the order of their ranks.
    cell, rank : a cell and its rank as the engine computes them; no rank at all is given to a value that is not known.
    """

    def read(found: npt.NDArray[np.int64]) -> dict[str, pa.Array]:
        missing = found == len(values)
        places = pa.array(found.astype(np.int32), mask=missing if missing.any() else None)
        if pa.types.is_string(values.type):
            return {name: pa.DictionaryArray.from_arrays(places, values)}
        return {name: pc.take(values, places)}

    return PackedField(f"CASE WHEN {cell} IS NULL THEN {len(values)} ELSE {rank} END", len(values) + 1, read)
