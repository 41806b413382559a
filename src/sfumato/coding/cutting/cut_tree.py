"""A tree of cuts, which says for every row of a table that is read in batches to which segment it belongs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.exceptions import InvalidParameterError

Ints = npt.NDArray[np.int64]
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
        from sfumato.coding.kernels.descending import descend

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
