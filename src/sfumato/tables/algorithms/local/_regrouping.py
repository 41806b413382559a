"""Rows in groups that are published as boxes of tree nodes: gather them, and find better places for them.

A *box* has one node of every tree. Its price is the sum of its nodes' costs, and the loss of a group is its price
times its rows. Trees are given as arrays `first`, `stop`, `parent` and `cost` over numbered nodes: node x covers
the leaves `first[x] ... stop[x] - 1`, and leaf i is node i.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Nodes = npt.NDArray[np.int32]
Forest = tuple[Nodes, Nodes, Nodes, Ints]
COMPILED_ROWS = 500  # below this NumPy is fast enough, and nothing needs compiling
NEAR = 4  # groups that a row is tried in
LARGEST = 32  # rows of a group whose rows are swapped, or that is rebuilt
SEEDS = 8  # members around which a group is rebuilt
MAX_SPARE_ROWS = 8  # rows that a group borrows when it is rebuilt
STAY, MOVE, SWAP, DISSOLVE, REFORM, SPLIT = 0, 1, 2, 3, 4, 5
FRESH = -2  # the target of rows that are split off


@dataclass(frozen=True, eq=False)
class LevelVisits:
    """Combinations of levels to look at in turn, each for nodes that cost at most `limit` together.

    The key of a row under combination c is the sum of `marks[slots[c, j] + leaf]` over its leaves, one per tree: a
    mark is a random number that represents a node, and rows whose keys differ are not under the same nodes. In
    the same way `costs` is the cost of the node.
    """

    marks: npt.NDArray[np.uint64]
    costs: Ints
    slots: Ints
    combination: Ints
    limit: Ints

    def between(self, begin: int, end: int) -> LevelVisits:
        """Return a run of the visits."""
        return replace(self, combination=self.combination[begin:end], limit=self.limit[begin:end])

    @cached_property
    def route(self) -> tuple[Ints, Ints, Ints]:
        """Combinations, limits, and for how many leading trees each visit has the same levels as the one before."""
        slots = self.slots[self.combination]
        same = np.cumprod(slots[1:] == slots[:-1], axis=1).sum(axis=1)
        return self.combination, self.limit, np.append(0, np.minimum(same, slots.shape[1] - 1))[: len(slots)]


@dataclass(frozen=True, eq=False)
class RowGroups:
    """Rows in groups: group g has `rows[offsets[g]:offsets[g + 1]]`; its box, its size and its box's price."""

    leaves: Nodes
    trees: Forest
    label: Ints
    offsets: Ints
    rows: Ints
    box: Nodes
    sizes: Ints
    prices: Ints

    @classmethod
    def from_labels(cls, leaves: Nodes, trees: Forest, label: Ints, groups: int = 0) -> RowGroups:
        """Sort rows by group, and find boxes and prices; an empty group has the box of some row."""
        sizes = np.bincount(label, minlength=groups)
        offsets = np.append(0, np.cumsum(sizes))
        rows = np.argsort(label, kind="stable")
        filled = np.flatnonzero(sizes)
        box = np.tile(leaves[:1], (len(sizes), 1))
        low = np.minimum.reduceat(leaves[rows], offsets[filled], axis=0)
        box[filled] = join_nodes(trees, low, np.maximum.reduceat(leaves[rows], offsets[filled], axis=0))
        return cls(leaves, trees, label, offsets, rows, box, sizes, trees[3][box].sum(axis=1))

    def with_label(self, label: Ints) -> RowGroups:
        """Put the same rows into the same groups in another way, or into more; some may become empty."""
        fresh, place = np.unique(label[label >= len(self.sizes)], return_inverse=True)
        if len(fresh):
            label = label.copy()
            label[label >= len(self.sizes)] = len(self.sizes) + place.ravel()
        return RowGroups.from_labels(self.leaves, self.trees, label, len(self.sizes))

    @property
    def loss(self) -> int:
        """The loss of all groups together."""
        return int((self.sizes * self.prices).sum())


@dataclass(frozen=True, eq=False)
class ChangePlans:
    """What to do with each of some groups: `kind`, how much the loss falls, and the rows that change places.

    Transfer i is part of plan `plan[i]`, and takes `row[i]` to group `target[i]`; plan p may found the group
    whose number is p above all that there are.
    """

    kind: Ints
    gain: Ints
    plan: Ints
    row: Ints
    target: Ints


