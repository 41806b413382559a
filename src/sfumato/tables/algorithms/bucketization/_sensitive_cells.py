"""The sensitive cells of an attribute, and buckets for them that keep its models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import KeyedRandom
from sfumato.core._kernels.grouping import stable_argsort
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.encoding.domain import Domain
from sfumato.errors import InfeasibleError
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.schema.roles import Scale
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.bucketization._assignment import (
    Pieces,
    assign_buckets,
    distribute_in_turn,
    suppress_frequent_values,
)
from sfumato.tables.models._conjunction import Conjunction
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published.groups import Groups, Histogram
from sfumato.tables.published.solution import NOT_PUBLISHED

Counts = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]
Buckets = npt.NDArray[np.int32]
SMALL_BUCKETS = 2  # assigned buckets up to this many times the smallest size are good enough


@dataclass(frozen=True, eq=False)
class SensitiveCells:
    """The sensitive cells of one attribute.

    Parameters
    ----------
    column : the attribute, with a code for every record; only the codes of its sensitive cells count.
    cells : which records have a sensitive cell.
    models : the models that their buckets must keep.
    totals : how often every value occurs in the whole table, if these are the cells of a block of it.
    weights : how many records every case stands for, where equal ones are counted.
    """

    column: CodedColumn
    cells: npt.NDArray[np.bool_]
    models: Sequence[GroupModel]
    totals: Counts | None = None
    weights: Counts | None = None

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.column.name

    @property
    def missing(self) -> int:
        """The number of missing sensitive cells."""
        return int(self.counts(np.arange(len(self.cells)))[self.column.domain.missing])

    def rows(self, kept: Rows) -> Rows:
        """Return which of some records have a sensitive cell."""
        return kept[self.cells[kept]]

    def counts(self, kept: Rows) -> Counts:
        """Count the values of the sensitive cells of some records."""
        rows = self.rows(kept)
        weights = None if self.weights is None else self.weights[rows]
        return np.bincount(self.column.codes[rows], weights, minlength=self._width).astype(np.int64)

    def is_empty(self) -> bool:
        """Return whether every cell may be a bucket of its own."""
        counts = self.counts(np.arange(len(self.cells)))
        return self._satisfies([((code,), 1) for code in np.flatnonzero(counts).tolist()], counts)

    def min_suppression(self, counts: Counts) -> Counts:
        """Cap the most frequent values, as little as possible, so that a single bucket of the rest is valid."""
        if not counts.any() or self._satisfy_all(counts):
            return np.zeros_like(counts)
        low, high = 0, int(counts.max())
        while low + 1 < high:
            cap = (low + high) // 2
            low, high = (cap, high) if self._satisfy_all(np.minimum(counts, cap)) else (low, cap)
        return counts - np.minimum(counts, low)

    def buckets(self, kept: Rows, stream: KeyedRandom, *, halve: bool) -> Buckets:
        """Put the sensitive cells of some records into small buckets; which records of a value go where is random.

        Parameters
        ----------
        kept : the records; one bucket of all their sensitive cells must keep the models.
        stream : where bits come from that nobody can repeat.
        halve : first split the values at their median, as long as both halves keep the models.
        """
        counts, rows = self.counts(kept), self.rows(kept)
        found = np.full(len(self.cells), NOT_PUBLISHED, dtype=np.int32)
        if len(rows):
            spans = self._spans(counts) if halve else [np.flatnonzero(counts)]
            pieces = [piece for span in spans for piece in self._pieces(span, counts)]
            found[rows] = draw_buckets(pieces, self.column.codes[rows], stream)
        return found

    @property
    def _width(self) -> int:
        return len(self.column.domain) + 1

    def _spans(self, counts: Counts) -> Iterator[Rows]:
        """Split the values, in the order of the domain, at the cut that divides their records most evenly."""
        values = np.flatnonzero(counts)
        ends = np.append(0, np.cumsum(counts[values]))
        first, last = np.array([0]), np.array([len(values)])
        while len(first):
            middle = (ends[first] + ends[last]) / 2
            after = np.clip(np.searchsorted(ends, middle), first + 1, last)
            before = np.maximum(after - 1, first + 1)
            cut = np.where(np.abs(ends[before] - middle) <= np.abs(ends[after] - middle), before, after)
            good = cut < last
            good[good] = self._halves_satisfy(counts, values, first[good], cut[good], last[good])
            for start, stop in zip(first[~good].tolist(), last[~good].tolist(), strict=True):
                yield values[start:stop]
            first, last = np.column_stack([first, cut])[good].ravel(), np.column_stack([cut, last])[good].ravel()

    def _halves_satisfy(
        self, counts: Counts, values: Rows, first: Rows, cut: Rows, last: Rows
    ) -> npt.NDArray[np.bool_]:
        """Return for which cuts a bucket of the values before and a bucket of those after are both valid."""
        starts, stops = np.column_stack([first, cut]).ravel(), np.column_stack([cut, last]).ravel()
        lengths = stops - starts
        half = np.repeat(np.arange(len(starts)), lengths)
        codes = values[np.arange(int(lengths.sum())) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)]
        histogram = Histogram.from_entries(half, codes, counts[codes], groups=len(starts), width=self._width)
        return np.asarray(self._valid(histogram, counts).reshape(-1, 2).all(axis=1))

    def _pieces(self, span: Rows, totals: Counts) -> Pieces:
        """Find small buckets for some values, for which a single bucket is valid."""
        counts = totals[span]
        total, largest = int(counts.sum()), int(counts.max())
        least = max(2, *(model.min_group_size for model in self.models))

        def assigned(l: int) -> Pieces | None:
            pieces = [(tuple(span[list(places)].tolist()), often) for places, often in assign_buckets(counts, l)]
            return pieces if self._satisfies(pieces, totals) else None

        def dealt(size: int) -> Pieces | None:
            pieces = list(
                distribute_in_turn(list(zip(span.tolist(), counts.tolist(), strict=True)), max(1, total // size))
            )
            return pieces if self._satisfies(pieces, totals) else None

        whole: Pieces = [(tuple(np.repeat(span, counts).tolist()), 1)]
        found = min_feasible(least, total // largest, assigned) or whole
        if total <= SMALL_BUCKETS * least * _number(found):
            return found
        return max(found, min_feasible(least, max(least, total), dealt) or whole, key=_number)

    def _satisfies(self, pieces: Pieces, totals: Counts) -> bool:
        lengths = [len(codes) for codes, _ in pieces]
        codes = np.concatenate([np.asarray(codes, dtype=np.int64) for codes, _ in pieces])
        piece, ones = np.repeat(np.arange(len(pieces)), lengths), np.ones(len(codes), dtype=np.int64)
        histogram = Histogram.from_entries(piece, codes, ones, groups=len(pieces), width=self._width)
        return bool(self._valid(histogram, totals).all())

    def _satisfy_all(self, counts: Counts) -> bool:
        codes = np.flatnonzero(counts)
        whole = Histogram.from_entries(np.zeros_like(codes), codes, counts[codes], groups=1, width=self._width)
        return bool(self._valid(whole, counts).all())

    def _valid(self, histogram: Histogram, totals: Counts) -> npt.NDArray[np.bool_]:
        """Return which buckets keep all models, also against someone who knows that one record is in the bucket."""
        alone = np.ones(len(histogram.offsets) - 1, dtype=np.int64)
        totals = totals if self.totals is None else self.totals
        groups = Groups(alone, {self.name: histogram}, {self.name: totals}, {self.name: self.column.domain})
        return np.asarray(np.logical_and.reduce([model.satisfied_by(groups) for model in self.models]))


def _number(pieces: Pieces) -> int:
    return sum(often for _, often in pieces)


def flatten_conjunctions(models: Sequence[GroupModel]) -> Iterator[GroupModel]:
    """Split models that combine several others."""
    for model in models:
        if isinstance(model, Conjunction):
            yield from flatten_conjunctions(model.parts)
        else:
            yield model


def collect_sensitive_cells(task: TableRequest) -> list[SensitiveCells]:
    """Return the flagged cells of every attribute, and all cells of sensitive attributes that a model names."""
    found = []
    models = list(flatten_conjunctions(task.models))
    columns = {column.name: column for column in (*task.table.quasi, *task.table.sensitive)}
    for name, column in columns.items():
        mine = [model for model in models if name in model.sensitive_attributes]
        mask = task.table.flags.get(name)
        if mask is not None and mask.any():
            flagged = flagged_cells(task.table, name)
            codes = np.zeros(task.table.rows, dtype=flagged.codes.dtype)
            codes[mask] = flagged.codes
            found.append(SensitiveCells(CodedColumn(flagged.domain, codes), mask, mine))
        elif mask is None and mine:
            totals = None if task.totals is None else task.totals[name]
            found.append(
                SensitiveCells(
                    column, np.ones(task.table.n_weighted_records, dtype=np.bool_), mine, totals, task.table.weights
                )
            )
    return found


def flagged_cells(table: CodedTable, name: str) -> CodedColumn:
    """Return only the flagged cells of an attribute, in the domain that a reader of their buckets sees."""
    column = next(column for column in (*table.quasi, *table.sensitive) if column.name == name)
    codes, domain = column.codes[table.flags[name]], column.domain
    if domain.scale not in {Scale.NUMERIC, Scale.NOMINAL}:
        return CodedColumn(domain, codes)
    present = np.unique(codes[codes != domain.missing])
    place = np.full(len(domain) + 1, len(present), dtype=np.uint32)
    place[present] = np.arange(len(present))
    hierarchy = None if domain.hierarchy is None else _restrict_hierarchy(domain.hierarchy, present)
    return CodedColumn(Domain(name, domain.scale, domain.values.take(pa.array(present)), hierarchy), place[codes])


def _restrict_hierarchy(hierarchy: Hierarchy, leaves: npt.NDArray[np.integer]) -> Hierarchy:
    """Keep some leaves of a hierarchy, and the nodes above them."""
    parts = [np.unique(level[leaves], return_inverse=True) for level in hierarchy.levels]
    return Hierarchy(
        tuple(hierarchy.leaves[leaf] for leaf in leaves.tolist()),
        tuple(number.astype(np.int32) for _, number in parts),
        tuple(
            tuple(labels[node] for node in nodes.tolist())
            for (nodes, _), labels in zip(parts, hierarchy.labels, strict=True)
        ),
    )


def eligible_rows(protected: Sequence[SensitiveCells], kept: Rows, task: TableRequest) -> Rows:
    """Suppress too frequent values, attribute by attribute, until all attributes can be put in buckets.

    Records in excess in several attributes go first.
    """
    while True:
        extra = [each.min_suppression(each.counts(kept)) for each in protected]
        if not any(lost.any() for lost in extra):
            return kept
        over = np.zeros(task.table.rows, dtype=np.int8)
        for each, lost in zip(protected, extra, strict=True):
            over += each.cells & (lost[each.column.codes] > 0)
        for each in protected:
            mine, lost = each.rows(kept), each.min_suppression(each.counts(kept))
            left = suppress_frequent_values(mine, each.column.codes, lost, task.stream, over)
            kept = np.setdiff1d(kept, np.setdiff1d(mine, left, assume_unique=True), assume_unique=True)
            if task.table.rows - len(kept) > task.max_suppressed or not len(kept):
                raise _infeasible_error(each, task.table.rows - len(kept), task)


def _infeasible_error(protected: SensitiveCells, lost: int, task: TableRequest) -> InfeasibleError:
    counts = protected.counts(np.arange(task.table.rows))
    cells, largest = int(counts.sum()), int(counts.max())
    return InfeasibleError(
        f"The models of column {protected.name!r} cannot be kept: one value has {largest / cells:.2%} of {cells:,} "
        f"sensitive cells, so l can be at most {cells * 10_000 // largest / 10_000:g} unless {lost:,} or more records "
        f"are suppressed, but only {task.max_suppressed:,} may be; promise less or raise max_suppressed."
    )


def min_feasible(first: int, last: int, attempt: Callable[[int], Pieces | None]) -> Pieces | None:
    """Find the smallest number for which an attempt succeeds, if larger ones do too: by doubling, then bisection."""
    low, step, best = first - 1, 1, None
    high = first
    while high <= last:
        best = attempt(high)
        if best is not None:
            break
        low, step = high, 2 * step
        high = min(high + step, last) if high < last else last + 1
    while best is not None and low + 1 < high:
        middle = (low + high) // 2
        found = attempt(middle)
        best, low, high = (best, middle, high) if found is None else (found, low, middle)
    return best


def draw_buckets(pieces: Pieces, codes: npt.NDArray[np.unsignedinteger], stream: KeyedRandom) -> Buckets:
    """Draw for every cell, given by its code, a bucket among those that have room for its value."""
    value = np.concatenate([np.asarray(values, dtype=np.int64) for values, _ in pieces])
    lengths = [len(values) for values, _ in pieces]
    often = np.array([repetitions for _, repetitions in pieces], dtype=np.int64)
    first = np.repeat(np.cumsum(often) - often, lengths)
    often = np.repeat(often, lengths)
    order = np.argsort(value, kind="stable")
    often, first = often[order], first[order]
    place = np.arange(len(codes)) - np.repeat(np.cumsum(often) - often, often)
    shuffled = stream.permutation(len(codes))
    buckets = np.empty(len(codes), dtype=np.int32)
    buckets[shuffled[stable_argsort(codes[shuffled], int(value.max()) + 1)]] = np.repeat(first, often) + place
    return buckets
