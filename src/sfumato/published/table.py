"""A published table as its reader sees it: groups of equal cells, and what the cells mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.attributes.schema import Schema
from sfumato.data.values import texts
from sfumato.engine.domain import Domain
from sfumato.engine.grouping import Grouped, first_rows, group_columns
from sfumato.exceptions import SchemaError
from sfumato.publication import NOT_PUBLISHED, SUPPRESSED_TEXT, Label
from sfumato.published.coverage import Coverage, cover
from sfumato.published.domains import domain_from_labels
from sfumato.published.labels import parse_label
from sfumato.validation import did_you_mean

BUCKET_PREFIX = "_bucket_"


@dataclass(frozen=True, eq=False, repr=False)
class PublishedColumn:
    """One quasi-identifier as published: distinct texts (None for a missing cell) and the text of every record.

    `original` is the domain of the original column where that is known.
    """

    name: str
    texts: tuple[str | None, ...]
    codes: npt.NDArray[np.int32]
    schema: Schema
    original: Domain | None

    @cached_property
    def domain(self) -> Domain:
        """The values that the attribute can take: the original's, or as far as the texts show them."""
        if self.original is not None:
            return self.original
        return domain_from_labels(self.name, self.texts, self.schema)

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """What the distinct texts mean."""
        leaves = dict(zip(self.domain.texts, self.domain.values.to_pylist(), strict=True))
        nodes: frozenset[str] = frozenset()
        if self.domain.hierarchy is not None:
            nodes = frozenset(text for level in self.domain.hierarchy.labels for text in level) - {SUPPRESSED_TEXT}
        return tuple(parse_label(text, self.domain.scale, leaves, nodes) for text in self.texts)

    @cached_property
    def coverage(self) -> Coverage:
        """Which values of the domain the distinct texts cover."""
        return cover(self.labels, self.domain)

    def starred(self) -> npt.NDArray[np.bool_]:
        """Tell for every record whether its cell is suppressed."""
        stars = [
            text is not None and text.strip() != "" and not text.strip().strip(SUPPRESSED_TEXT) for text in self.texts
        ]
        return np.array(stars, dtype=np.bool_)[self.codes]


@dataclass(frozen=True, eq=False, repr=False)
class PublishedTable:
    """A published table: its quasi-identifying columns and the groups of records that are published alike."""

    rows: int
    columns: tuple[PublishedColumn, ...]
    grouped: Grouped

    @classmethod
    def read(cls, table: pa.Table, schema: Schema, domains: Mapping[str, Domain] | None = None) -> PublishedTable:
        """Read a table; `domains` are those of the original where it is known."""
        refuse_unreadable(table, schema)
        columns = tuple(
            PublishedColumn(name, *_coded(_linked(table, name)), schema, (domains or {}).get(name))
            for name in schema.quasi
        )
        return cls(table.num_rows, columns, _grouped(columns, table.num_rows))

    def on(self, names: Collection[str]) -> PublishedTable:
        """Look at some of the quasi-identifiers only."""
        columns = tuple(column for column in self.columns if column.name in names)
        return PublishedTable(self.rows, columns, _grouped(columns, self.rows))

    @cached_property
    def first_rows(self) -> npt.NDArray[np.intp]:
        """One record of every group."""
        return first_rows(self.grouped)

    def by_group(self, column: PublishedColumn) -> npt.NDArray[np.int32]:
        """Give the number of the text that every group has in a column."""
        return column.codes[self.first_rows]


def refuse_unreadable(table: pa.Table, schema: Schema) -> None:
    """Refuse a published table that lacks columns, is empty, or holds identifiers."""
    columns = table.column_names
    for name in (*schema.quasi, *schema.sensitive):
        if name not in columns:
            raise SchemaError(f"The published table lacks column {name!r}{did_you_mean(name, columns) or '.'}")
    for name in schema.identifier:
        if name in columns:
            raise SchemaError(f"The published table still has the identifier {name!r}; drop that column.")
    if table.num_rows == 0:
        raise SchemaError("The published table has no rows; there is nothing to judge.")


def bucket_numbers(table: pa.Table, name: str) -> npt.NDArray[np.int64] | None:
    """Give the bucket of every record's cell of an attribute, `NOT_PUBLISHED` outside any; None without buckets."""
    if BUCKET_PREFIX + name not in table.column_names:
        return None
    _, codes = _coded(table[BUCKET_PREFIX + name])
    lost = table[BUCKET_PREFIX + name].is_null().combine_chunks().to_numpy(zero_copy_only=False)
    return np.where(lost, NOT_PUBLISHED, codes.astype(np.int64))


def _linked(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Give a column in which a cell that stands in a bucket, and so may be another record's, says nothing."""
    buckets = bucket_numbers(table, name)
    if buckets is None:
        return table[name]
    return pa.chunked_array([pc.if_else(pa.array(buckets != NOT_PUBLISHED), SUPPRESSED_TEXT, texts(table[name]))])


def _grouped(columns: Sequence[PublishedColumn], rows: int) -> Grouped:
    if not columns:
        return Grouped(np.zeros(rows, dtype=np.int32), np.zeros(1, dtype=np.int64), np.array([rows]))
    return group_columns([column.codes for column in columns], [len(column.texts) for column in columns])


def _coded(column: pa.ChunkedArray) -> tuple[tuple[str | None, ...], npt.NDArray[np.int32]]:
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    combined = encoded.unify_dictionaries().combine_chunks()
    shown = texts(combined.dictionary)
    distinct = shown.unique()
    indices = combined.indices.fill_null(len(shown)).to_numpy(zero_copy_only=False)
    place = np.append(pc.index_in(shown, value_set=distinct).to_numpy(zero_copy_only=False), len(distinct))
    codes = place.astype(np.int32)[indices]
    return (*distinct.to_pylist(), *([None] if combined.null_count else [])), codes
