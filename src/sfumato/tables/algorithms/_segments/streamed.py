"""Counts of a table that is read in batches of codes: every code of every axis, in some segments of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from queue import SimpleQueue
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato._threads import count_workers, map_in_threads
from sfumato.errors import InvalidParameterError
from sfumato.tables.algorithms._segments.cuts import (
    ALL_TIES,
    NO_CUT,
    Axes,
    Codes,
    Cuts,
    CuttingRule,
    Ranges,
    measure_widths,
    stack_codes,
)

Ints = npt.NDArray[np.int64]


# The best cuts of segments whose codes are counted: one rule for records in memory and for histograms of streams.


class SegmentCodeCounts(NamedTuple):
    """Weights of codes in segments, by segment and then by code; a code may stand there several times."""

    segment: Ints
    codes: Ints
    weight: npt.NDArray[np.integer]


Count: TypeAlias = Callable[[Ints, Ints], SegmentCodeCounts]


def propose_cuts(count: Count, total: Ints, axes: Axes, rule: CuttingRule, ranges: Ranges, first_rank: Ints) -> Cuts:
    """Propose a cut for each of some segments, trying ways to cut from `first_rank`, widest first.

    Parameters
    ----------
    count : gives the entries of some of the segments, each on one axis; their segments are numbered from 0.
    total, ranges : the weight and the ranges of every segment.
    axes, rule : what can be cut, and how.
    first_rank : the first way of each segment to be tried.
    """
    width = measure_widths(ranges, axes)
    order = np.argsort(-width, axis=1, kind="stable")
    segments = len(total)
    axis, code = np.full(segments, NO_CUT), np.zeros(segments, dtype=np.int64)
    ties, left = np.zeros(segments, dtype=np.int64), np.zeros(segments, dtype=np.int64)
    rank = np.where(total < 2 * rule.smallest, 2 * len(axes), first_rank)
    pending = np.arange(segments)
    while len(pending):
        pending = pending[rank[pending] < 2 * len(axes)]
        tried = order[pending, rank[pending]]
        cuttable = width[pending, tried] > 0
        pending, tried = pending[cuttable], tried[cuttable]
        if not len(pending):
            break
        entries = count(pending, tried % len(axes))
        code[pending], ties[pending], left[pending], balance = _choose_best_cuts(
            entries, axes, rule, ranges.select(pending), tried
        )
        good = balance >= rule.smallest
        axis[pending[good]] = tried[good] % len(axes)
        rank[pending[~good]] += 1
        pending = pending[~good]
    return Cuts(axis, code, ties, left, total, rank)


def _choose_best_cuts(
    entries: SegmentCodeCounts, axes: Axes, rule: CuttingRule, ranges: Ranges, way: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """Find the most balanced cut of one way for every segment: code, ties, weight of the left side, smaller side."""
    axis, parting, everything = way % len(axes), way < len(axes), np.arange(len(way))
    segment, codes = entries.segment, entries.codes
    until = np.cumsum(entries.weight, dtype=np.int64)
    starts = np.searchsorted(segment, everything)
    ends = np.append(starts[1:], len(segment)) - 1
    base = np.where(starts > 0, until[starts - 1], 0)
    total = until[ends] - base
    last = np.append((segment[1:] != segment[:-1]) | (codes[1:] != codes[:-1]), True)
    place = np.flatnonzero(last)
    high = ranges.high[everything, axis].astype(np.int64)
    place = place[codes[place] < np.where(parting, axes.leaves[axis], high)[segment[place]]]
    allowed = _separates_siblings(axes, ranges, axis, segment[place], codes[place], codes[place + 1])
    place = place[np.where(parting[segment[place]], codes[place] == high[segment[place]], allowed)]
    left = until[place] - base[segment[place]]
    balance = np.minimum(left, total[segment[place]] - left)
    best = place[_choose_first_best(segment[place], balance, len(way))]
    code, left = codes[best], until[best] - base
    ties = np.full(len(way), ALL_TIES)
    if rule.relaxed:
        relaxed, half = _may_separate_ties(axes, ranges, axis), total // 2
        span = int(axes.leaves.max()) + 1
        middle = np.searchsorted(until, base + half)
        below = np.searchsorted(segment * span + codes, everything * span + codes[middle])
        before = np.where(below > 0, until[below - 1], 0) - base
        code, left = np.where(relaxed, codes[middle], code), np.where(relaxed, half, left)
        ties = np.where(relaxed, half - before, ties)
    return code, ties, left, np.minimum(left, total - left)


def _may_separate_ties(axes: Axes, ranges: Ranges, axis: Ints) -> npt.NDArray[np.bool_]:
    """Return where equal codes may be separated: on ordered axes without missing values."""
    return np.asarray((axes.heights[axis] == 0) & ~ranges.missing[np.arange(len(axis)), axis])


def _separates_siblings(
    axes: Axes, ranges: Ranges, axis: Ints, segment: Ints, code: Ints, following: Ints
) -> npt.NDArray[np.bool_]:
    """Return which cuts separate children of the segment's lowest common ancestor; on axes without a tree all do."""
    everything = np.arange(len(axis))
    low, high = ranges.low[everything, axis].astype(np.int64), ranges.high[everything, axis].astype(np.int64)
    allowed = np.ones(len(code), dtype=np.bool_)
    for j in np.flatnonzero(axes.heights):
        on_axis = np.flatnonzero((axis == j) & (high > low))
        level = np.zeros(len(axis), dtype=np.int64)
        for h in range(int(axes.heights[j])):
            start = axes.trees[j] + h * axes.leaves[j]
            apart = axes.nodes[start + low[on_axis]] != axes.nodes[start + high[on_axis]]
            level[on_axis[apart]] = h
        mine = np.flatnonzero((axis[segment] == j) & (following < axes.leaves[j]))
        start = axes.trees[j] + level[segment[mine]] * axes.leaves[j]
        allowed[mine] = axes.nodes[start + code[mine]] != axes.nodes[start + following[mine]]
    return allowed


