"""Whether a published table is true to the original: every cell covers the value it represents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core._kernels.grouping import Grouped, group_columns, group_keys, representative_rows
from sfumato.encoding._counts import DENSE_CELLS
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.encoding.domain import Domain
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._values import dictionary_encode, format_values
from sfumato.schema.roles import MissingPolicy, Scale
from sfumato.schema.schema import Schema
from sfumato.tables.published._coverage import place_bounds
from sfumato.tables.published.published_table import (
    PublishedColumn,
    PublishedTable,
    find_bucket_column,
    read_bucket_numbers,
)
from sfumato.tables.published.solution import NOT_PUBLISHED, SUPPRESSED_TEXT

Ints = npt.NDArray[np.int64]


# Whether published centers can be true: each lies among the original values of the records it represents.


# Whether published centers can be true: each lies among the original values of the records it represents.
ROUNDING = 1e-9


def count_invalid_centers(published: PublishedTable, at: int, column: CodedColumn, rows: Ints | None) -> int:
    """Count the cells of one quasi-identifier that lie outside the values of their group.

    A number, date or rank must lie between the smallest and largest of the group; any other value must be a member's.

    Parameters
    ----------
    published : the published table.
    at : the index of the column.
    column : the original column.
    rows : the original row of every published row; without it, groups are compared with the whole column.
    """
    shown = published.columns[at]
    if rows is None:
        group, codes = np.zeros(len(column.codes), dtype=np.int64), column.codes.astype(np.int64)
        cells = np.arange(len(shown.texts))
        many = np.bincount(shown.codes, published.weights, minlength=len(cells))
        cell_group = np.zeros(len(cells), dtype=np.int64)
    else:
        group, codes = published.grouped.labels.astype(np.int64), column.codes[rows].astype(np.int64)
        cells, many = published.by_group(shown).astype(np.int64), published.grouped.counts
        cell_group = np.arange(len(published.grouped))
    places = _axis_positions(shown, column.domain)[cells]
    if column.domain.scale.ordered:
        true = _between(places, cell_group, _positions(column.domain)[codes], group)
    else:
        true = _among(places, cell_group, codes, group, len(column.domain) + 1)
    return int(many[~true].sum())


def _axis_positions(shown: PublishedColumn, domain: Domain) -> npt.NDArray[np.float64]:
    """Place the texts of a column on the axis of its domain; NaN if they have no place there."""
    codes = {text: code for code, text in enumerate(domain.texts)}
    found = np.array([codes.get(text or "", np.nan) for text in shown.texts])
    if domain.scale is not Scale.NUMERIC:
        return found
    values = [getattr(label, "value", None) for label in shown.labels]
    known = [i for i, value in enumerate(values) if value is not None]
    places = np.full(len(values), np.nan)
    places[known] = place_bounds([values[i] for i in known], domain)
    return places


def _positions(domain: Domain) -> npt.NDArray[np.float64]:
    return np.append(domain.positions, np.nan)


def _between(
    places: npt.NDArray[np.float64], cell_group: Ints, positions: npt.NDArray[np.float64], group: Ints
) -> npt.NDArray[np.bool_]:
    low, high = np.full(int(group.max()) + 1, np.inf), np.full(int(group.max()) + 1, -np.inf)
    known = ~np.isnan(positions)
    np.minimum.at(low, group[known], positions[known])
    np.maximum.at(high, group[known], positions[known])
    slack = ROUNDING * np.maximum(np.abs(low), np.abs(high))[cell_group]
    return np.asarray((places >= low[cell_group] - slack) & (places <= high[cell_group] + slack))


def _among(
    places: npt.NDArray[np.float64], cell_group: Ints, codes: Ints, group: Ints, width: int
) -> npt.NDArray[np.bool_]:
    wanted = cell_group * width + np.nan_to_num(places, nan=width - 1).astype(np.int64)
    return np.asarray(np.isin(wanted, group * width + codes) & ~np.isnan(places))


MOST_PAIRS = 400_000_000
PAIRS_AT_ONCE = 4_000_000
MOST_FLOWING = 2**31 - 1  # SciPy's flows are numbers of 32 bits


@dataclass(frozen=True)
class Truthfulness:
    """How a published table relates to its original.

    `false_cells` counts published cells that do not cover the original value (with a correspondence);
    `unmatched` counts published records that no original record can explain (without one). `counterfeits` is the number
    of published rows that are known to belong to nobody.
    """

    rows_in: int
    rows_out: int
    suppressed: int
    with_correspondence: bool
    false_cells: int
    unmatched: int
    of_centers: bool = False
    perturbed: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()
    counterfeits: int = 0

    @property
    def sentence(self) -> str:
        """What is true of every published cell, if the truth holds."""
        if self.of_centers:
            return "Every published center lies among the original values of its group"
        if self.not_compared:
            masked = ", ".join(repr(name) for name in self.not_compared)
            return f"Every published cell covers its original, but for {masked}, which was masked and is not compared"
        if self.perturbed:
            masked = ", ".join(repr(name) for name in self.perturbed)
            return f"Every published cell covers its original, or in {masked} what masking made of it"
        return "Every published cell covers its original"

    @property
    def unaccounted_records(self) -> int:
        """How many original records are neither published nor suppressed; negative if more are published."""
        return self.rows_in - (self.rows_out - self.counterfeits) - self.suppressed

    @property
    def holds(self) -> bool:
        """Whether every published cell is true and the numbers of records add up."""
        return not self.false_cells and not self.unmatched and not self.unaccounted_records

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain numbers."""
        return {
            "rows_in": self.rows_in,
            "rows_out": self.rows_out,
            "suppressed": self.suppressed,
            "with_correspondence": self.with_correspondence,
            "of_centers": self.of_centers,
            **({"perturbed": list(self.perturbed)} if self.perturbed else {}),
            **({"not_compared": list(self.not_compared)} if self.not_compared else {}),
            **({"counterfeits": self.counterfeits} if self.counterfeits else {}),
            "false_cells": self.false_cells,
            "unmatched_records": self.unmatched,
            "holds": self.holds,
        }


