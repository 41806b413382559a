"""Rows regrouped by compiled loops, with groups distributed among all processors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from sfumato._threads import count_workers
from sfumato.tables.algorithms.local._kernels import regrouping
from sfumato.tables.algorithms.local._kernels import regrouping as kernel
from sfumato.tables.algorithms.local._regrouping import (
    MAX_SPARE_ROWS,
    ChangePlans,
    Ints,
    LevelVisits,
    Nodes,
    RowGroups,
    list_spare_rows,
    list_transfers,
)

PIECES = 16  # per processor, so that all are busy to the end
BLOCK = 8192  # groups among which rows change places
MAX_SPARING_GROUPS = 4096  # rows of a block that can be lent
Index = tuple[Nodes, Ints, Nodes, Nodes, Ints, Ints]


class CompiledGathering:
    """Rows that wait for enough others under the same nodes."""

    def __init__(self, leaves: Nodes, visits: LevelVisits, rows: Ints, label: Ints, least: int) -> None:
        shape, slots = (len(leaves) + 1, len(rows)), 1 << max(4, int(2 * len(rows) - 1).bit_length())
        state = (
            np.empty(shape, dtype=np.int32),
            np.zeros(shape, dtype=np.uint64),
            np.zeros(shape[0] + 1, dtype=np.int64),
        )
        state[0][0], state[2][0] = rows, len(rows)
        self._given = (leaves, visits.marks, visits.costs, visits.slots, visits.route, label, least)
        self._state = state
        self._work = np.full((slots, 2), -1, dtype=np.int64), np.empty(len(rows), dtype=np.int64)
        self._bucket = np.empty(len(rows), dtype=np.int64)
        self._visit, self._visits = 0, len(visits.limit)

    def finish(self, groups: int) -> int:
        """Merge all rows that can be merged, at every remaining visit; return the next number of a group."""
        return self._run(groups, accept=True)

    def step(self) -> tuple[Ints, Ints] | None:
        """Go on to the next visit that can merge rows; return them and the number of each one's bucket."""
        self._run(0, accept=False)
        if self._visit == self._visits:
            return None
        self._visit += 1
        rows, _, counts = self._state
        bucket = self._bucket[: counts[len(rows) - 1]]
        united = np.flatnonzero(bucket >= 0)
        return rows[-1, united].astype(np.int64), bucket[united]

    def _run(self, groups: int, *, accept: bool) -> int:
        self._visit, groups = regrouping.gather_groups(
            *self._given, accept, self._visit, groups, self._state, self._work, self._bucket
        )
        return groups


class CompiledRegrouper:
    """Search with compiled loops in several threads."""

    def gather(self, leaves: Nodes, visits: LevelVisits, rows: Ints, label: Ints, least: int) -> CompiledGathering:
        """Begin to gather rows that have no label."""
        return CompiledGathering(leaves, visits, rows, label, least)

    def partners(self, grouping: RowGroups, todo: Ints) -> tuple[Ints, Ints]:
        """Find for some groups the other group whose merger raises the loss least, and the rise."""
        found, rise = np.full(len(todo), -1, dtype=np.int64), np.zeros(len(todo), dtype=np.int64)
        index, groups = _index_groups(grouping), _arrays(grouping)
        least = int(grouping.sizes[grouping.sizes > 0].min())
        _run_in_threads(
            lambda begin, end: kernel.find_partners(
                todo, begin, end, least, grouping.trees, groups, index, found, rise
            ),
            _split_range(0, len(todo)),
        )
        return found, rise

    def propose(self, grouping: RowGroups, todo: Ints, least: int) -> ChangePlans:
        """Find for some groups the best way to move, swap, dissolve or rebuild them, within blocks of neighbors."""
        block, rows, groups = _split_into_blocks(grouping), list_spare_rows(grouping, least), _arrays(grouping)
        order = np.argsort(block[todo], kind="stable")
        named = todo[order]
        plans = tuple(np.zeros(len(todo), dtype=np.int64) for _ in range(5))
        targets = np.full(len(grouping.rows), -1, dtype=np.int64)
        loans = np.full((len(todo), MAX_SPARE_ROWS), -1, dtype=np.int64)

        def work(number: int, begin: int, end: int) -> None:
            index, spare = indexes[number]
            kernel.propose_changes(
                named, begin, end, least, grouping.trees, groups, index, spare, plans, targets, loans
            )

        numbers = np.unique(block[todo]).tolist()
        indexes = {number: _index_block(grouping, rows, block, number) for number in numbers}
        edges = np.searchsorted(block[named], [*numbers, block.max() + 1]).tolist()
        ranges = zip(numbers, pairwise(edges), strict=True)
        _run_in_threads(
            work, [(number, *piece) for number, (begin, end) in ranges for piece in _split_range(begin, end)]
        )
        back = np.argsort(order)
        return list_transfers(grouping, todo, tuple(each[back] for each in plans), targets, loans[back])


def _arrays(grouping: RowGroups) -> tuple[Nodes, Ints, Ints, Ints, Nodes, Ints, Ints]:
    g = grouping
    return g.leaves, g.label, g.offsets, g.rows, g.box, g.sizes, g.prices


def _index_groups(grouping: RowGroups) -> Index:
    filled = np.flatnonzero(grouping.sizes)
    return _index_boxes(grouping.box[filled], filled, grouping.sizes[filled], grouping.prices[filled])


def _index_boxes(boxes: Nodes, names: Ints, sizes: Ints, prices: Ints) -> Index:
    """Sort boxes, and return where their prefixes end."""
    order = np.lexsort(boxes.T[::-1])
    boxes = np.ascontiguousarray(boxes[order])
    shared, jump = np.empty(len(boxes), dtype=np.int32), np.empty(boxes.shape, dtype=np.int32)
    kernel.index_boxes(boxes, shared, jump)
    return boxes, names[order], shared, jump, sizes[order], prices[order]


def _split_into_blocks(grouping: RowGroups) -> Ints:
    """Split the nonempty groups into blocks of neighbors in lexical order; empty ones are in the first."""
    filled = np.flatnonzero(grouping.sizes)
    block = np.zeros(len(grouping.sizes), dtype=np.int64)
    ranked = filled[np.lexsort(grouping.box[filled].T[::-1])]
    block[ranked] = np.arange(len(ranked)) * -(-len(ranked) // BLOCK) // len(ranked)
    return block


def _index_block(grouping: RowGroups, rows: Ints, block: Ints, number: int) -> tuple[Index, Index]:
    """Index the groups of one block, and the rows that they can spare."""
    mine = np.flatnonzero((block == number) & (grouping.sizes > 0))
    rows = rows[block[grouping.label[rows]] == number]
    rows = rows[:: -(-len(rows) // MAX_SPARING_GROUPS) or 1]
    nothing = np.zeros(len(rows), dtype=np.int64)
    return (
        _index_boxes(grouping.box[mine], mine, grouping.sizes[mine], grouping.prices[mine]),
        _index_boxes(grouping.leaves[rows], rows, nothing + 1, nothing),
    )


def _split_range(begin: int, end: int) -> list[tuple[int, int]]:
    edges = np.unique(np.linspace(begin, end, PIECES * count_workers() + 1).astype(int)).tolist()
    return list(pairwise(edges))


def _run_in_threads(work: Callable[..., None], pieces: Sequence[tuple[int, ...]]) -> None:
    with ThreadPoolExecutor(count_workers()) as pool:
        list(pool.map(lambda piece: work(*piece), pieces))
