"""Turn a publication into the table that is published, in an order that says nothing about the original's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.coding.applying import CellTexts, Drawn, Ranks, Shuffle, Words, column_ranks, order_rows
from sfumato.core.publication import (
    NOT_PUBLISHED,
    Center,
    Counterfeits,
    Exact,
    MissingCell,
    Publication,
    Recoded,
    WrittenLabels,
)
from sfumato.core.published.table import name_buckets
from sfumato.exceptions import SchemaError
from sfumato.randomness import Stream
from sfumato.schema.schema import Schema
from sfumato.table.columns import value_type
from sfumato.table.frames import canonical
from sfumato.table.values import as_dictionary, as_seen, texts
from sfumato.threads import in_threads

MOST_BYTES = 1 << 31  # of one Arrow array of texts


def fixed_order(table: pa.Table, schema: Schema) -> npt.NDArray[np.int64]:
    """Order rows by everything a search may see or a release may show, so that their given order has no effect."""
    names = (*schema.quasi, *schema.sensitive, *schema.insensitive, *schema.flags.values())
    ranked = in_threads(lambda name: column_ranks(table[name]), names, table.num_rows)
    return order_rows(list(ranked), table.num_rows)


def in_fixed_order(table: pa.Table, schema: Schema) -> tuple[npt.NDArray[np.int64], pa.Table]:
    """Return that order, and in it the columns that have a part in a release; these are coded, once for all of it."""
    used = {*schema.quasi, *schema.sensitive, *schema.insensitive, *schema.flags.values()}

    def encoded(name: str) -> pa.ChunkedArray:
        column = table[name]
        fits = not pa.types.is_boolean(column.type) and column.nbytes < MOST_BYTES and len(column)
        return pa.chunked_array([as_dictionary(column)]) if fits else column

    names = [name for name in table.column_names if name in used]
    narrow = pa.table(dict(zip(names, in_threads(encoded, names, table.num_rows), strict=True)))
    order = fixed_order(narrow, schema)
    places = pa.array(order)

    def ordered(name: str) -> pa.ChunkedArray:
        column = narrow[name]
        if not pa.types.is_dictionary(column.type):
            return column.take(places)
        return pa.chunked_array([as_seen(column.combine_chunks(), order)])

    return order, pa.table(dict(zip(names, in_threads(ordered, names, table.num_rows), strict=True)))


@dataclass(frozen=True, eq=False)
class Applied:
    """The published table, for each of its rows the number of the original row, and how buckets were numbered.

    A row that belongs to nobody, a counterfeit, has the number -1.
    `keys` are, for every column of bucket numbers, those that its buckets are ordered by.
    """

    shown: pa.Table
    rows: npt.NDArray[np.int64]
    keys: Mapping[str, Words]


def apply(
    publication: Publication,
    table: pa.Table,
    schema: Schema,
    stream: Stream,
    blocks: Sequence[tuple[npt.NDArray[np.integer], Stream]] = (),
) -> Applied:
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
    columns: dict[str, pa.Array | pa.ChunkedArray | _ByGroup] = {}
    ranked: list[pa.Array | pa.ChunkedArray | _ByGroup] = []  # the number of a bucket counts more than its cells
    published = {*schema.quasi, *schema.sensitive, *schema.insensitive}
    names = [name for name in table.column_names if name in published]
    shuffles = _Shuffles(publication, kept, blocks or [(np.arange(len(publication.group)), stream)])
    for at, name in enumerate(names):
        recoded, bucketed = publication.recoded.get(name), name in publication.buckets
        if recoded is None:
            columns[name] = table[name] if whole else table[name].take(pa.array(kept))
        elif bucketed:
            columns[name] = CellTexts(recoded.texts, recoded.by_group[group]).array()
        else:
            kind = published_kind(recoded, value_type(table[name]))
            columns[name] = _ByGroup(CellTexts(recoded.texts, recoded.by_group, kind))
        if bucketed:
            original = table[name] if recoded is None else texts(table[name])
            joint, shuffle = shuffles.of(name)
            columns[name] = shuffle.cells(columns[name], original.take(kept))
            if not set(joint) & set(names[at + 1 :]):
                columns[name_buckets(joint)] = shuffle.number
                ranked.append(shuffle.number)
        ranked.append(columns[name])
    order = _ordered(ranked, group, len(kept))
    rows = kept[order]
    return Applied(_taken(columns, group, order), np.where(rows < originals, rows, NOT_PUBLISHED), shuffles.keys)


def _with_counterfeits(publication: Publication, table: pa.Table) -> tuple[Publication, pa.Table]:
    """Add counterfeits as further rows of the table; only the cell that they bring into their bucket is not missing."""
    for fakes in publication.counterfeits:
        publication, table = _grown(publication, table, fakes)
    return publication, table


def _grown(publication: Publication, table: pa.Table, fakes: Counterfeits) -> tuple[Publication, pa.Table]:
    """Add the counterfeits of one attribute."""
    values = _typed(fakes, table.schema.field(fakes.attribute).type)
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


def _typed(fakes: Counterfeits, kind: pa.DataType) -> pa.Array:
    """Return the values of counterfeits in the type of their column; refuse a type that cannot hold those of before."""
    try:
        return fakes.values.take(pa.array(fakes.code)).cast(kind)
    except pa.ArrowInvalid:
        raise SchemaError(
            f"Column {fakes.attribute!r} has another type than in earlier releases, which cannot hold the values that "
            "these showed; give it the type that it had."
        ) from None


def _taken(
    columns: Mapping[str, pa.Array | pa.ChunkedArray | _ByGroup],
    group: npt.NDArray[np.int32],
    order: npt.NDArray[np.int64],
) -> pa.Table:
    """Put rows in an order; columns of the original that were coded show their cells again."""
    ordered_group, places = pa.array(group[order]), pa.array(order)

    def ordered(cells: pa.Array | pa.ChunkedArray | _ByGroup) -> pa.Array | pa.ChunkedArray:
        if isinstance(cells, _ByGroup):
            return cells.texts.array().take(ordered_group)
        taken = cells.take(places)
        return taken.cast(value_type(cells)) if pa.types.is_dictionary(cells.type) else taken

    shown = in_threads(ordered, columns.values(), len(order))
    return pa.table(dict(zip(columns, shown, strict=True)))


@dataclass(frozen=True, eq=False)
class _ByGroup:
    """A column whose cells are those of groups."""

    texts: CellTexts


def _ordered(
    columns: Sequence[pa.Array | pa.ChunkedArray | _ByGroup], group: npt.NDArray[np.int32], rows: int
) -> npt.NDArray[np.int64]:
    """Order rows by all columns, the first counting most; groups are ranked once by those that stand side by side."""
    ranked: list[Callable[[], tuple[Ranks, int]]] = []
    for of_groups, run in groupby(columns, lambda cells: isinstance(cells, _ByGroup)):
        if of_groups:
            ranked.append(partial(_group_ranks, [cells.texts.ranks() for cells in run], group))
        else:
            ranked += [partial(column_ranks, cells) for cells in run]
    return order_rows(list(in_threads(lambda ranks: ranks(), ranked, rows)), rows)


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
        publication: Publication,
        kept: npt.NDArray[np.int64],
        blocks: Sequence[tuple[npt.NDArray[np.integer], Stream]],
    ) -> None:
        self._publication, self._kept = publication, kept
        self._joint = {name: joint for joint in publication.together for name in joint}
        place = np.full(len(publication.group), NOT_PUBLISHED, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        self._blocks = [(place[rows][place[rows] != NOT_PUBLISHED], stream) for rows, stream in blocks]
        self._drawn: dict[tuple[str, ...], tuple[list[Drawn], Shuffle]] = {}

    @property
    def keys(self) -> dict[str, Words]:
        """The keys of all buckets, in the order of their numbers, by the name of their column."""
        return {
            name_buckets(joint): np.sort(np.concatenate([np.zeros(0, dtype=np.uint64), *(each.keys for each in drawn)]))
            for joint, (drawn, _) in self._drawn.items()
        }

    def of(self, name: str) -> tuple[tuple[str, ...], Shuffle]:
        """Return all attributes that are permuted together with one, and how."""
        joint = self._joint.get(name, (name,))
        if joint not in self._drawn:
            bucket = self._publication.buckets[name][self._kept]
            alike = self._alike(name) if joint in self._publication.together else None
            drawn = [
                Drawn.draw(bucket[rows], stream, alike=None if alike is None else alike[at])
                for at, (rows, stream) in enumerate(self._blocks)
            ]
            parts = [(rows, each) for (rows, _), each in zip(self._blocks, drawn, strict=True)]
            self._drawn[joint] = drawn, Shuffle.of(len(self._kept), parts)
        return joint, self._drawn[joint][1]

    def _alike(self, name: str) -> list[Drawn] | None:
        """Find what was drawn for another slice with the same buckets."""
        for joint, (drawn, _) in self._drawn.items():
            buckets = self._publication.buckets
            if joint in self._publication.together and np.array_equal(buckets[joint[0]], buckets[name]):
                return drawn
        return None


def published_kind(recoded: Recoded, original: pa.DataType) -> pa.DataType:
    """Return the type of a published column: the original's where only values are published, and that of centers."""
    if isinstance(recoded.labels, WrittenLabels):
        return original if recoded.labels.of_values else pa.string()
    if all(isinstance(label, Exact | MissingCell) for label in recoded.labels):
        return original
    centers = [label.value for label in recoded.labels if isinstance(label, Center)]
    if len(centers) < len(recoded.labels) or any(isinstance(center, str) for center in centers):
        return pa.string()
    return canonical(pa.table({"center": pa.array(centers)}))["center"].type
