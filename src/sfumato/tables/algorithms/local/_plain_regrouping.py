"""Rows regrouped with NumPy alone: the twin of the compiled loops, for small tables and for tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.tables.algorithms.local._regrouping import (
    DISSOLVE,
    FRESH,
    LARGEST,
    MAX_SPARE_ROWS,
    MOVE,
    NEAR,
    REFORM,
    SEEDS,
    SPLIT,
    STAY,
    SWAP,
    ChangePlans,
    Forest,
    Ints,
    LevelVisits,
    Nodes,
    RowGroups,
    join_nodes,
    list_spare_rows,
    list_transfers,
)

MAX_NODES = 1024
Flags = npt.NDArray[np.bool_]
NEVER = np.iinfo(np.int64).max // 4
NOWHERE = NEVER // 4096  # the rise for a row without another place: more than any other


class NumpyGathering:
    """Rows that wait for enough others under the same nodes."""

    def __init__(self, leaves: Nodes, visits: LevelVisits, rows: Ints, label: Ints, least: int) -> None:
        self._leaves, self._visits, self._label, self._least = leaves, visits, label, least
        self._left = [(rows, np.zeros(len(rows), dtype=np.uint64))]
        self._visit, self._dead = 0, len(leaves) + 1

    def finish(self, groups: int) -> int:
        """Merge all rows that can be merged, at every remaining visit; return the next number of a group."""
        while (step := self.step()) is not None:
            rows, bucket = step
            self._label[rows] = groups + bucket
            groups += int(bucket.max()) + 1
        return groups

    def step(self) -> tuple[Ints, Ints] | None:
        """Go on to the next visit that can merge rows; return them and the number of each one's bucket."""
        combination, limit, shared = self._visits.route
        while self._visit < len(limit):
            visit = self._visit
            self._visit += 1
            if shared[visit] >= self._dead:
                continue
            slots = self._visits.slots[combination[visit]]
            self._narrow(int(shared[visit]), slots)
            if self._dead > len(self._leaves):
                rows, bucket = self._buckets(slots, int(limit[visit]))
                if len(rows):
                    return rows, bucket
        return None

    def _narrow(self, begin: int, slots: Ints) -> None:
        """Keep those rows that share the nodes of more and more trees with enough others."""
        del self._left[begin + 1 :]
        self._dead = len(self._leaves) + 1
        for j in range(begin, len(slots)):
            rows, keys = self._left[j]
            waiting = self._label[rows] < 0
            rows, keys = rows[waiting], keys[waiting] + self._visits.marks[slots[j] + self._leaves[j, rows[waiting]]]
            _, bucket, counts = np.unique(keys, return_inverse=True, return_counts=True)
            kept = counts[bucket] >= self._least
            self._left.append((rows[kept], keys[kept]))
            if not kept.any():
                self._dead = j + 1
                return

    def _buckets(self, slots: Ints, limit: int) -> tuple[Ints, Ints]:
        rows, keys = self._left[-1]
        _, first, bucket = np.unique(keys, return_index=True, return_inverse=True)
        price = self._visits.costs[slots[:, None] + self._leaves[:, rows[first]]].sum(axis=0)
        cheap = np.flatnonzero(price <= limit)
        number = np.full(len(first), -1, dtype=np.int64)
        number[cheap[np.argsort(first[cheap])]] = np.arange(len(cheap))
        united = np.flatnonzero(number[bucket] >= 0)
        return rows[united], number[bucket[united]]


class _Trees:
    """Joins of nodes, looked up in a matrix if there are few nodes."""

    def __init__(self, trees: Forest) -> None:
        self._trees, self._table = trees, None
        nodes = len(trees[3])
        if nodes <= MAX_NODES:
            tree = np.cumsum(np.append(0, trees[2][:-1] < 0))
            one, other = np.nonzero(tree[:, None] == tree)
            self._table = np.zeros((nodes, nodes), dtype=np.int32)
            self._table[one, other] = join_nodes(trees, one.astype(np.int32), other.astype(np.int32))

    def joined(self, nodes: Nodes, others: Nodes) -> Nodes:
        """Find the lowest nodes above pairs of nodes."""
        return join_nodes(self._trees, nodes, others) if self._table is None else np.asarray(self._table[nodes, others])

    def prices(self, boxes: Nodes) -> Ints:
        """Sum the costs of the nodes of every box."""
        return np.asarray(self._trees[3][boxes].sum(axis=-1))