def _choose_first_best(segment: Ints, balance: Ints, count: int) -> Ints:
    order = np.lexsort((-balance, segment))
    return order[np.searchsorted(segment[order], np.arange(count))]


# A tree of cuts, which says for every row of a table that is read in batches to which segment it belongs.


# A tree of cuts, which says for every row of a table that is read in batches to which segment it belongs.
Nodes = npt.NDArray[np.int32]
LEAF = -1
LONG_BATCH = 1 << 13  # rows; below this NumPy is fast enough, and nothing needs compiling


@dataclass(frozen=True, eq=False)
class CutTree:
    """Cuts of a table into segments.

    Node 0 holds all rows, and children come after their parents. At a node with an `axis`, rows whose code there is at
    most `code` go left, all others right: missing values, which have the largest code, always go right. A node whose
    axis is `LEAF` is a segment; segments are numbered from left to right.
    """

    axis: Nodes
    code: Nodes
    left: Nodes
    right: Nodes

    @classmethod
    def single_segment(cls) -> CutTree:
        """Keep all rows in one segment."""
        leaf = np.full(1, LEAF, dtype=np.int32)
        return cls(leaf, np.zeros(1, dtype=np.int32), leaf, leaf)

    @property
    def segments(self) -> int:
        """The number of segments."""
        return int(np.count_nonzero(self.axis == LEAF))

    @cached_property
    def leaves(self) -> Ints:
        """The node of every segment."""
        found, waiting = [], [0]
        while waiting:
            node = waiting.pop()
            if self.axis[node] == LEAF:
                found.append(node)
            else:
                waiting += [int(self.right[node]), int(self.left[node])]
        return np.array(found, dtype=np.int64)

    @cached_property
    def depth(self) -> int:
        """The number of cuts above the deepest segment."""
        depth = np.zeros(len(self.axis), dtype=np.int64)
        for node in np.flatnonzero(self.axis != LEAF).tolist():
            depth[[self.left[node], self.right[node]]] = depth[node] + 1
        return int(depth.max())

    def cut(self, nodes: Ints, axis: Ints, code: Ints) -> CutTree:
        """Cut some leaves; their left and right halves become the last nodes, in turn."""
        fresh = len(self.axis) + 2 * np.arange(len(nodes))
        new = np.full(2 * len(nodes), LEAF, dtype=np.int32)
        result = CutTree(*(np.append(array, new) for array in (self.axis, self.code, self.left, self.right)))
        result.axis[nodes], result.code[nodes] = axis, code
        result.left[nodes], result.right[nodes] = fresh, fresh + 1
        return result

    def graft(self, segment: int, subtree: CutTree) -> CutTree:
        """Cut one segment as another tree does."""
        at, shift = int(self.leaves[segment]), len(self.axis) - 1
        moved = tuple(np.where(array > 0, array + shift, array) for array in (subtree.left, subtree.right))
        added = (subtree.axis, subtree.code, *moved)
        arrays = tuple(
            np.append(mine, theirs[1:]).astype(np.int32)
            for mine, theirs in zip((self.axis, self.code, self.left, self.right), added, strict=True)
        )
        for array, theirs in zip(arrays, added, strict=True):
            array[at] = theirs[0]
        return CutTree(*arrays)

    def descend(self, codes: npt.NDArray[np.unsignedinteger]) -> Nodes:
        """Find the segment of every row of a batch: codes of all axes, one row of the matrix for each."""
        if len(codes) <= self.axis.max():
            raise InvalidParameterError("A batch has fewer axes than its table was cut on; give all codes.")
        number = self.index_nodes(self.leaves)
        if codes.shape[1] < LONG_BATCH:
            return number[self.find_nodes(codes)]
        from sfumato.tables.algorithms._segments._kernels import descend

        result = np.empty(codes.shape[1], dtype=np.int32)
        descend(codes, self.loops, self.depth, number, result)
        return result

    def find_nodes(self, codes: npt.NDArray[np.unsignedinteger]) -> Ints:
        """Find the leaf of every row with NumPy, one step for all rows at a time."""
        axis, code, children = self.loops
        rows, nodes = np.arange(codes.shape[1]), np.zeros(codes.shape[1], dtype=np.int64)
        for _ in range(self.depth):
            nodes = children[2 * nodes + (codes[axis[nodes], rows] > code[nodes])]
        return nodes

    def index_nodes(self, nodes: Ints) -> Nodes:
        """Return for every node its place among some nodes, or -1."""
        number = np.full(len(self.axis), -1, dtype=np.int32)
        number[nodes] = np.arange(len(nodes))
        return number

    @cached_property
    def loops(self) -> tuple[Ints, Ints, Ints]:
        """The axis, code and children (left, right, in turn) of every node, where a leaf is its own child."""
        leaf, own = self.axis == LEAF, np.arange(len(self.axis))
        children = np.column_stack([np.where(leaf, own, self.left), np.where(leaf, own, self.right)])
        return np.where(leaf, 0, self.axis).astype(np.int64), self.code.astype(np.int64), children.ravel()

    def as_dict(self) -> dict[str, list[int]]:
        """Return the tree as plain lists, for files."""
        return {name: getattr(self, name).tolist() for name in ("axis", "code", "left", "right")}

    @classmethod
    def from_dict(cls, lists: Mapping[str, list[int]]) -> CutTree:
        """Read a tree back from its plain lists, and refuse lists that are no tree."""
        tree = cls(*(np.array(lists[name], dtype=np.int32) for name in ("axis", "code", "left", "right")))
        if not tree._grows():
            raise InvalidParameterError("The tree of cuts is damaged; cut the table again.")
        return tree

    def _grows(self) -> bool:
        """Check that every node but the first is a child of one before it."""
        count, inner = len(self.axis), np.flatnonzero(self.axis != LEAF)
        if not count or self.axis.min() < LEAF or {len(self.code), len(self.left), len(self.right)} != {count}:
            return False
        children = np.concatenate([self.left[inner], self.right[inner]])
        return sorted(children.tolist()) == list(range(1, count)) and bool((children > np.tile(inner, 2)).all())


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
    from sfumato.tables.algorithms._segments._kernels import count_batch

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