class Gathering(Protocol):
    """Rows without a label that wait to be merged with at least `least` others under the nodes of a visit."""

    def finish(self, groups: int) -> int:
        """Merge all rows that can be merged, at every remaining visit; return the next number of a group."""

    def step(self) -> tuple[Ints, Ints] | None:
        """Go on to the next visit that can merge rows; return them and the number of each one's bucket."""


class Regrouper(Protocol):
    """The two implementations, compiled and plain, of the same searches."""

    def gather(self, leaves: Nodes, visits: LevelVisits, rows: Ints, label: Ints, least: int) -> Gathering:
        """Begin to gather rows that have no label; `leaves` are those of all rows, tree by tree."""

    def partners(self, grouping: RowGroups, todo: Ints) -> tuple[Ints, Ints]:
        """Find for some groups the other group whose merger raises the loss least, and the rise."""

    def propose(self, grouping: RowGroups, todo: Ints, least: int) -> ChangePlans:
        """Find for some groups the change of places that lowers the loss most.

        Either one row moves to another group; or two rows are swapped; or all rows move; or the group is rebuilt around
        one of its members, from members and rows that other groups can spare, and the rest moves; or it is split. No
        group is left with fewer than `least` rows, except for none at all. The loss falls at least by the gain.
        """


def join_nodes(trees: Forest, nodes: Nodes, others: Nodes) -> Nodes:
    """Find the lowest nodes above pairs of nodes."""
    first, stop, parent, _ = trees
    result = np.array(np.broadcast_arrays(nodes, others)[0])
    while True:
        apart = np.nonzero((first[result] > first[others]) | (stop[result] < stop[others]))
        if not len(apart[0]):
            return result
        result[apart] = parent[result[apart]]


def list_transfers(grouping: RowGroups, todo: Ints, found: tuple[Ints, ...], targets: Ints, loans: Ints) -> ChangePlans:
    """Return which rows every plan moves where.

    `found` has per group the kind of the plan, the gain, the row that moves, where it goes, and who comes back in
    a swap; a group that is dissolved, split or rebuilt has its rows' targets in `targets`, in the order of
    `grouping.rows`, and in `loans` the rows that it borrows.
    """
    kind, gain, mover, place, back = found
    single, swapped = np.flatnonzero((kind == MOVE) | (kind == SWAP)), np.flatnonzero(kind == SWAP)
    gone = np.flatnonzero(kind >= DISSOLVE)
    lent = np.nonzero((loans >= 0) & (kind == REFORM)[:, None])
    sizes = grouping.sizes[todo[gone]]
    at = np.repeat(grouping.offsets[todo[gone]] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    aims, gone_each = targets[at], np.repeat(gone, sizes)
    aims = np.where(aims == FRESH, len(grouping.sizes) + gone_each, aims)
    return ChangePlans(
        kind,
        gain,
        plan=np.concatenate([single, swapped, gone_each, lent[0]]),
        row=np.concatenate([mover[single], back[swapped], grouping.rows[at], loans[lent]]),
        target=np.concatenate([place[single], todo[swapped], aims, todo[lent[0]]]),
    )


def list_spare_rows(grouping: RowGroups, least: int) -> Ints:
    """Find rows that groups larger than `least` can spare; of large groups and equal rows as many as are ever lent."""
    spare = grouping.sizes - least
    place = np.arange(len(grouping.rows)) - np.repeat(grouping.offsets[:-1], grouping.sizes)
    small = (grouping.prices > 0) & (spare > 0) & (grouping.sizes <= 4 * least)
    most = np.where(small, grouping.sizes, np.minimum(spare, MAX_SPARE_ROWS))
    return np.sort(grouping.rows[place < np.repeat(most, grouping.sizes)])


def choose_regrouper(rows: int) -> Regrouper:
    """Choose compiled loops for many rows, and NumPy if compiling would cost more than it saves."""
    if rows >= COMPILED_ROWS:
        from sfumato.tables.algorithms.local._compiled_regrouping import CompiledRegrouper

        return CompiledRegrouper()
    from sfumato.tables.algorithms.local._plain_regrouping import NumpyRegrouper

    return NumpyRegrouper()
