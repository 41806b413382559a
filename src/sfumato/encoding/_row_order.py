"""Turn a publication into the published table, in an order that says nothing about the original's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._randomness import KeyedRandom
from sfumato.core._kernels.grouping import stable_argsort
from sfumato.io._values import dictionary_encode

Ranks = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
LARGEST_KEY = np.iinfo(np.int64).max
NEAR = 1 << 10


@dataclass(frozen=True, eq=False)
class ColumnTexts:
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


def rank_column(column: pa.Array | pa.ChunkedArray) -> tuple[Ranks, int]:
    """Rank every row by its value; missing comes last."""
    column = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
    if not len(column):
        return np.zeros(0, dtype=np.int64), 1
    if column.type == pa.int64() and (near := _rank_by_offset(column)) is not None:
        return near
    encoded = dictionary_encode(column)
    width = len(encoded.dictionary) + 1
    rank = np.empty(width, dtype=np.int64)
    rank[pc.array_sort_indices(encoded.dictionary).to_numpy()] = np.arange(width - 1)
    rank[-1] = width - 1
    return rank[encoded.indices.fill_null(width - 1).to_numpy(zero_copy_only=False)], width


def _rank_by_offset(column: pa.ChunkedArray) -> tuple[Ranks, int] | None:
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
    for keys, span in reversed(list(_pack_keys(ranked, rows))):  # stable: the last part first
        order = stable_argsort(keys, span) if order is None else order[stable_argsort(keys[order], span)]
    return np.arange(rows) if order is None else order


def _pack_keys(ranked: Sequence[tuple[Ranks, int]], rows: int) -> Iterator[tuple[Ranks, int]]:
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
class BucketPermutation:
    """A permutation of the cells of every bucket of a table or block, and a key of every bucket.

    `source` is the row whose cell every row shows, `bucket` the place of every row's bucket, below 0 for a cell in
    none. Buckets are in the order of their `keys`, which were drawn uniformly.
    """

    source: npt.NDArray[np.int64]
    bucket: npt.NDArray[np.int64]
    keys: Words

    @classmethod
    def draw(
        cls, bucket: npt.NDArray[np.integer], stream: KeyedRandom, *, alike: BucketPermutation | None = None
    ) -> BucketPermutation:
        """Draw a permutation uniformly at random, and keys of buckets unless they are given.

        Parameters
        ----------
        bucket : the bucket of every cell, below 0 for a cell in none.
        stream : where bits come from that nobody can repeat.
        alike : what was drawn for another attribute that has the same buckets.
        """
        places = np.flatnonzero(bucket >= 0)
        inside = bucket[places].astype(np.int64)
        inside -= inside.min(initial=0)
        used = np.bincount(inside) > 0
        inside, count = (np.cumsum(used) - 1)[inside], int(np.count_nonzero(used))
        mixed = stream.permutation(len(places))
        source = np.arange(len(bucket))
        source[places[stable_argsort(inside, count)]] = places[mixed[stable_argsort(inside[mixed], count)]]
        if alike is not None:
            return cls(source, alike.bucket, alike.keys)
        keys = stream.random_uint64(count)
        order = np.argsort(keys, kind="stable")
        rank = np.empty(count, dtype=np.int64)
        rank[order] = np.arange(count)
        place = np.full(len(bucket), -1, dtype=np.int64)
        place[places] = rank[inside]
        return cls(source, place, keys[order])


@dataclass(frozen=True, eq=False)
class BucketShuffle:
    """A permutation of the cells of every bucket, and the published number of every cell's bucket.

    `source` is the row whose cell every row shows; `number` is empty for a cell in no bucket.
    """

    source: npt.NDArray[np.int64]
    number: pa.Array

    @classmethod
    def from_permutations(
        cls, rows: int, drawn: Sequence[tuple[npt.NDArray[np.integer], BucketPermutation]]
    ) -> BucketShuffle:
        """Put together what was drawn for parts of a table: buckets are numbered by their keys among those of all.

        Parameters
        ----------
        rows : how many rows the table has.
        drawn : the rows of every part, each in one of them, and what was drawn for it.
        """
        source, number = np.arange(rows), np.full(rows, -1, dtype=np.int64)
        ranks = rank_jointly([each.keys for _, each in drawn])
        for (mine, each), ranked in zip(drawn, ranks, strict=True):
            source[mine] = mine[each.source]
            number[mine] = np.append(ranked, -1)[each.bucket]
        lost = number < 0
        return cls(source, pa.array(np.where(lost, 0, number), pa.int64(), mask=lost))

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
        shown, moved = (
            cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells
            for cells in (shown, moved)
        )
        return pc.if_else(pc.is_null(self.number), shown, moved)


def rank_jointly(keys: Sequence[Words]) -> list[Ranks]:
    """Rank the keys of several parts among those of all; of equal keys, those of the first part come first."""
    together = np.concatenate([np.zeros(0, dtype=np.uint64), *keys])
    rank = np.empty(len(together), dtype=np.int64)
    rank[np.argsort(together, kind="stable")] = np.arange(len(together))
    return np.split(rank, np.cumsum([len(each) for each in keys])[:-1])
