"""What a column looks like: its type, its distinct values and how well they distinguish records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.io._values import dictionary_encode, format_distinct_values

SAMPLE = 2_000  # distinct values to examine


class CellType(StrEnum):
    """The type of the cells of a column."""

    TEXT = "text"
    WHOLE = "whole numbers"
    REAL = "real numbers"
    DATE = "dates"
    MOMENT = "datetimes"
    BOOLEAN = "booleans"

    @property
    def ordered(self) -> bool:
        """Whether such values have an order and distances."""
        return self in {CellType.WHOLE, CellType.REAL, CellType.DATE, CellType.MOMENT}


@dataclass(frozen=True, eq=False, repr=False)
class ValueProfile:
    """One column as codes: the index of each record's value, or `len(values)` if it is missing."""

    name: str
    kind: CellType
    rows: int
    values: pa.Array
    codes: npt.NDArray[np.unsignedinteger]
    counts: npt.NDArray[np.int64]

    @property
    def distinct(self) -> int:
        """The number of distinct values, not counting missing ones."""
        return len(self.values)

    @property
    def missing(self) -> int:
        """The number of records without a value."""
        return int(self.counts[-1])

    @property
    def filled(self) -> int:
        """The number of records with a value."""
        return self.rows - self.missing

    @property
    def distinct_share(self) -> float:
        """The share of distinct values among all values."""
        return self.distinct / max(self.filled, 1)

    @property
    def classes(self) -> int:
        """The number of classes of equal records; missing equals missing."""
        return self.distinct + (self.missing > 0)

    @property
    def distinction(self) -> float:
        """The number of classes per record."""
        return self.classes / self.rows

    @property
    def separation(self) -> float:
        """The share of pairs of records that the column distinguishes; 1 if there is no pair."""
        pairs = self.rows * (self.rows - 1)
        return 1 - self.equal_pairs / pairs if pairs else 1.0

    @property
    def equal_pairs(self) -> int:
        """The number of ordered pairs of different records that the column does not distinguish."""
        return int((self.counts * (self.counts - 1)).sum())

    @property
    def known_counts(self) -> npt.NDArray[np.int64] | None:
        """How many records have each value; None if that was not counted for every value."""
        return self.counts[:-1]

    @property
    def commonest(self) -> float:
        """The share of records with the most frequent value, if those without one have it, too: the worst case."""
        return (int(self.counts[:-1].max(initial=0)) + self.missing) / max(self.rows, 1)

    def rare_share(self, least: int) -> float:
        """Return the share of values that fewer records have than these."""
        counts = self.counts[:-1]
        return float(counts[counts < least].sum()) / max(self.filled, 1)

    @cached_property
    def sample(self) -> pa.Array:
        """The texts of some distinct values, evenly spread in order of first occurrence."""
        places = np.unique(np.linspace(0, len(self.values) - 1, min(len(self.values), SAMPLE)).astype(np.int64))
        return format_distinct_values(self.values.take(pa.array(places)))

    @cached_property
    def typical_length(self) -> float:
        """The average length of the distinct values, in characters."""
        return pc.mean(pc.utf8_length(self.sample)).as_py() or 0.0


@dataclass(frozen=True, eq=False, repr=False)
class SampledProfile(ValueProfile):
    """A column of so many values that only some of them are held; what is counted, is counted of all."""

    many: int
    lost: int
    pairs: int

    @property
    def distinct(self) -> int:
        """The number of distinct values, not counting missing ones."""
        return self.many

    @property
    def missing(self) -> int:
        """The number of records without a value."""
        return self.lost

    @property
    def equal_pairs(self) -> int:
        """The number of ordered pairs of different records that the column does not distinguish."""
        return self.pairs

    @property
    def known_counts(self) -> npt.NDArray[np.int64] | None:
        """How many records have each value: not known, for only some values are held."""
        return None

    @property
    def commonest(self) -> float:
        """The share of records with the most frequent value, if those without one have it, too, at most."""
        return min(1.0, (math.sqrt(self.pairs + self.filled) + self.missing) / max(self.rows, 1))

    def rare_share(self, least: int) -> float:  # noqa: ARG002 - of so many values, most are taken to be rare
        """Return the share of values that fewer records have than these: all, to be safe."""
        return 1.0


def profile_column(name: str, column: pa.ChunkedArray) -> ValueProfile:
    """Code one column of a canonical table that is not empty.

    >>> found = profile_column("age", pa.chunked_array([[39, 50, None, 39]]))
    >>> found.distinct, found.missing, found.distinction
    (2, 1, 0.75)
    """
    encoded = dictionary_encode(column)
    distinct = len(encoded.dictionary)
    codes = encoded.indices.fill_null(distinct).to_numpy(zero_copy_only=False)
    return ValueProfile(
        name=name,
        kind=get_cell_type(column.type),
        rows=len(column),
        values=encoded.dictionary,
        codes=codes.astype(np.min_scalar_type(distinct)),
        counts=np.bincount(codes, minlength=distinct + 1).astype(np.int64),
    )


def correspond(one: ValueProfile, other: ValueProfile) -> bool:
    """Return whether the values of two columns correspond one to one, in the records that have both.

    >>> code, name = (pa.chunked_array([each]) for each in ([1, 2, 1], ["flu", "cold", "flu"]))
    >>> correspond(profile_column("code", code), profile_column("name", name))
    True
    """
    if one.distinct != other.distinct:
        return False
    both = (one.codes < one.distinct) & (other.codes < other.distinct)
    pairs = one.codes[both].astype(np.int64) * other.distinct + other.codes[both]
    return len(np.unique(pairs)) == one.distinct


def get_cell_type(type_: pa.DataType) -> CellType:
    """Return the kind of cells of a canonical type."""
    if pa.types.is_boolean(type_):
        return CellType.BOOLEAN
    if pa.types.is_integer(type_):
        return CellType.WHOLE
    if pa.types.is_floating(type_):
        return CellType.REAL
    if pa.types.is_date(type_):
        return CellType.DATE
    return CellType.MOMENT if pa.types.is_timestamp(type_) else CellType.TEXT
