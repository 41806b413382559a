"""Turn a publication into the table that is published, in an order that says nothing about the original's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import KeyedRandom
from sfumato._threads import map_in_threads
from sfumato.encoding._row_order import (
    BucketPermutation,
    BucketShuffle,
    ColumnTexts,
    Ranks,
    Words,
    order_rows,
    rank_column,
)
from sfumato.errors import SchemaError
from sfumato.io._columns import get_value_type
from sfumato.io._dataframes import to_canonical
from sfumato.io._values import dictionary_encode, format_values, reorder_dictionary
from sfumato.schema.schema import Schema
from sfumato.tables.published.published_table import format_bucket_column
from sfumato.tables.published.solution import (
    NOT_PUBLISHED,
    Center,
    Counterfeits,
    Exact,
    LabelBatch,
    MissingCell,
    RecodedAttribute,
    TableSolution,
)

MOST_BYTES = 1 << 31  # of one Arrow array of texts


def canonical_order(table: pa.Table, schema: Schema) -> npt.NDArray[np.int64]:
    """Order rows by everything a search may see or a release may show, so that their given order has no effect."""
    names = (*schema.quasi_identifiers, *schema.sensitive, *schema.insensitive, *schema.flags.values())
    ranked = map_in_threads(lambda name: rank_column(table[name]), names, table.num_rows)
    return order_rows(list(ranked), table.num_rows)


def in_canonical_order(table: pa.Table, schema: Schema) -> tuple[npt.NDArray[np.int64], pa.Table]:
    """Return that order, and in it the columns that have a part in a release; these are coded, once for all of it."""
    used = {*schema.quasi_identifiers, *schema.sensitive, *schema.insensitive, *schema.flags.values()}

    def encoded(name: str) -> pa.ChunkedArray:
        column = table[name]
        fits = not pa.types.is_boolean(column.type) and column.nbytes < MOST_BYTES and len(column)
        return pa.chunked_array([dictionary_encode(column)]) if fits else column

    names = [name for name in table.column_names if name in used]
    narrow = pa.table(dict(zip(names, map_in_threads(encoded, names, table.num_rows), strict=True)))
    order = canonical_order(narrow, schema)
    places = pa.array(order)

    def ordered(name: str) -> pa.ChunkedArray:
        column = narrow[name]
        if not pa.types.is_dictionary(column.type):
            return column.take(places)
        return pa.chunked_array([reorder_dictionary(column.combine_chunks(), order)])

    return order, pa.table(dict(zip(names, map_in_threads(ordered, names, table.num_rows), strict=True)))


@dataclass(frozen=True, eq=False)
class AppliedSolution:
    """The published table, for each of its rows the number of the original row, and how buckets were numbered.

    A row that belongs to nobody, a counterfeit, has the number -1.
    `keys` are, for every column of bucket numbers, those that its buckets are ordered by.
    """

    shown: pa.Table
    rows: npt.NDArray[np.int64]
    keys: Mapping[str, Words]


def apply_solution(
    publication: TableSolution,
    table: pa.Table,
    schema: Schema,
    stream: KeyedRandom,
    blocks: Sequence[tuple[npt.NDArray[np.integer], KeyedRandom]] = (),
) -> AppliedSolution:
    """Build the published table.

    Values in buckets are permuted within each bucket, and buckets are renumbered, both uniformly at random
    by the stream. Attributes permuted together share one column of bucket numbers, after the last of them.

    Parameters
    ----------
    publication : what is published of every row.
    table : the original.
    schema : the roles of its columns.
    stream : where bits come from that nobody can repeat.
    blocks : the rows of every block that was searched alone, ascending, and the stream of each; no bucket is in two.
    """
    originals = table.num_rows
    publication, table = _with_counterfeits(publication, table)
    kept = np.flatnonzero(publication.group != NOT_PUBLISHED)
    group = publication.group[kept]
    whole = len(kept) == table.num_rows
    columns: dict[str, pa.Array | pa.ChunkedArray | _GroupColumn] = {}
    ranked: list[pa.Array | pa.ChunkedArray | _GroupColumn] = []  # the number of a bucket counts more than its cells
    published = {*schema.quasi_identifiers, *schema.sensitive, *schema.insensitive}
    names = [name for name in table.column_names if name in published]
    shuffles = _Shuffles(publication, kept, blocks or [(np.arange(len(publication.group)), stream)])
    for at, name in enumerate(names):
        recoded, bucketed = publication.recoded.get(name), name in publication.buckets
        if recoded is None:
            columns[name] = table[name] if whole else table[name].take(pa.array(kept))
        elif bucketed:
            columns[name] = ColumnTexts(recoded.texts, recoded.by_group[group]).array()
        else:
            kind = published_type(recoded, get_value_type(table[name]))
            columns[name] = _GroupColumn(ColumnTexts(recoded.texts, recoded.by_group, kind))
        if bucketed:
            original = table[name] if recoded is None else format_values(table[name])
            joint, shuffle = shuffles.of(name)
            columns[name] = shuffle.cells(columns[name], original.take(kept))
            if not set(joint) & set(names[at + 1 :]):
                columns[format_bucket_column(joint)] = shuffle.number
                ranked.append(shuffle.number)
        ranked.append(columns[name])
    order = _ordered(ranked, group, len(kept))
    rows = kept[order]
    return AppliedSolution(
        _take_rows(columns, group, order), np.where(rows < originals, rows, NOT_PUBLISHED), shuffles.keys
    )


def _with_counterfeits(publication: TableSolution, table: pa.Table) -> tuple[TableSolution, pa.Table]:
    """Add counterfeits as further rows of the table; only the cell that they bring into their bucket is not missing."""
    for fakes in publication.counterfeits:
        publication, table = _append_counterfeits(publication, table, fakes)
    return publication, table


def _append_counterfeits(
    publication: TableSolution, table: pa.Table, fakes: Counterfeits
) -> tuple[TableSolution, pa.Table]:
    """Add the counterfeits of one attribute."""
    values = _cast_counterfeits(fakes, table.schema.field(fakes.attribute).type)
    added = {
        field.name: values if field.name == fakes.attribute else pa.nulls(len(fakes), field.type)
        for field in table.schema
    }
    others = np.full(len(fakes), NOT_PUBLISHED, dtype=np.int32)
    buckets = {
        name: np.concatenate([bucket, fakes.bucket if name == fakes.attribute else others])
        for name, bucket in publication.buckets.items()
    }
    group = np.concatenate([publication.group, fakes.group])
    grown = replace(publication, group=group, buckets=buckets, counterfeits=())
    return grown, pa.concat_tables([table, pa.table(added, schema=table.schema)])


def _cast_counterfeits(fakes: Counterfeits, kind: pa.DataType) -> pa.Array:
    """Return the values of counterfeits in the type of their column; refuse a type that cannot hold those of before."""
    try:
        return fakes.values.take(pa.array(fakes.code)).cast(kind)
    except pa.ArrowInvalid:
        raise SchemaError(
            f"Column {fakes.attribute!r} has another type than in earlier releases, which cannot hold the values that "
            "these showed; give it the type that it had."
        ) from None


def _take_rows(
    columns: Mapping[str, pa.Array | pa.ChunkedArray | _GroupColumn],
    group: npt.NDArray[np.int32],
    order: npt.NDArray[np.int64],
) -> pa.Table:
    """Put rows in an order; columns of the original that were coded show their cells again."""
    ordered_group, places = pa.array(group[order]), pa.array(order)

    def ordered(cells: pa.Array | pa.ChunkedArray | _GroupColumn) -> pa.Array | pa.ChunkedArray:
        if isinstance(cells, _GroupColumn):
            return cells.texts.array().take(ordered_group)
        taken = cells.take(places)
        return taken.cast(get_value_type(cells)) if pa.types.is_dictionary(cells.type) else taken

    shown = map_in_threads(ordered, columns.values(), len(order))
    return pa.table(dict(zip(columns, shown, strict=True)))


@dataclass(frozen=True, eq=False)
class _GroupColumn:
    """A column whose cells are those of groups."""

    texts: ColumnTexts


def _ordered(
    columns: Sequence[pa.Array | pa.ChunkedArray | _GroupColumn], group: npt.NDArray[np.int32], rows: int
) -> npt.NDArray[np.int64]:
    """Order rows by all columns, the first counting most; groups are ranked once by those that stand side by side."""
    ranked: list[Callable[[], tuple[Ranks, int]]] = []
    for of_groups, run in groupby(columns, lambda cells: isinstance(cells, _GroupColumn)):
        if of_groups:
            ranked.append(partial(_group_ranks, [cells.texts.ranks() for cells in run], group))
        else:
            ranked += [partial(rank_column, cells) for cells in run]
    return order_rows(list(map_in_threads(lambda ranks: ranks(), ranked, rows)), rows)


def _group_ranks(ranked: Sequence[tuple[Ranks, int]], group: npt.NDArray[np.int32]) -> tuple[Ranks, int]:
    """Rank every row by its group, and groups by several columns; groups that show the same have the same rank."""
    groups = len(ranked[0][0])
    order = order_rows(ranked, groups)
    differs = np.zeros(groups, dtype=np.bool_)
    for ranks, _ in ranked:
        differs[1:] |= ranks[order][1:] != ranks[order][:-1]
    rank = np.empty(groups, dtype=np.int64)
    rank[order] = np.cumsum(differs)
    return rank[group], groups


class _Shuffles:
    """The shuffles of bucketized attributes, drawn on demand, block by block."""

    def __init__(
        self,
        publication: TableSolution,
        kept: npt.NDArray[np.int64],
        blocks: Sequence[tuple[npt.NDArray[np.integer], KeyedRandom]],
    ) -> None:
        self._publication, self._kept = publication, kept
        self._joint = {name: joint for joint in publication.together for name in joint}
        place = np.full(len(publication.group), NOT_PUBLISHED, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        self._blocks = [(place[rows][place[rows] != NOT_PUBLISHED], stream) for rows, stream in blocks]
        self._drawn: dict[tuple[str, ...], tuple[list[BucketPermutation], BucketShuffle]] = {}

    @property
    def keys(self) -> dict[str, Words]:
        """The keys of all buckets, in the order of their numbers, by the name of their column."""
        return {
            format_bucket_column(joint): np.sort(
                np.concatenate([np.zeros(0, dtype=np.uint64), *(each.keys for each in drawn)])
            )
            for joint, (drawn, _) in self._drawn.items()
        }

    def of(self, name: str) -> tuple[tuple[str, ...], BucketShuffle]:
        """Return all attributes that are permuted together with one, and how."""
        joint = self._joint.get(name, (name,))
        if joint not in self._drawn:
            bucket = self._publication.buckets[name][self._kept]
            alike = self._equal_rows(name) if joint in self._publication.together else None
            drawn = [
                BucketPermutation.draw(bucket[rows], stream, alike=None if alike is None else alike[at])
                for at, (rows, stream) in enumerate(self._blocks)
            ]
            parts = [(rows, each) for (rows, _), each in zip(self._blocks, drawn, strict=True)]
            self._drawn[joint] = drawn, BucketShuffle.from_permutations(len(self._kept), parts)
        return joint, self._drawn[joint][1]

    def _equal_rows(self, name: str) -> list[BucketPermutation] | None:
        """Find what was drawn for another slice with the same buckets."""
        for joint, (drawn, _) in self._drawn.items():
            buckets = self._publication.buckets
            if joint in self._publication.together and np.array_equal(buckets[joint[0]], buckets[name]):
                return drawn
        return None


def published_type(recoded: RecodedAttribute, original: pa.DataType) -> pa.DataType:
    """Return the type of a published column: the original's where only values are published, and that of centers."""
    if isinstance(recoded.labels, LabelBatch):
        return original if recoded.labels.are_all_values else pa.string()
    if all(isinstance(label, Exact | MissingCell) for label in recoded.labels):
        return original
    centers = [label.value for label in recoded.labels if isinstance(label, Center)]
    if len(centers) < len(recoded.labels) or any(isinstance(center, str) for center in centers):
        return pa.string()
    return to_canonical(pa.table({"center": pa.array(centers)}))["center"].type
