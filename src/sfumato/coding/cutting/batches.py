"""Counts of a table that is read in batches of codes: every code of every axis, in some segments of the table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from queue import SimpleQueue

import numpy as np
import numpy.typing as npt

from sfumato.coding.cutting.cut_tree import LONG_BATCH, CutTree
from sfumato.coding.cutting.partition import Codes, Ints, Ranges, stack_codes
from sfumato.exceptions import InvalidParameterError
from sfumato.threads import count_workers, map_in_threads

MAX_CELLS = 1 << 25  # of all counts that are made at once, 256 MB


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a table as codes: one row of each matrix per attribute.

    Parameters
    ----------
    codes : of all quasi-identifiers.
    watched : of the sensitive attributes that models read.
    weights : the number of records that every row stands for; one each if there are none.
    """

    codes: Codes
    watched: Codes
    weights: Ints | None = None

    @classmethod
    def from_columns(cls, codes: Sequence[Codes], watched: Sequence[Codes] = (), weights: Ints | None = None) -> Batch:
        """Put the codes of all attributes in matrices of the smallest type that fits them all."""
        rows = len(codes[0])
        weights = None if weights is None else np.require(weights, np.int64, ["C", "W"])
        return cls(stack_codes(codes, rows), stack_codes(watched, rows), weights)

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    def take(self, rows: npt.NDArray[np.integer]) -> Batch:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return Batch(self.codes.take(rows, axis=1), self.watched.take(rows, axis=1), weights)


@dataclass(frozen=True)
class CodeLayout:
    """How many codes there are, with that of missing values: of every axis, and of every watched attribute."""

    axes: tuple[int, ...]
    watched: tuple[int, ...] = ()

    def check_same(self, batch: Batch) -> None:
        """Refuse a batch of other attributes, or with codes that its attributes do not have: loops do not check."""
        fits = batch.weights is None or batch.weights.shape == (len(batch),)
        for matrix, widths in ((batch.codes, self.axes), (batch.watched, self.watched)):
            fits = fits and len(matrix) == len(widths)
            fits = fits and bool((matrix.max(axis=1, initial=0) < np.array(widths)).all())
        if not fits:
            raise InvalidParameterError(
                "A batch has attributes or codes that its layout does not have; code it with the same domains."
            )

    @cached_property
    def starts(self) -> tuple[Ints, Ints]:
        """Where the counts of every axis begin, and those of every watched attribute."""
        return _offsets(self.axes), _offsets(self.watched)


@dataclass(frozen=True, eq=False)
class SegmentCounts:
    """The weight of every code in each of some segments: one row per segment, axis after axis; counts can be added."""

    layout: CodeLayout
    axes: Ints
    watched: Ints

    @classmethod
    def empty(cls, segments: int, layout: CodeLayout) -> SegmentCounts:
        """Make counts of nothing."""
        shapes = ((segments, sum(widths)) for widths in (layout.axes, layout.watched))
        return cls(layout, *(np.zeros(shape, dtype=np.int64) for shape in shapes))

    @classmethod
    def from_entries(cls, segments: int, layout: CodeLayout, cells: Ints, weights: Ints) -> SegmentCounts:
        """Sum counts that were sent as entries, of all parts of a table and in any order."""
        result = cls.empty(segments, layout)
        everywhere = np.zeros(result.axes.size + result.watched.size, dtype=np.int64)
        np.add.at(everywhere, cells, weights)
        axes, watched = np.split(everywhere, [result.axes.size])
        return cls(layout, axes.reshape(result.axes.shape), watched.reshape(result.watched.shape))

    def entries(self) -> tuple[Ints, Ints]:
        """Return the cells that are not zero, and their weights: little to send from many machines."""
        everywhere = np.concatenate([self.axes.ravel(), self.watched.ravel()])
        cells = np.flatnonzero(everywhere)
        return cells, everywhere[cells]

    def __len__(self) -> int:
        return len(self.axes)

    def __add__(self, other: SegmentCounts) -> SegmentCounts:
        return SegmentCounts(self.layout, self.axes + other.axes, self.watched + other.watched)

    def select(self, segments: Ints) -> SegmentCounts:
        """Return the counts of some of the segments."""
        return SegmentCounts(self.layout, self.axes[segments], self.watched[segments])

    @property
    def sizes(self) -> Ints:
        """The weight of every segment."""
        return np.asarray(self.axes[:, : self.layout.axes[0]].sum(axis=1))

    def on_axis(self, axis: int) -> Ints:
        """Return the counts of one axis: a column for every code."""
        return self.axes[:, slice(*self.layout.starts[0][axis : axis + 2])]

    def select_model_attribute(self, attribute: int) -> Ints:
        """Return the counts of one watched attribute: a column for every value."""
        return self.watched[:, slice(*self.layout.starts[1][attribute : attribute + 2])]

    @property
    def ranges(self) -> Ranges:
        """The ranges of all segments."""
        low, high, missing = [], [], []
        for axis, width in enumerate(self.layout.axes):
            occurs = self.on_axis(axis) > 0
            last = width - 1 - np.argmax(np.roll(occurs, 1, axis=1)[:, ::-1], axis=1)  # missing values come first now
            low.append(np.argmax(occurs, axis=1))
            high.append(last - 1)
            missing.append(occurs[:, -1])
        return Ranges(
            np.column_stack(low).astype(np.int32), np.column_stack(high).astype(np.int32), np.column_stack(missing)
        )


