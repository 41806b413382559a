"""The hierarchies of all quasi-identifiers as one forest of numbered nodes with whole-number costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.encoding.coded_table import CodedColumn
from sfumato.tables.algorithms.full_domain._lattice import LevelMap
from sfumato.tables.algorithms.local._regrouping import Forest, Ints, Nodes
from sfumato.tables.published.solution import RecodedAttribute

Lookup = tuple[Nodes, Ints, Ints, Ints]
UNIT = 10**8  # the cost of a cell that may be anything; whole numbers make sums exact in any order


@dataclass(frozen=True, eq=False)
class HierarchyForest:
    """One tree per quasi-identifier, those first whose values are most expensive to generalize.

    Nodes of all trees and levels are numbered consecutively. A leaf's number is also its position, and node x covers
    the leaves `first[x] ... stop[x] - 1`; `parent[x]` is the node above (-1 above a root). `cost[x]` is what the
    measure `Loss` charges for a cell that shows x, times `UNIT`. `columns` says which quasi-identifier each tree
    belongs to, `leaves` the number of its first leaf, and `levels` the numbers of the first nodes of its levels.
    """

    ladders: tuple[LevelMap, ...]
    columns: tuple[int, ...]
    leaves: Ints
    levels: tuple[Ints, ...]
    first: Nodes
    stop: Nodes
    parent: Nodes
    cost: Ints

    @classmethod
    def of(cls, quasi: Sequence[CodedColumn]) -> HierarchyForest:
        """Build the trees of quasi-identifiers."""
        ladders = [LevelMap.of(column.domain) for column in quasi]
        steps = [_first_step(ladder, column) for ladder, column in zip(ladders, quasi, strict=True)]
        columns = tuple(sorted(range(len(quasi)), key=lambda j: -steps[j]))
        chosen = tuple(ladders[j] for j in columns)
        widths = [ladder.widths for ladder in chosen]
        bounds = np.concatenate([[0], np.cumsum([sum(each) for each in widths])]).astype(np.int64)
        levels = tuple(
            start + np.concatenate([[0], np.cumsum(each)[:-1]]).astype(np.int64)
            for start, each in zip(bounds[:-1], widths, strict=True)
        )
        pieces = [_tree(ladder, starts) for ladder, starts in zip(chosen, levels, strict=True)]
        first, stop, parent = (np.concatenate([piece[i] for piece in pieces]).astype(np.int32) for i in range(3))
        cost = np.concatenate([piece[3] for piece in pieces])
        return cls(chosen, columns, bounds[:-1], levels, first, stop, parent, cost)

    def __len__(self) -> int:
        return len(self.ladders)

    def places(self, quasi: Sequence[CodedColumn]) -> Nodes:
        """Return the leaves of every row, one column per tree."""
        found = [quasi[j].codes + self.leaves[i] for i, j in enumerate(self.columns)]
        return np.ascontiguousarray(np.stack(found, axis=1), dtype=np.int32)

    @property
    def forest(self) -> Forest:
        """The arrays that searches work on."""
        return self.first, self.stop, self.parent, self.cost

    @property
    def lookup(self) -> Lookup:
        """The node above every leaf on every level, where each level begins, the number of levels, and the costs."""
        sizes = [len(ladder.levels) * [len(ladder.levels[0])] for ladder in self.ladders]
        heights = np.array([len(each) for each in sizes])
        begin = np.cumsum([0, *(size for each in sizes for size in each)])[:-1]
        start = np.zeros((len(sizes), heights.max()), dtype=np.int64)
        start[np.arange(heights.max()) < heights[:, None]] = begin
        nodes = [
            self.levels[j][h] + each for j, ladder in enumerate(self.ladders) for h, each in enumerate(ladder.levels)
        ]
        return np.concatenate(nodes).astype(np.int32), start, heights, self.cost

    def recode(self, tree: int, nodes: Nodes) -> RecodedAttribute:
        """Publish the label of its node for every group."""
        shown, by_group = np.unique(nodes, return_inverse=True)
        level = np.searchsorted(self.levels[tree], shown, side="right") - 1
        texts = {int(h): self.ladders[tree].labels(int(h)) for h in np.unique(level)}
        places = (shown - self.levels[tree][level]).tolist()
        labels = [texts[h][place] for h, place in zip(level.tolist(), places, strict=True)]
        number = {label: i for i, label in enumerate(dict.fromkeys(labels))}  # two nodes may have one label, as `*`
        of_node = np.array([number[label] for label in labels], dtype=np.int32)
        return RecodedAttribute(tuple(number), of_node[by_group.ravel()])


def _tree(ladder: LevelMap, starts: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the covered positions, the parent and the cost of every node of one tree, level by level."""
    first, stop, parent = [], [], []
    for level, nodes in enumerate(ladder.levels):
        numbers = np.arange(ladder.widths[level])
        first.append(np.searchsorted(nodes, numbers) + starts[0])
        stop.append(np.searchsorted(nodes, numbers, side="right") + starts[0])
        above = ladder.step(level, level + 1) + starts[level + 1] if level < ladder.height else np.array([-1])
        parent.append(above)
    cost = np.concatenate([_costs(ladder, level) for level in range(ladder.height + 1)])
    return np.concatenate(first), np.concatenate(stop), np.concatenate(parent), cost


def _costs(ladder: LevelMap, level: int) -> Ints:
    """Charge for every node of a level as the measure `Loss` does."""
    leaves = len(ladder.domain)
    if leaves < 2 or level == 0:  # noqa: PLR2004 - one value tells nothing, so nothing can be lost
        return np.zeros(ladder.widths[level], dtype=np.int64)
    return np.rint(UNIT * (ladder.shares[level] - 1 / leaves) / (1 - 1 / leaves)).astype(np.int64)


def _first_step(ladder: LevelMap, column: CodedColumn) -> float:
    """Average what it costs to generalize a value that occurs by one level."""
    present = np.unique(column.codes)
    return float(_costs(ladder, 1)[ladder.levels[1][present]].mean())