@dataclass(frozen=True, eq=False)
class UnchangedColumn:
    """One column that is published unchanged, coded in the same way in the published and the original table."""

    shown: Ints
    original: Ints
    width: int
    star: int | None

    def equal(self, here: Ints, there: Ints) -> npt.NDArray[np.bool_]:
        """Return for pairs of published and original rows whether the cells are equal or the published one is `*`."""
        mine = self.shown[here]
        return np.asarray((mine == self.original[there]) | (mine == self.star))


@dataclass(frozen=True, eq=False, repr=False)
class TruthComparison:
    """A published table and its original: both as read and as coded.

    With `centers`, published quasi-identifiers represent groups: each must lie among the original values of its group.
    Columns that were masked, but nobody knows how, are `skipped`. So many rows are `counterfeits`, which belong to
    nobody; a correspondence has -1 for each.
    """

    published: PublishedTable
    shown: pa.Table
    coded: CodedTable
    original: pa.Table
    schema: Schema
    centers: bool = False
    skipped: tuple[str, ...] = ()
    counterfeits: int = 0

    def check(self, correspondence: Ints | None) -> Truthfulness:
        """Compare by row correspondence, or find out whether one exists."""
        rows_in, rows_out = self.coded.rows, self.published.rows
        published = [
            name
            for name in (*self.schema.sensitive, *self.schema.insensitive)
            if name in self.shown.column_names and name not in self.skipped
        ]
        buckets = {name: read_bucket_numbers(self.shown, name) for name in published}
        kept = [name for name, bucket in buckets.items() if bucket is None]
        strange = sum(
            self._invalid_values([name], bucket, correspondence, self.published.weights)
            for name, bucket in buckets.items()
            if bucket is not None
        )
        strange += sum(self._invalid_quasi_identifiers(names, correspondence) for names in self._bucketized_quasi())
        if self.centers:
            strange += self._stray_centers(correspondence)
        return Truthfulness(
            rows_in=rows_in,
            rows_out=rows_out,
            suppressed=rows_in - (rows_out - self.counterfeits),
            with_correspondence=correspondence is not None,
            false_cells=strange + (0 if correspondence is None else self._false_cells(kept, correspondence)),
            unmatched=max(0, self._unmatched(kept) - self.counterfeits) if correspondence is None else 0,
            of_centers=self.centers,
            not_compared=self.skipped,
            counterfeits=self.counterfeits,
        )

    def _stray_centers(self, correspondence: Ints | None) -> int:
        columns = enumerate(self.coded.quasi)
        return sum(count_invalid_centers(self.published, at, column, correspondence) for at, column in columns)

    def _bucketized_quasi(self) -> list[list[str]]:
        """Return the quasi-identifiers in buckets, those permuted together as one tuple."""
        found: dict[str, list[str]] = {}
        for name in self.schema.quasi_identifiers:
            column = find_bucket_column(self.shown.column_names, name)
            if column is not None and name not in self.skipped:
                found.setdefault(column, []).append(name)
        return list(found.values())

    def _invalid_quasi_identifiers(self, names: Sequence[str], correspondence: Ints | None) -> int:
        """Count foreign values, or combinations of them, among the cells of quasi-identifiers in buckets."""
        bucket = read_bucket_numbers(self.shown, names[0])
        assert bucket is not None  # noqa: S101 - only attributes with buckets come here
        inside = bucket != NOT_PUBLISHED
        shown = self.shown.select(names).filter(pa.array(inside))
        rows = None if correspondence is None else correspondence[inside]
        many = None if self.published.weights is None else self.published.weights[inside]
        return replace(self, shown=shown)._invalid_values(names, bucket[inside], rows, many)  # noqa: SLF001 - its own

    def _invalid_values(
        self, names: Sequence[str], bucket: Ints, correspondence: Ints | None, many: Ints | None
    ) -> int:
        """Count values published in buckets that no record of the bucket has or, if unknown, no record of the table.

        A bucket may have as many of them as counterfeits.
        """
        shown, had = self._blocks([encode_together(self.shown[name], self.original[name]) for name in names])
        rows, width = self.shown.num_rows, int(max(shown.max(initial=0), had.max(initial=0))) + 1
        if correspondence is None:
            here, there = np.zeros(rows, dtype=np.int64), np.zeros(self.original.num_rows)
            fakes = np.array([self.counterfeits])
        else:
            linked, known = bucket == NOT_PUBLISHED, correspondence >= 0
            here = np.where(linked, bucket.max(initial=0) + 1 + np.arange(rows), bucket)
            there, had = here[known], had[correspondence[known]]
            fakes = np.bincount(here[~known])
        mine, theirs = (here * width + shown).astype(np.int64), (there * width + had).astype(np.int64)
        span, keys = (int(here.max(initial=0)) + 1) * width, None
        if span > max(DENSE_CELLS, 4 * (len(mine) + len(theirs))):
            pairs = group_keys(np.concatenate([mine, theirs]), span)
            span, keys, mine, theirs = len(pairs), pairs.keys, *np.split(pairs.labels.astype(np.int64), [rows])
        over = np.bincount(mine, many, minlength=span) - np.bincount(theirs, self.coded.weights, minlength=span)
        at = np.flatnonzero(over > 0)
        of_bucket = np.bincount((at if keys is None else keys[at]) // width, over[at], len(fakes))
        of_bucket[: len(fakes)] -= fakes
        return int(np.maximum(of_bucket, 0).sum())

    def _false_cells(self, kept: Sequence[str], correspondence: Ints) -> int:
        """Count published cells that do not cover the original cell, or do not equal it if nothing is recoded."""
        here = np.flatnonzero(correspondence >= 0) if self.counterfeits else slice(None)
        there = correspondence[here]
        covered = (self._covers(at, here, there) for at in range(len(self.published.columns)))
        false_cells = sum(int(np.count_nonzero(~cells)) for cells in covered)
        shown = self.shown if isinstance(here, slice) else self.shown.take(pa.array(here))
        sources = pa.array(there)
        return false_cells + sum(_differing(shown[name], self.original[name].take(sources)) for name in kept)

    def _covers(self, at: int, here: Ints | slice, there: Ints) -> npt.NDArray[np.bool_]:
        """Return for pairs of published and original rows whether the cell of one quasi-identifier covers the other."""
        if self.centers or self.published.columns[at].name in self.skipped:
            return np.ones(len(there), dtype=np.bool_)
        column = self.published.columns[at]
        return cells_cover(column, column.codes[here], self.coded.quasi[at].codes[there])

    def _unmatched(self, kept: Sequence[str]) -> int:
        """Count the published records left over when as many as possible are paired with original records."""
        columns = [encode_together(self.shown[name], self.original[name]) for name in kept]
        loose = [column for column in columns if column.star is not None]
        shown_block, original_block = self._blocks([column for column in columns if column.star is None])
        if self.centers and not loose:
            width = int(max(shown_block.max(), original_block.max())) + 1
            more = np.bincount(shown_block, self.published.weights, minlength=width)
            less = np.bincount(original_block, self.coded.weights, minlength=width)
            return int(np.maximum(more - less, 0).sum())
        grouped = self.published.grouped
        out = group_columns(
            [grouped.labels, shown_block, *(column.shown for column in loose)],
            [len(grouped), int(shown_block.max()) + 1, *(column.width for column in loose)],
        )
        into = group_columns(
            [*(column.codes for column in self.coded.quasi), original_block, *(column.original for column in loose)],
            [
                *(len(column.domain) + 1 for column in self.coded.quasi),
                int(original_block.max()) + 1,
                *(column.width for column in loose),
            ],
        )
        out_rows, in_rows = representative_rows(out), representative_rows(into)
        found = [
            self._covering(out_rows, in_rows, here, there, loose)
            for here, there in _same_block(shown_block[out_rows], original_block[in_rows])
        ]
        source, target = (np.concatenate([np.zeros(0, dtype=np.int64), *ends]) for ends in zip(*found, strict=True))
        supply, demand = _records(out, self.published.weights), _records(into, self.coded.weights)
        return self.published.rows - _largest_flow(supply, demand, source, target)

    def _blocks(self, columns: Sequence[UnchangedColumn]) -> tuple[Ints, Ints]:
        """Return a number for every combination of cells published unchanged, the same in both tables."""
        rows = self.shown.num_rows
        if len(columns) == 1:
            return columns[0].shown, columns[0].original
        block = np.zeros(rows + self.original.num_rows, dtype=np.int64)
        for column in columns:
            codes = np.concatenate([column.shown, column.original])
            block = group_keys(block * column.width + codes).labels.astype(np.int64)
        return block[:rows], block[rows:]

    def _covering(
        self, out_rows: Ints, in_rows: Ints, here: Ints, there: Ints, loose: Sequence[UnchangedColumn]
    ) -> tuple[Ints, Ints]:
        """Keep the pairs whose published combination covers the original one."""
        for at in range(len(self.published.columns)):
            covered = self._covers(at, out_rows[here], in_rows[there])
            here, there = here[covered], there[covered]
        for column in loose:
            equal = column.equal(out_rows[here], in_rows[there])
            here, there = here[equal], there[equal]
        return here, there


def row_numbers(correspondence: Sequence[int] | npt.NDArray[np.integer]) -> Ints:
    """Convert a correspondence to an array, if it is a list of whole numbers."""
    given = np.asarray(correspondence)
    try:
        rows = given.astype(np.int64)
        whole = rows.ndim == 1 and bool((rows == given).all())
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole:
        raise InvalidParameterError("The correspondence must list the original row number of every published row.")
    return rows


def check_correspondence(rows_out: int, rows_in: int, correspondence: Ints | None, counterfeits: int = 0) -> None:
    """Refuse an original that is too small, and a correspondence of other tables; counterfeits have no original."""
    if rows_out - counterfeits > rows_in:
        raise SchemaError(
            f"The published table has {rows_out:,} rows but the original only {rows_in:,}; "
            "give the original that it was made from."
        )
    if correspondence is None:
        return
    if len(correspondence) != rows_out:
        raise SchemaError(
            f"The correspondence has {len(correspondence):,} rows but the published table {rows_out:,}; "
            "give the one that was written with this table."
        )
    known = correspondence[correspondence >= 0]
    outside = correspondence.min() < NOT_PUBLISHED or correspondence.max() >= rows_in
    if outside or np.bincount(known).max(initial=0) > 1:
        raise SchemaError("The correspondence must name a different original row for every published row.")


def _unify_types(shown: pa.ChunkedArray, original: pa.ChunkedArray) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Convert two columns to one type: a column that lost some rows may have lost its fractions or times."""
    if pa.types.is_dictionary(shown.type):
        shown = shown.cast(shown.type.value_type)
    if shown.type == original.type:
        return shown, original
    if {shown.type, original.type} == {pa.date32(), pa.timestamp("us")}:
        return shown.cast(pa.timestamp("us")), original.cast(pa.timestamp("us"))
    return pa.chunked_array([format_values(shown)]), pa.chunked_array([format_values(original)])


def cells_cover(
    column: PublishedColumn, labels: npt.NDArray[np.integer], codes: npt.NDArray[np.integer]
) -> npt.NDArray[np.bool_]:
    """Return for pairs of published texts and original codes of a quasi-identifier whether the one covers the other."""
    covered = column.coverage.contains(labels, codes)
    if column.schema.missing is MissingPolicy.MATCHES_ALL and None in column.texts:
        covered |= labels == column.texts.index(None)
    return covered


def encode_together(shown: pa.ChunkedArray, original: pa.ChunkedArray) -> UnchangedColumn:
    """Code the cells of two columns together, so that equal cells have equal codes."""
    shown, original = _unify_types(shown, original)
    both = pa.chunked_array([*shown.chunks, *original.chunks], shown.type)
    encoded = dictionary_encode(both)
    width, star = len(encoded.dictionary) + 1, None
    codes = encoded.indices.fill_null(width - 1).to_numpy(zero_copy_only=False).astype(np.int64)
    if pa.types.is_string(shown.type):
        place = pc.index(encoded.dictionary, SUPPRESSED_TEXT).as_py()
        star = place if place in codes[: len(shown)] else None
    return UnchangedColumn(codes[: len(shown)], codes[len(shown) :], width, star)


def _differing(shown: pa.ChunkedArray, original: pa.ChunkedArray) -> int:
    return int(np.count_nonzero(~unchanged_cells(shown, original)))


def unchanged_cells(shown: pa.ChunkedArray, original: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """Return for every row whether a cell is published unchanged, or suppressed."""
    shown, original = _unify_types(shown, original)
    equal = pc.fill_null(pc.equal(shown, original), fill_value=False)
    if pa.types.is_string(shown.type):
        equal = pc.or_(equal, pc.fill_null(pc.equal(shown, SUPPRESSED_TEXT), fill_value=False))
    both_missing = pc.and_(pc.is_null(shown), pc.is_null(original))
    return np.asarray(pc.or_(equal, both_missing))


def _same_block(out_block: Ints, in_block: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield all pairs of published and original combinations of the same block, a bounded number at a time."""
    order = np.argsort(in_block, kind="stable")
    first = np.searchsorted(in_block[order], out_block, side="left")
    count = np.searchsorted(in_block[order], out_block, side="right") - first
    pairs = int(count.sum())
    if pairs > MOST_PAIRS:
        raise SchemaError(
            f"Finding a correspondence would compare {pairs:,} pairs of records; "
            "give the correspondence that was written with the table."
        )
    edges = np.searchsorted(np.cumsum(count), np.arange(0, max(pairs, 1), PAIRS_AT_ONCE), side="left")
    for start, stop in pairwise([*edges.tolist(), len(count)]):
        counts = count[start:stop]
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        yield np.repeat(np.arange(start, stop), counts), order[np.repeat(first[start:stop], counts) + within]


def _records(combined: Grouped, weights: Ints | None) -> Ints:
    """Count the records of every combination of cells."""
    if weights is None:
        return combined.counts
    return np.bincount(combined.labels, weights, minlength=len(combined)).astype(np.int64)


def _largest_flow(supply: Ints, demand: Ints, source: Ints, target: Ints) -> int:
    """Match as many published records as possible to original combinations along the pairs."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    if max(int(supply.sum()), int(demand.sum())) > MOST_FLOWING:
        raise SchemaError(
            f"No correspondence can be looked for among more than {MOST_FLOWING:,} records; leave the original out."
        )
    s, t = len(supply), len(demand)
    start, end = s + t, s + t + 1
    rows = np.concatenate([np.full(s, start), source, s + np.arange(t)])
    cols = np.concatenate([np.arange(s), s + target, np.full(t, end)])
    capacity = np.concatenate([supply, np.minimum(supply[source], demand[target]), demand]).astype(np.int32)
    graph = csr_array((capacity, (rows, cols)), shape=(s + t + 2, s + t + 2))
    return int(maximum_flow(graph, start, end).flow_value)