def count_segments(
    batches: Iterable[Batch], tree: CutTree, nodes: Ints, layout: CodeLayout, *, workers: int | None = None
) -> SegmentCounts:
    """Count the codes in some leaves of a tree in one pass; there are not many more batches in memory than processors.

    Parameters
    ----------
    batches : all rows.
    tree, nodes : the cuts, and the leaves to be counted.
    layout : how many codes there are.
    workers : how many batches are counted at once, by default as many as there are processors; fewer if their counts
        would not fit.
    """
    first = SegmentCounts.empty(len(nodes), layout)
    workers = max(1, min(workers or count_workers(), MAX_CELLS // max(1, first.axes.size + first.watched.size)))
    made = [first, *(SegmentCounts.empty(len(nodes), layout) for _ in range(workers - 1))]
    spare: SimpleQueue[SegmentCounts] = SimpleQueue()
    for counts in made:
        spare.put(counts)
    slot = tree.index_nodes(nodes)

    def add(batch: Batch) -> None:
        layout.check_same(batch)
        mine = spare.get()
        try:
            _add_batch(batch, tree, slot, mine)
        finally:
            spare.put(mine)

    for _ in map_in_threads(add, batches):
        pass
    return sum(made[1:], first)


def _add_batch(batch: Batch, tree: CutTree, slot: npt.NDArray[np.int32], counts: SegmentCounts) -> None:
    if len(batch) < LONG_BATCH:
        _add_batch_with_numpy(batch, slot[tree.find_nodes(batch.codes)], counts)
        return
    from sfumato.coding.kernels.descending import count_batch

    weights = np.zeros(0, dtype=np.int64) if batch.weights is None else batch.weights
    watched = batch.watched.astype(np.uint32, copy=False)  # one type, because every pair of types would be compiled
    starts, results = counts.layout.starts, (counts.axes, counts.watched)
    count_batch(batch.codes, watched, weights, tree.loops, tree.depth, slot, starts, results)


def _add_batch_with_numpy(batch: Batch, slot: npt.NDArray[np.int32], counts: SegmentCounts) -> None:
    chosen = np.flatnonzero(slot >= 0)
    weights = 1 if batch.weights is None else batch.weights[chosen]
    for columns, starts, result in zip(
        (batch.codes, batch.watched), counts.layout.starts, (counts.axes, counts.watched), strict=True
    ):
        for column, start in zip(columns, starts[:-1].tolist(), strict=True):
            np.add.at(result, (slot[chosen], start + column[chosen].astype(np.int64)), weights)


def _offsets(widths: tuple[int, ...]) -> Ints:
    return np.append(0, np.cumsum(widths)).astype(np.int64)
