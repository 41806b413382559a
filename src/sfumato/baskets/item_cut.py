"""A cut of an item tree: one node for every item, moved up until rare sets of items are gone."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sfumato.baskets.baskets import Transactions
from sfumato.baskets.item_tree import ItemTaxonomy
from sfumato.coding.code_sets import distinct_codes_by_group
from sfumato.coding.item_sets import CutState, ItemsetCounter

Ints = npt.NDArray[np.int64]


class LeafOrderedTransactions:
    """Baskets whose codes are places of leaves of a tree, in an order where every node is a run of leaves.

    Parameters
    ----------
    baskets : the original.
    tree : has every item of them as a leaf.
    """

    def __init__(self, baskets: Transactions, tree: ItemTaxonomy) -> None:
        places = tree.leaf_position[tree.item_codes(baskets.items)][baskets.codes]
        self.offsets, codes = distinct_codes_by_group(baskets.rows, places, len(baskets), tree.item_count)
        self.codes = codes.astype(np.int32)
        self.tree = tree

    def take(self, rows: Ints) -> LeafOrderedTransactions:
        """Return some of the baskets."""
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        at = np.repeat(self.offsets[:-1][rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return self._like(self.codes[at], offsets, self.tree)

    def project_to(self, node: int) -> LeafOrderedTransactions:
        """Return all baskets cut down to the leaves of a node, in a tree where nothing is above it."""
        first, end = self.tree.first_leaf[node], self.tree.first_leaf[node] + self.tree.leaves[node]
        kept = (self.codes >= first) & (self.codes < end)
        offsets = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        return self._like(self.codes[kept], offsets, self.tree.without_parent(node))

    @classmethod
    def _like(cls, codes: npt.NDArray[np.int32], offsets: Ints, tree: ItemTaxonomy) -> LeafOrderedTransactions:
        made = cls.__new__(cls)
        made.codes, made.offsets, made.tree = codes, offsets, tree
        return made


class TaxonomyCut:
    """One node above every leaf, chosen so that the nodes part the leaves.

    Parameters
    ----------
    placed : the baskets that are recoded; how often each item occurs there determines what a raise costs.
    above : the node above every leaf, by its place; by default the leaf itself.
    """

    def __init__(self, placed: LeafOrderedTransactions, above: Ints | None = None) -> None:
        self.placed, self.tree = placed, placed.tree
        leaf_at = np.empty(self.tree.item_count, dtype=np.int64)
        leaf_at[self.tree.leaf_position] = np.arange(self.tree.item_count)
        self.above = leaf_at if above is None else above.copy()
        self._uses = np.bincount(placed.codes, minlength=self.tree.item_count).astype(np.int64)
        self._weight = self._below(self._uses)
        self._paid = self._below(self._uses * self.tree.penalty[self.above])

    def _below(self, values: Ints) -> Ints:
        """Sum values of leaves over every node."""
        sums = np.concatenate([[0], np.cumsum(values)])
        return np.asarray(sums[self.tree.first_leaf + self.tree.leaves] - sums[self.tree.first_leaf])

    @property
    def loss(self) -> float:
        """The mean normalized certainty penalty of all original occurrences."""
        paid = int((self._uses * self.tree.penalty[self.above]).sum())
        return paid / (max(len(self.placed.codes), 1) * self.tree.item_count)

    @property
    def nodes(self) -> Ints:
        """The nodes of the cut, in the order of their leaves."""
        return self.above[np.flatnonzero(np.diff(self.above, prepend=-1))]

    def recode(self) -> tuple[ItemsetCounter, Ints]:
        """Return the baskets under the cut, as sets of ranks of nodes, and the rank of every leaf."""
        from sfumato.coding.kernels import item_sets as kernel

        ranks = np.cumsum(np.diff(self.above, prepend=self.above[:1]) != 0)
        kept = np.empty(len(self.placed.codes), dtype=np.int32)
        ends = np.empty(len(self.placed.offsets), dtype=np.int64)
        kernel.recode(self.placed.codes, self.placed.offsets, ranks, kept, ends)
        return ItemsetCounter(kept[: ends[-1]], ends, int(ranks[-1]) + 1), ranks

    def generalize_rare(self, sizes: Iterable[int], k: int) -> bool:
        """Raise a node of every rare set of these sizes that no other raise touched; return whether any was raised."""
        sets, rank_of = self.recode()
        nodes = self.nodes
        tree = self.tree.parents, self.tree.first_leaf, self.tree.leaves, self.tree.penalty
        raises, stale = np.zeros(1, dtype=np.int64), np.zeros(sets.items, dtype=np.bool_)
        cut = self.above, self._paid, self._weight, stale, rank_of, raises
        order = np.argsort(sets.supports, kind="stable")
        for size in sizes:
            sets.generalize_rare(size, k, CutState(nodes, tree, cut), order)
        return bool(raises[0])
