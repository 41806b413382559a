"""Blocks of nearby records, as a tree: cut in two while both halves stay l-eligible and large enough."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from sfumato.coding.cutting.axes import Axes
from sfumato.coding.cutting.partition import NO_CUT, Cuts, CuttingRule, Ints, Records, choose_cutter, find_allowed_cuts
from sfumato.coding.ordering import stable_argsort


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