@dataclass(frozen=True, eq=False)
class _Index:
    """Boxes in lexical order, of named groups or rows."""

    trees: _Trees
    boxes: Nodes
    names: Ints
    sizes: Ints
    prices: Ints

    @classmethod
    def from_boxes(cls, trees: _Trees, boxes: Nodes, names: Ints, sizes: Ints) -> _Index:
        order = np.lexsort(boxes.T[::-1])
        return cls(trees, boxes[order], names[order], sizes[order], trees.prices(boxes[order]))

    def nearest(self, box: Nodes, weight: int, own: int, bound: int, most: int = NEAR) -> tuple[list[int], list[int]]:
        """Find what a box of some weight can join at the smallest rise of the loss, best first, and the rises."""
        together = self.trees.prices(self.trees.joined(self.boxes, box))
        rise = weight * (together - self.trees.prices(box)) + self.sizes * (together - self.prices)
        able = np.flatnonzero((rise < bound) & (self.names != own))
        best = able[np.argsort(rise[able], kind="stable")[:most]]
        return self.names[best].tolist(), rise[best].tolist()


class NumpyRegrouper:
    """Search with NumPy."""

    def gather(self, leaves: Nodes, visits: LevelVisits, rows: Ints, label: Ints, least: int) -> NumpyGathering:
        """Begin to gather rows that have no label."""
        return NumpyGathering(leaves, visits, rows, label, least)

    def partners(self, grouping: RowGroups, todo: Ints) -> tuple[Ints, Ints]:
        """Find for some groups the other group whose merger raises the loss least, and the rise."""
        index = _index_groups(grouping, _Trees(grouping.trees))
        found = [index.nearest(grouping.box[g], int(grouping.sizes[g]), g, NEVER, 1) for g in todo.tolist()]
        return np.array([names[0] for names, _ in found]), np.array([rises[0] for _, rises in found])

    def propose(self, grouping: RowGroups, todo: Ints, least: int) -> ChangePlans:
        """Find for some groups the best way to move, swap, dissolve or rebuild them."""
        rows, trees = list_spare_rows(grouping, least), _Trees(grouping.trees)
        spare = _Index.from_boxes(trees, grouping.leaves[rows], rows, np.ones_like(rows))
        index = _index_groups(grouping, trees)
        plans = [_Planner(grouping, index, spare, least, group) for group in todo.tolist()]
        found = np.array([plan.search() for plan in plans], dtype=np.int64).reshape(-1, 5)
        targets, loans = np.full(len(grouping.rows), -1, dtype=np.int64), np.full((len(todo), MAX_SPARE_ROWS), -1)
        for t, plan in enumerate(plans):
            targets[grouping.offsets[plan.group] : grouping.offsets[plan.group + 1]] = plan.aims
            loans[t, : len(plan.loans)] = plan.loans
        return list_transfers(grouping, todo, tuple(found.T), targets, loans)


def _index_groups(grouping: RowGroups, trees: _Trees) -> _Index:
    filled = np.flatnonzero(grouping.sizes)
    return _Index.from_boxes(trees, grouping.box[filled], filled, grouping.sizes[filled])


