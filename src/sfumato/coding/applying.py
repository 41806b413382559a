"""Turn a publication into the published table, in an order that says nothing about the original's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.coding.ordering import ascending
from sfumato.randomness import Stream

Ranks = npt.NDArray[np.int64]
LARGEST_KEY = np.iinfo(np.int64).max
NEAR = 1 << 10


@dataclass(frozen=True, eq=False)
class CellTexts:
    """One column as published: the text of every label (None for missing) and the label of every row.

    `kind` is the type that the texts are read as: text, unless only values are published.
    """

    texts: pa.Array
    codes: npt.NDArray[np.int32]
    kind: pa.DataType = field(default_factory=pa.string)

    def array(self) -> pa.Array:
        """Return the column as a dictionary."""
        rank, shown = self._ranked
        lost = rank == len(shown)
        indices = pa.array(rank.astype(np.int32)[self.codes], mask=lost[self.codes] if lost.any() else None)
        return pa.DictionaryArray.from_arrays(indices, shown)

    def ranks(self) -> tuple[Ranks, int]:
        """Rank every row by its value; missing comes last."""
        rank, shown = self._ranked
        return rank[self.codes], len(shown) + 1

    @cached_property
    def _ranked(self) -> tuple[Ranks, pa.Array]:
        """Rank every label among the distinct texts: labels with the same text are indistinguishable."""
        encoded = self.texts.dictionary_encode()
        values = encoded.dictionary.cast(self.kind)
        order = pc.array_sort_indices(values)
        rank = np.empty(len(values) + 1, dtype=np.int64)
        rank[order.to_numpy()] = np.arange(len(values))
        rank[-1] = len(values)
        return rank[encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)], values.take(order)


def column_ranks(column: pa.Array | pa.ChunkedArray) -> tuple[Ranks, int]:
    """Rank every row by its value; missing comes last."""
    column = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
    if not len(column):
        return np.zeros(0, dtype=np.int64), 1
    if column.type == pa.int64() and (near := _near_ranks(column)) is not None:
        return near
    encoded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    width = len(encoded.dictionary) + 1
    rank = np.empty(width, dtype=np.int64)
    rank[pc.array_sort_indices(encoded.dictionary).to_numpy()] = np.arange(width - 1)
    rank[-1] = width - 1
    return rank[encoded.indices.fill_null(width - 1).to_numpy(zero_copy_only=False)], width


def _near_ranks(column: pa.ChunkedArray) -> tuple[Ranks, int] | None:
    """Rank whole numbers that are close together by their distance from the least: some ranks occur nowhere."""
    ends = pc.min_max(column).as_py()
    least, most = ends["min"], ends["max"]
    if least is None or most - least >= max(len(column), NEAR):
        return None
    width = most - least + 2
    numbers = column.combine_chunks()
    ranks = numbers.fill_null(least).to_numpy(zero_copy_only=False) - least
    if numbers.null_count:
        ranks[numbers.is_null().to_numpy(zero_copy_only=False)] = width - 1
    return ranks, width


def order_rows(ranked: Sequence[tuple[Ranks, int]], rows: int) -> npt.NDArray[np.int64]:
    """Order rows by several ranked columns, the first counting most."""
    order = None
    for keys, span in reversed(list(_packed(ranked, rows))):  # stable: the last part first
        order = ascending(keys, span) if order is None else order[ascending(keys[order], span)]
    return np.arange(rows) if order is None else order


def _packed(ranked: Sequence[tuple[Ranks, int]], rows: int) -> Iterator[tuple[Ranks, int]]:
    """Pack as many columns as fit into keys of 63 bits, several times if needed, and say below what they are."""
    keys, span = np.zeros(rows, dtype=np.int64), 1
    for ranks, width in ranked:
        if span > LARGEST_KEY // width:
            yield keys, span
            keys, span = np.zeros(rows, dtype=np.int64), 1
        keys = keys * width + ranks
        span *= width
    yield keys, span


@dataclass(frozen=True, eq=False)
class Shuffle:
    """A permutation of the cells of every bucket, and the published number of every cell's bucket.

    `source` is the row whose cell every row shows; `number` is empty for a cell in no bucket.
    """

    source: npt.NDArray[np.int64]
    number: pa.Array

    @classmethod
    def draw(cls, bucket: npt.NDArray[np.integer], stream: Stream, *, numbers: pa.Array | None = None) -> Shuffle:
        """Draw a permutation uniformly at random, and new bucket numbers unless they are given.

        Parameters
        ----------
        bucket : the bucket of every cell, below 0 for a cell in none.
        stream : where bits come from that nobody can repeat.
        numbers : the number of every cell's bucket, if another attribute has the same buckets.
        """
        places = np.flatnonzero(bucket >= 0)
        shuffled = places[stream.permutation(len(places))]
        source = np.arange(len(bucket))
        count = int(bucket.max(initial=-1)) + 1
        source[places[ascending(bucket[places], count)]] = shuffled[ascending(bucket[shuffled], count)]
        if numbers is None:
            anew = stream.permutation(count)
            lost = bucket < 0
            numbers = pa.array(np.where(lost, 0, np.append(anew, 0)[bucket]), pa.int64(), mask=lost)
        return cls(source, numbers)

    def cells(self, shown: pa.Array, original: pa.Array) -> pa.Array:
        """Return the column: the original cells of buckets in their new places, and the published cells of all others.

        Parameters
        ----------
        shown : the published cells that are in no bucket.
        original : the original cells, of the same type.
        """
        moved = original.take(pa.array(self.source))
        if not self.number.null_count:
            return moved
        if pa.types.is_dictionary(shown.type):
            shown = shown.cast(shown.type.value_type)
        return pc.if_else(pc.is_null(self.number), shown, moved)
