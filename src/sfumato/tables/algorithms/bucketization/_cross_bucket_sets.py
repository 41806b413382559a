"""Picks: sets of nearby records with different sensitive values, taken from blocks from the leaves to the root."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import ceil

import numpy as np
import numpy.typing as npt

from sfumato.core._kernels.grouping import COMPILED_ROWS, stable_argsort
from sfumato.core._kernels.readiness import should_compile_for
from sfumato.tables.algorithms._segments.cuts import (
    NO_CUT,
    Axes,
    Cuts,
    CuttingRule,
    Records,
    choose_cutter,
    find_allowed_cuts,
)
from sfumato.tables.algorithms.bucketization._assignment import RemainingCounts, distribute_eligible

Ints = npt.NDArray[np.int64]


# Blocks of nearby records, as a tree: cut in two while both halves stay l-eligible and large enough.


@dataclass(frozen=True, eq=False)
class BlockTree:
    """Nested blocks: every node is a run of `order`, which lists all records so that nearby ones are close.

    Node 0 is all records. Children come after their parents, the left one first; `parent` of node 0 is -1.
    """

    order: Ints
    parent: Ints
    start: Ints
    size: Ints
    leaf: npt.NDArray[np.bool_]

    @classmethod
    def whole(cls, rows: int) -> BlockTree:
        """Put all records in one block."""
        return cls(
            np.arange(rows), np.array([-1]), np.zeros(1, dtype=np.int64), np.array([rows]), np.ones(1, dtype=np.bool_)
        )


def build_block_tree(records: Records, axes: Axes, smallest: int, values: int, l: Fraction) -> BlockTree:
    """Cut blocks at their widest attribute that leaves both halves l-eligible and not below the smallest size.

    Parameters
    ----------
    records : all records in one segment; the sensitive values are its only extra column, if l is above 1.
    axes : the quasi-identifiers.
    smallest : the smallest number of records in a block.
    values : the number of sensitive values.
    l : one over the largest share of a value in a block.
    """
    return _BlockTreeBuilder(records, axes, smallest, values, l).run()


class _BlockTreeBuilder:
    def __init__(self, records: Records, axes: Axes, smallest: int, values: int, l: Fraction) -> None:
        self.records, self.axes, self.values, self.l = records, axes, values, l
        self.rule = CuttingRule(smallest, relaxed=False)
        self.cutter = choose_cutter(len(records.weight))
        self.leaf_of = np.empty(len(records.weight), dtype=np.int32)
        self.parent = [np.array([-1])]
        self.size = [np.diff(records.offsets)]
        self.start = [np.zeros(1, dtype=np.int64)]
        self.leaves: list[Ints] = []

    def run(self) -> BlockTree:
        nodes, born, finished = np.zeros(1, dtype=np.int64), 1, 0
        while self.records.segments:
            ranges = self.cutter.ranges(self.records, self.axes)
            propose = partial(self.cutter.propose, self.records, self.axes, self.rule, ranges)
            cuts = find_allowed_cuts(propose, self.records.segments, self._rejected)
            done, cut = np.flatnonzero(cuts.axis == NO_CUT), np.flatnonzero(cuts.axis != NO_CUT)
            self.cutter.number(self.records, done, finished, self.leaf_of)
            finished += len(done)
            self.leaves.append(nodes[done])
            begin = self.start[-1][cut]
            left = self.cutter.sides(self.records, cut, cuts.select(cut))
            self.records = self.cutter.split(self.records, cut, left)
            sizes = np.diff(self.records.offsets)
            self.parent.append(np.repeat(nodes[cut], 2))
            self.size.append(sizes)
            self.start.append(np.column_stack([begin, begin + sizes[0::2]]).ravel())
            nodes, born = born + np.arange(2 * len(cut)), born + 2 * len(cut)
        return self._tree()

    def _tree(self) -> BlockTree:
        parent, start = np.concatenate(self.parent), np.concatenate(self.start)
        leaves = np.concatenate(self.leaves)
        leaf = np.zeros(len(parent), dtype=np.bool_)
        leaf[leaves] = True
        order = stable_argsort(start[leaves][self.leaf_of], len(self.leaf_of) + 1)
        return BlockTree(order, parent, start, np.concatenate(self.size), leaf)

    def _rejected(self, segments: Ints, cuts: Cuts) -> Ints:
        """Find the segments with a half that would not be eligible."""
        proposed = np.flatnonzero(cuts.axis != NO_CUT)
        if self.l <= 1 or not len(proposed):
            return segments[:0]
        named = segments[proposed]
        left = self.cutter.sides(self.records, named, cuts.select(proposed))
        sizes, largest = self.cutter.halves(self.records, named, left, self.values)
        distinct, place = np.unique(sizes, return_inverse=True)
        most = np.array([size * self.l.denominator // self.l.numerator for size in distinct.tolist()])
        return named[(largest > most[place].reshape(sizes.shape)).any(axis=1)]


Pool = dict[int, list[int]]
WORTH_WAITING = 500_000  # rows, from which on plain picks take longer than compiling
NODES_AT_ONCE = 4096  # between two reports of progress


@dataclass(frozen=True, eq=False)
class RecordSets:
    """Sets of at least k records, by their positions in the order of the blocks.

    Each of the first `crossed` sets is one pick, whose records have different values; it is cut into groups and buckets
    of its own. The others are combined picks, each of them one bucket, with numbers in `bucket`. If the picks are
    `hurried`, a block gave up multiples of k because it had too many records left for the enclosing block.
    """

    places: Ints
    sizes: Ints
    crossed: int
    bucket: Ints
    hurried: bool = False


@dataclass(eq=False)
class _PickedSets:
    """The picks so far; those too short to be cut into groups of k are kept separate."""

    places: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    short: list[list[int]] = field(default_factory=list)
    hurried: bool = False

    def add(self, picked: list[int], *, short: bool) -> None:
        if short:
            self.short.append(picked)
        else:
            self.places += picked
            self.sizes.append(len(picked))

    def sets(self, k: int) -> RecordSets:
        """Combine short picks with their neighbors until every set has k records."""
        places, sizes = (np.array(each, dtype=np.int64) for each in (self.places, self.sizes))
        return _combine_short_sets(places, sizes, self.short, k, hurried=self.hurried)


def _combine_short_sets(picked: Ints, crossed: Ints, short: list[list[int]], k: int, *, hurried: bool) -> RecordSets:
    """Combine short picks with their neighbors until every set has k records; the others are sets of their own."""
    places, sizes, bucket, waiting = [], crossed.tolist() if short else [], [], 0
    for number, mine in enumerate(sorted(short)):
        places += mine
        bucket += [number] * len(mine)
        waiting += len(mine)
        if waiting >= k:
            sizes.append(waiting)
            waiting = 0
    alone = np.full(len(picked), -1, dtype=np.int64)
    number = len(crossed)
    if waiting:
        if len(sizes) == number:  # nothing was combined yet: one crossed pick becomes a bucket
            number -= 1
            alone[len(alone) - sizes[-1] :] = len(short)
        sizes[-1] += waiting
    return RecordSets(
        np.concatenate([picked, np.array(places, dtype=np.int64)]),
        np.array(sizes, dtype=np.int64) if short else crossed,
        number,
        np.concatenate([alone, np.array(bucket, dtype=np.int64)]),
        hurried,
    )


def pick_sets(
    tree: BlockTree, values: Ints, k: int, l: Fraction, *, spare: int, told: Callable[[float], None]
) -> RecordSets:
    """Pick records of all blocks, from the leaves to the root.

    A block is l-eligible and so is what its picks leave, which goes to the enclosing block; the union of eligible
    remainders is eligible. The numbers of values in a pick are multiples of k. Any number of at least l is accepted if
    no multiple works and the block has so many records left that it is not a mere remainder, or is the root.

    Parameters
    ----------
    tree : the blocks.
    values : the sensitive value of every record in the order of the blocks.
    k : the smallest number of records in a set.
    l : one over the largest share of a value.
    spare : times the size of a pick; a block leaves less than that to the enclosing block.
    told : is called with the share of the work that is done.
    """
    compiled = l.denominator == 1 and should_compile_for(len(values), COMPILED_ROWS, WORTH_WAITING)
    return (_pick_sets_compiled if compiled else _pick_sets_numpy)(tree, values, _Picker(k, l, spare), told)


def _pick_sets_compiled(tree: BlockTree, values: Ints, picker: _Picker, told: Callable[[float], None]) -> RecordSets:
    from sfumato.tables.algorithms.bucketization._kernels import cross_buckets as kernel

    nodes, rows, width = len(tree.parent), len(values), int(values.max()) + 1
    child = np.full(nodes, -1, dtype=np.int64)
    child[tree.parent[1::2]] = np.arange(1, nodes, 2)
    leaves = np.flatnonzero(tree.leaf)
    leaves = leaves[np.argsort(tree.start[leaves])]
    block = np.repeat(np.arange(len(leaves)), tree.size[leaves])
    left = stable_argsort(block * width + values, len(leaves) * width)
    counts, picked, sizes = np.zeros(nodes, dtype=np.int64), np.empty(rows, dtype=np.int64), np.empty(rows, np.int64)
    stacks, state = np.empty((3, width), dtype=np.int64), np.zeros(3, dtype=np.int64)
    rooms = np.empty(width, dtype=np.int64), np.empty(rows + 1, dtype=np.int64), np.empty(rows, dtype=np.int64)
    rule = picker.k, picker.least, picker.multiple, picker.spare * picker.multiple
    shape = child, tree.start, tree.size
    for last in range(nodes, 0, -NODES_AT_ONCE):
        first = max(0, last - NODES_AT_ONCE)
        kernel.select_from_blocks(shape, values, left, counts, first, last, rule, stacks, rooms, picked, sizes, state)
        told(1 - first / nodes)
    sizes = sizes[: state[kernel.PICKED]]
    return _separate_short_sets(picked, sizes, picker.k, hurried=bool(state[kernel.HURRIED]))


def _separate_short_sets(picked: Ints, sizes: Ints, k: int, *, hurried: bool) -> RecordSets:
    """Keep short picks separate."""
    short = sizes < k
    if not short.any():
        return _combine_short_sets(picked, sizes, [], k, hurried=hurried)
    ends = np.cumsum(sizes)
    apart = [picked[end - size : end].tolist() for end, size in zip(ends[short], sizes[short], strict=True)]
    return _combine_short_sets(picked[~np.repeat(short, sizes)], sizes[~short], apart, k, hurried=hurried)


def _pick_sets_numpy(tree: BlockTree, values: Ints, picker: _Picker, told: Callable[[float], None]) -> RecordSets:
    waiting: dict[int, Pool] = {}
    codes, nodes = values.tolist(), len(tree.parent)
    facts = zip(tree.parent.tolist(), tree.start.tolist(), tree.size.tolist(), tree.leaf.tolist(), strict=True)
    for node, (parent, start, size, leaf) in reversed(list(enumerate(facts))):
        pool = waiting.pop(node, {})
        if leaf:
            for place in range(start, start + size):
                pool.setdefault(codes[place], []).append(place)
        if pool:
            picker.pick(pool, last=node == 0)
        if pool and node:
            _pass_to_parent(pool, waiting.setdefault(parent, {}))
        if node % NODES_AT_ONCE == 0:
            told(1 - node / nodes)
    return picker.picks.sets(picker.k)


def _pass_to_parent(pool: Pool, around: Pool) -> None:
    """Leave records to the enclosing block; the right half comes first, so they precede its records."""
    for code, places in pool.items():
        around[code] = places + around.get(code, [])


class _Picker:
    def __init__(self, k: int, l: Fraction, spare: int) -> None:
        self.k, self.l, self.least, self.spare = k, l, ceil(l), spare
        self.multiple = -(-self.least // k) * k
        self.picks = _PickedSets()

    def pick(self, pool: Pool, *, last: bool) -> None:
        """Pick what can be picked from the records of a block, and remove it from the pool."""
        size = sum(map(len, pool.values()))
        if size == len(pool) == self.multiple:  # one pick, without counting
            self.picks.add([pool[code][0] for code in sorted(pool)], short=False)
            pool.clear()
            return
        if size < self.multiple and not last:
            return
        left = RemainingCounts([(code, len(places)) for code, places in pool.items()], self.l)
        while left.left:
            taken = left.take(self.multiple, self.k)
            if taken is None:
                if left.left < self.spare * self.multiple and not last:
                    return
                self.picks.hurried |= not last
                taken = left.take(self.least)
            if taken is None:
                self._deal(pool, left)
                return
            codes, repetitions = taken
            for picked in _nearest_records(pool, codes, repetitions):
                self.picks.add(picked, short=len(picked) < self.k)

    def _deal(self, pool: Pool, left: RemainingCounts) -> None:
        """Distribute records from which, for a fractional l, no different values can be taken."""
        for codes, repetitions in distribute_eligible(left.counts(), self.l):
            for _ in range(repetitions):
                self.picks.add([pool[code].pop() for code in codes], short=True)
        pool.clear()


def _nearest_records(pool: Pool, codes: tuple[int, ...], repetitions: int) -> list[list[int]]:
    """Take one record of every value, several times, close to each other, from the pool."""
    rarest = min(codes, key=lambda code: len(pool[code]))
    held = len(pool[rarest])
    anchors = [pool[rarest][(2 * i + 1) * held // (2 * repetitions)] for i in range(repetitions)]
    columns = []
    for code in codes:
        places = pool[code]
        if len(places) == repetitions:
            columns.append(pool.pop(code))
            continue
        chosen = nearest_positions(places, anchors)
        columns.append([places[at] for at in chosen])
        if repetitions == 1:
            del places[chosen[0]]
        else:
            gone = set(chosen)
            pool[code] = [place for at, place in enumerate(places) if at not in gone]
    return [list(picked) for picked in zip(*columns, strict=True)]


def nearest_positions(places: list[int], anchors: list[int]) -> list[int]:
    """Choose ascending positions, each the closest to its anchor that leaves enough for the anchors after it."""
    chosen, low, spare = [], 0, len(places) - len(anchors)
    for i, anchor in enumerate(anchors):
        at = bisect_left(places, anchor, low, i + spare)
        if at > low and anchor - places[at - 1] <= abs(places[at] - anchor):
            at -= 1
        chosen.append(at)
        low = at + 1
    return chosen
