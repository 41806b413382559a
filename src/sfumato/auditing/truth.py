"""Whether a published table tells the truth about the original: every cell covers the value it stands for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.attributes.schema import Schema
from sfumato.data.values import texts
from sfumato.engine.coding import CodedTable
from sfumato.engine.grouping import first_rows, group_columns, group_keys
from sfumato.exceptions import SchemaError
from sfumato.published.table import PublishedTable

Ints = npt.NDArray[np.int64]
MOST_PAIRS = 400_000_000
PAIRS_AT_ONCE = 4_000_000


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


@dataclass(frozen=True, eq=False)
class Comparison:
    """A published table beside its original: read and as written, coded and as it was."""

    published: PublishedTable
    shown: pa.Table
    coded: CodedTable
    original: pa.Table

    def check(self, schema: Schema, correspondence: Ints | None) -> Truth:
        """Compare by row correspondence, or find out whether one exists."""
        rows_in, rows_out = self.original.num_rows, self.shown.num_rows
        if rows_out > rows_in:
            raise SchemaError(
                f"The published table has {rows_out:,} rows and the original only {rows_in:,}; "
                "give the original that it was made from."
            )
        kept = [name for name in (*schema.sensitive, *schema.insensitive) if name in self.shown.column_names]
        false_cells = unmatched = 0
        if correspondence is None:
            unmatched = self._unmatched(kept)
        else:
            _refuse_bad(correspondence, rows_out, rows_in)
            false_cells = self._false_cells(kept, correspondence)
        return Truth(
            rows_in=rows_in,
            rows_out=rows_out,
            suppressed=rows_in - rows_out,
            with_correspondence=correspondence is not None,
            false_cells=false_cells,
            unmatched=unmatched,
        )

    def _false_cells(self, kept: Sequence[str], correspondence: Ints) -> int:
        """Count published cells that do not cover the original cell, or do not equal it where nothing is recoded."""
        covered = (
            column.coverage.contains(column.codes, mine.codes[correspondence])
            for column, mine in zip(self.published.columns, self.coded.quasi, strict=True)
        )
        false_cells = sum(int(np.count_nonzero(~cells)) for cells in covered)
        rows = pa.array(correspondence)
        return false_cells + sum(_differing(self.shown[name], self.original[name].take(rows)) for name in kept)

    def _unmatched(self, kept: Sequence[str]) -> int:
        """Count published records that are left over when as many as possible are paired with original records."""
        shown_block, original_block = self._blocks(kept)
        grouped = self.published.grouped
        out = group_columns([grouped.labels, shown_block], [len(grouped), int(shown_block.max()) + 1])
        codes = [column.codes for column in self.coded.quasi]
        widths = [len(column.domain) + 1 for column in self.coded.quasi]
        into = group_columns([*codes, original_block], [*widths, int(original_block.max()) + 1])
        out_rows, in_rows = first_rows(out), first_rows(into)
        found = [
            self._covering(out_rows, in_rows, here, there)
            for here, there in _same_block(shown_block[out_rows], original_block[in_rows])
        ]
        source, target = (np.concatenate([np.zeros(0, dtype=np.int64), *ends]) for ends in zip(*found, strict=True))
        return int(self.shown.num_rows) - _largest_flow(out.counts, into.counts, source, target)

    def _blocks(self, kept: Sequence[str]) -> tuple[Ints, Ints]:
        """Give a number to every combination of cells that are published as they are, the same in both tables."""
        rows = self.shown.num_rows
        block = np.zeros(rows + self.original.num_rows, dtype=np.int64)
        for name in kept:
            both = pa.chunked_array([_texts(self.shown[name]), _texts(self.original[name])])
            encoded = both.dictionary_encode().unify_dictionaries().combine_chunks()
            width = len(encoded.dictionary) + 1
            codes = encoded.indices.fill_null(width - 1).to_numpy(zero_copy_only=False)
            block = group_keys(block * width + codes).labels.astype(np.int64)
        return block[:rows], block[rows:]

    def _covering(self, out_rows: Ints, in_rows: Ints, here: Ints, there: Ints) -> tuple[Ints, Ints]:
        """Keep the pairs of which the published combination covers the original one."""
        for column, mine in zip(self.published.columns, self.coded.quasi, strict=True):
            covered = column.coverage.contains(column.codes[out_rows[here]], mine.codes[in_rows[there]])
            here, there = here[covered], there[covered]
        return here, there


def _refuse_bad(correspondence: Ints, rows_out: int, rows_in: int) -> None:
    if len(correspondence) != rows_out:
        raise SchemaError(
            f"The correspondence has {len(correspondence):,} rows and the published table {rows_out:,}; "
            "give the one that was written with this table."
        )
    outside = rows_out > 0 and (correspondence.min() < 0 or correspondence.max() >= rows_in)
    if outside or np.bincount(correspondence, minlength=1).max() > 1:
        raise SchemaError("The correspondence must name a different original row for every published row.")


def _texts(column: pa.ChunkedArray) -> pa.Array:
    return texts(column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column)


def _differing(shown: pa.ChunkedArray, original: pa.ChunkedArray) -> int:
    if shown.type != original.type:
        shown, original = _texts(shown), _texts(original)
    equal = pc.fill_null(pc.equal(shown, original), fill_value=False)
    both_missing = pc.and_(pc.is_null(shown), pc.is_null(original))
    return len(shown) - int(pc.sum(pc.or_(equal, both_missing)).as_py() or 0)


def _same_block(out_block: Ints, in_block: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield all pairs of published and original combinations of the same block, a bounded number at a time."""
    order = np.argsort(in_block, kind="stable")
    first = np.searchsorted(in_block[order], out_block, side="left")
    count = np.searchsorted(in_block[order], out_block, side="right") - first
    pairs = int(count.sum())
    if pairs > MOST_PAIRS:
        raise SchemaError(
            f"Finding a correspondence would compare {pairs:,} pairs of records; "
            "give the correspondence that was kept when the table was made."
        )
    edges = np.searchsorted(np.cumsum(count), np.arange(0, max(pairs, 1), PAIRS_AT_ONCE), side="left")
    for start, stop in pairwise([*edges.tolist(), len(count)]):
        counts = count[start:stop]
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        yield np.repeat(np.arange(start, stop), counts), order[np.repeat(first[start:stop], counts) + within]


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
