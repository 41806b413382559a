"""Whether a published table tells the truth about the original: every cell covers the value it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.attributes.schema import Schema
from sfumato.engine.coding import CodedTable
from sfumato.engine.grouping import first_rows, group_columns, group_keys
from sfumato.exceptions import SchemaError
from sfumato.published.table import PublishedTable

Ints = npt.NDArray[np.int64]
MOST_PAIRS = 200_000_000


@dataclass(frozen=True)
class Truth:
    """How a published table relates to its original.

    `false_cells` counts published cells that do not cover the original value (with a correspondence);
    `unmatched` counts published records that no original record can stand behind (without one).
    """

    rows_in: int
    rows_out: int
    suppressed: int
    with_correspondence: bool
    false_cells: int
    unmatched: int

    @property
    def holds(self) -> bool:
        """Whether every published cell is true and the numbers of records add up."""
        return not self.false_cells and not self.unmatched and self.rows_in == self.rows_out + self.suppressed

    def to_dict(self) -> dict[str, object]:
        """Give the findings as plain numbers."""
        return {
            "rows_in": self.rows_in,
            "rows_out": self.rows_out,
            "suppressed": self.suppressed,
            "with_correspondence": self.with_correspondence,
            "false_cells": self.false_cells,
            "unmatched_records": self.unmatched,
            "holds": self.holds,
        }


def check_truth(
    published: PublishedTable,
    shown: pa.Table,
    coded: CodedTable,
    original: pa.Table,
    schema: Schema,
    correspondence: Ints | None,
) -> Truth:
    """Compare a published table with its original, by row correspondence or by finding that one exists."""
    if shown.num_rows > original.num_rows:
        raise SchemaError(
            f"The published table has {shown.num_rows:,} rows and the original only {original.num_rows:,}; "
            "give the original that it was made from."
        )
    kept = [name for name in (*schema.sensitive, *schema.insensitive) if name in shown.column_names]
    suppressed = original.num_rows - shown.num_rows
    if correspondence is None:
        unmatched = _unmatched(published, shown, coded, original, kept)
        return Truth(original.num_rows, shown.num_rows, suppressed, False, 0, unmatched)  # noqa: FBT003 - a field
    _refuse_bad(correspondence, shown.num_rows, original.num_rows)
    false_cells = sum(
        int((~column.coverage.contains(column.codes, mine.codes[correspondence].astype(np.int64))).sum())
        for column, mine in zip(published.columns, coded.quasi, strict=True)
    )
    for name in kept:
        false_cells += _differing(shown[name], original[name].take(pa.array(correspondence)))
    return Truth(original.num_rows, shown.num_rows, suppressed, True, false_cells, 0)  # noqa: FBT003 - a field


def _refuse_bad(correspondence: Ints, rows_out: int, rows_in: int) -> None:
    if len(correspondence) != rows_out:
        raise SchemaError(
            f"The correspondence has {len(correspondence):,} rows and the published table {rows_out:,}; "
            "give the one that was written with this table."
        )
    if len(np.unique(correspondence)) != rows_out or correspondence.min() < 0 or correspondence.max() >= rows_in:
        raise SchemaError("The correspondence must name a different original row for every published row.")


def _differing(shown: pa.ChunkedArray, original: pa.ChunkedArray) -> int:
    if pa.types.is_dictionary(shown.type):
        shown = shown.cast(shown.type.value_type)
    if shown.type != original.type:
        shown, original = shown.cast(pa.string()), original.cast(pa.string())
    equal = pc.fill_null(pc.equal(shown, original), fill_value=False)
    both_missing = pc.and_(pc.is_null(shown), pc.is_null(original))
    return len(shown) - int(pc.sum(pc.or_(equal, both_missing)).as_py() or 0)


def _unmatched(
    published: PublishedTable, shown: pa.Table, coded: CodedTable, original: pa.Table, kept: Sequence[str]
) -> int:
    """Count published records that are left over when as many as possible are paired with original records."""
    blocks_shown, blocks_original = _blocks(shown, original, kept)
    out = group_columns([published.grouped.labels, blocks_shown], [len(published.grouped), int(blocks_shown.max()) + 1])
    combined = group_columns(
        [column.codes for column in coded.quasi] + [blocks_original],
        [len(column.domain) + 1 for column in coded.quasi] + [int(blocks_original.max()) + 1],
    )
    out_rows, in_rows = first_rows(out), first_rows(combined)
    out_block, in_block = blocks_shown[out_rows], blocks_original[in_rows]
    pairs = _covering_pairs(published, coded, out_rows, in_rows, out_block, in_block)
    return int(out.counts.sum()) - _largest_flow(out.counts, combined.counts, *pairs)


def _blocks(shown: pa.Table, original: pa.Table, kept: Sequence[str]) -> tuple[Ints, Ints]:
    """Number the combinations of cells that are published as they are, alike in both tables."""
    labels = np.zeros(shown.num_rows + original.num_rows, dtype=np.int64)
    for name in kept:
        both = pa.chunked_array([*_plain(shown[name]).chunks, *_plain(original[name]).chunks])
        encoded = both.dictionary_encode().unify_dictionaries().combine_chunks()
        width = len(encoded.dictionary) + 1
        codes = encoded.indices.fill_null(width - 1).to_numpy(zero_copy_only=False)
        labels = group_keys(labels * width + codes).labels.astype(np.int64)
    return labels[: shown.num_rows], labels[shown.num_rows :]


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    from sfumato.data.values import texts

    decoded = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    return pa.chunked_array([texts(decoded)])


def _covering_pairs(
    published: PublishedTable, coded: CodedTable, out_rows: Ints, in_rows: Ints, out_block: Ints, in_block: Ints
) -> tuple[Ints, Ints]:
    """Pair published combinations with the original combinations that they cover, block by block."""
    order = np.argsort(in_block, kind="stable")
    first = np.searchsorted(in_block[order], out_block, side="left")
    count = np.searchsorted(in_block[order], out_block, side="right") - first
    if count.sum() > MOST_PAIRS:
        raise SchemaError(
            f"Finding a correspondence would compare {int(count.sum()):,} pairs of records; "
            "give the correspondence that was kept when the table was made."
        )
    pairs_out, pairs_in = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    edges = np.searchsorted(np.cumsum(count), np.arange(0, count.sum(), 4_000_000), side="left")
    for start, stop in zip(edges, np.append(edges[1:], len(count)), strict=True):
        c = count[start:stop]
        here = np.repeat(np.arange(start, stop), c)
        there = order[np.repeat(first[start:stop], c) + np.arange(int(c.sum())) - np.repeat(np.cumsum(c) - c, c)]
        covered = np.ones(len(here), dtype=np.bool_)
        for column, mine in zip(published.columns, coded.quasi, strict=True):
            label, code = column.codes[out_rows[here]], mine.codes[in_rows[there]].astype(np.int64)
            covered &= column.coverage.contains(label, code)
        pairs_out.append(here[covered])
        pairs_in.append(there[covered])
    return np.concatenate(pairs_out), np.concatenate(pairs_in)


def _largest_flow(supply: Ints, demand: Ints, source: Ints, target: Ints) -> int:
    """Send as many records as possible from published to original combinations along the pairs."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    s, t = len(supply), len(demand)
    start, end = s + t, s + t + 1
    rows = np.concatenate([np.full(s, start), source, s + np.arange(t)])
    cols = np.concatenate([np.arange(s), s + target, np.full(t, end)])
    capacity = np.concatenate([supply, np.minimum(supply[source], demand[target]), demand]).astype(np.int32)
    graph = csr_array((capacity, (rows, cols)), shape=(s + t + 2, s + t + 2))
    return int(maximum_flow(graph, start, end).flow_value)