class _Planner:
    """The search for the best change of one group."""

    def __init__(self, grouping: RowGroups, index: _Index, spare: _Index, least: int, group: int) -> None:
        self.grouping, self.index, self.spare, self.least, self.group = grouping, index, spare, least, group
        self.trees, self.members = index.trees, self._rows(group)
        self.size = len(self.members)
        self.have = self.size * int(grouping.prices[group])
        self.best = (STAY, 0, 0, 0, 0)
        self.aims = np.full(self.size, -1, dtype=np.int64)
        self.leave = np.full(self.size, NOWHERE, dtype=np.int64)
        self.loans: list[int] = []

    def search(self) -> tuple[int, int, int, int, int]:
        """Return the kind of the best plan, its gain, the row that moves, where it goes, and who comes back."""
        for i in range(self.size):
            self._plan_row(i)
        if self.aims.min() >= 0:
            self._better(DISSOLVE, self.have - self._leaving_cost(self.aims))
        chosen = self.aims
        seeds = range(0, self.size, (self.size + SEEDS - 1) // SEEDS)
        for seed in seeds if self.size >= 2 * self.least else ():
            loss, keep = self._split_off(seed)
            if self._better(SPLIT, self.have - loss):
                chosen = np.where(keep, FRESH, self.group)
        for seed in seeds if self.size <= LARGEST else ():
            chosen = self._plan_anew(seed, chosen)
        self.aims = chosen
        return self.best

    def _better(self, kind: int, gain: int, row: int = 0, place: int = 0, back: int = 0) -> bool:
        better = gain > self.best[1]
        if better:
            self.best = (kind, gain, row, place, back)
        return better

    def _plan_row(self, i: int) -> None:
        """Find the best move or swap of one member."""
        row, g = int(self.members[i]), self.grouping
        near, rises = self.index.nearest(g.leaves[row], 1, self.group, self.have)
        if not near:
            return
        self.aims[i], self.leave[i] = near[0], rises[0]
        rest = self._box(np.delete(self.members, i))
        if self.size > self.least:
            left = self.have - (self.size - 1) * int(self.trees.prices(rest))
            self._better(MOVE, left - rises[0], row, near[0])
        for other in near:
            if max(self.size, g.sizes[other]) <= LARGEST:
                theirs = self._rows(other)
                mine = self.size * self.trees.prices(self.trees.joined(rest, g.leaves[theirs]))
                changed = np.tile(theirs, (len(theirs), 1))
                np.fill_diagonal(changed, row)
                both = self.have + int(g.sizes[other] * g.prices[other])
                gain = both - mine - len(theirs) * self.trees.prices(self._box(changed))
                best = int(np.argmax(gain))
                self._better(SWAP, int(gain[best]), row, other, int(theirs[best]))

    def _plan_anew(self, seed: int, chosen: Ints) -> Ints:
        """Try to rebuild the group around a member; return the targets of all, unchanged if that is not better."""
        loss, keep, lent = self._form_around(seed)
        if self.have - loss <= self.best[1]:
            return chosen
        trial = np.where(keep, self.group, self.aims)
        loss += self._leaving_cost(trial) - int(self.leave[~keep].sum())
        if not self._better(REFORM, self.have - loss):
            return chosen
        self.loans = lent
        return trial

    def _split_off(self, seed: int) -> tuple[int, Flags]:
        """Split off the members nearest to one of them, as many as a group needs; return the loss of both parts."""
        leaves = self.grouping.leaves[self.members]
        keep, current = np.arange(self.size) == seed, leaves[seed]
        while keep.sum() < self.least:
            prices = np.where(keep, NEVER, self.trees.prices(self.trees.joined(current, leaves)))
            chosen = int(np.argmin(prices))
            keep[chosen], current = True, self.trees.joined(current, leaves[chosen])
        rest = self._box(self.members[~keep])
        return self.least * int(self.trees.prices(current)) + int((~keep).sum() * self.trees.prices(rest)), keep

    def _form_around(self, seed: int) -> tuple[int, Flags, list[int]]:
        g, inside, current = self.grouping, 1, self.grouping.leaves[self.members[seed]]
        keep, lent = np.arange(self.size) == seed, list[int]()
        loss = int(self.leave.sum() - self.leave[seed])
        while True:
            best, taken, row = NEVER if inside < self.least else 0, -1, -1
            prices = self.trees.prices(self.trees.joined(current, g.leaves[self.members]))
            more = np.where(keep, NEVER, (inside + 1) * prices - inside * self.trees.prices(current) - self.leave)
            if more.min() < best:
                taken = int(np.argmin(more))
                best, row = int(more[taken]), int(self.members[taken])
            if inside < self.least and len(lent) < MAX_SPARE_ROWS:
                bound = best + int(g.prices[self.group])
                for name, rise in zip(*self.spare.nearest(current, inside, -1, bound), strict=True):
                    net = rise - int(g.prices[g.label[name]])
                    if net < best and self._can_spare(name, lent):
                        best, taken, row = net, -1, name
            if row < 0:
                return (loss if inside >= self.least else NEVER), keep, lent
            if taken >= 0:
                keep[taken] = True
            else:
                lent.append(row)
            current = self.trees.joined(current, g.leaves[row])
            inside += 1
            loss += best

    def _can_spare(self, row: int, lent: list[int]) -> bool:
        source = int(self.grouping.label[row])
        spare = int(self.grouping.sizes[source]) - self.least - sum(self.grouping.label[r] == source for r in lent)
        return source != self.group and row not in lent and spare > 0

    def _leaving_cost(self, targets: Ints) -> int:
        """Return how much the loss rises when members join their targets, several perhaps the same."""
        g, total = self.grouping, 0
        for target in set(targets.tolist()) - {self.group}:
            joining = np.concatenate([self._rows(target), self.members[targets == target]])
            total += len(joining) * int(self.trees.prices(self._box(joining))) - int(g.sizes[target] * g.prices[target])
        return total

    def _rows(self, group: int) -> Ints:
        return self.grouping.rows[self.grouping.offsets[group] : self.grouping.offsets[group + 1]]

    def _box(self, rows: Ints) -> Nodes:
        """Find the box of some rows, or of each of several sets of rows."""
        leaves = self.grouping.leaves[rows]
        return self.trees.joined(leaves.min(axis=-2), leaves.max(axis=-2))
