"""Top-down partition: baskets are parted by what they hold below one node after the other, while parts stay large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from sfumato.core.algorithm import Request
from sfumato.transactions._ordering import label_identical
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.algorithms._generalization import (
    LeafOrderedTransactions,
    TaxonomyGeneralization,
    check_enough_transactions,
)
from sfumato.transactions.models.set_k_anonymity import SetKAnonymity
from sfumato.transactions.taxonomy import ItemTaxonomy
from sfumato.transactions.transactions import Transactions

Ints = npt.NDArray[np.int64]


class Part(NamedTuple):
    """Baskets that all become the same set of nodes, of which some may still be opened."""

    rows: Ints
    nodes: tuple[int, ...]
    shut: frozenset[int]


@dataclass(frozen=True, kw_only=True, repr=False)
class TopDownPartitioning(TaxonomyGeneralization):
    """Part baskets from the root of the taxonomy down, so that every set of nodes is published k times.

    All baskets begin as the root. Of a part, the node is opened whose children lose least: baskets are parted by which
    of the children they hold. Parts below k go back together, and keep the node; if they are fewer than k together, the
    smallest of the other parts goes back, too. A node that leaves no part of at least k is not opened.

    Parameters
    ----------
    taxonomy : has every item as a leaf.
    """

    name = "top-down-partition"
    reference = "He, Naughton: Anonymization of set-valued data via top-down, local generalization (2009)"
    supports: ClassVar = (SetKAnonymity,)

    def search(self, request: Request[PublishedTransactions]) -> Transactions:
        """Part baskets until no part can be parted."""
        self.check(request.models)
        original = cast("Transactions", request.data)
        k = max(cast("SetKAnonymity", model).k for model in request.models)
        check_enough_transactions(k, original)
        tree = ItemTaxonomy.from_taxonomy(self.taxonomy)
        placed = LeafOrderedTransactions(original, tree)
        opener = _Specializer(placed, k)
        waiting = [Part(np.arange(len(original)), (tree.root,), frozenset())]
        done: list[Part] = []
        while waiting:
            part = waiting.pop()
            opened = opener.specialize(part)
            (waiting if opened else done).extend(opened or [part])
        return _recode_parts(done, original, tree)


class _Specializer:
    """Opens one node of a part after the other."""

    def __init__(self, placed: LeafOrderedTransactions, k: int) -> None:
        self.placed, self.tree, self.k = placed, placed.tree, k
        kids: list[list[int]] = [[] for _ in self.tree.names]
        for node, parent in enumerate(self.tree.parents.tolist()):
            if parent >= 0:
                kids[parent].append(node)
        self.kids = [
            np.array(sorted(each, key=lambda node: self.tree.first_leaf[node]), dtype=np.int64) for each in kids
        ]

    def specialize(self, part: Part) -> list[Part]:
        """Open the node of the largest gain; return nothing if no node can be opened."""
        sets = self.placed.take(part.rows)
        codes, rows = sets.codes, np.repeat(np.arange(len(part.rows)), np.diff(sets.offsets))
        for node in self._by_gain(part, codes):
            held = (codes >= self.tree.first_leaf[node]) & (codes < self.tree.first_leaf[node] + self.tree.leaves[node])
            kids = self.kids[node]
            below = np.searchsorted(self.tree.first_leaf[kids], codes[held], side="right") - 1
            parts = self._split(part, rows[held], below, node)
            if parts:
                return parts
            part = part._replace(shut=part.shut | {node})
        return []

    def _by_gain(self, part: Part, codes: npt.NDArray[np.int32]) -> list[int]:
        """Return the nodes that may be opened, the one first whose children lose least compared with it."""
        gains = []
        sorted_codes = np.sort(codes)
        for node in part.nodes:
            kids = self.kids[node]
            if node in part.shut or not len(kids):
                continue
            ends = np.append(self.tree.first_leaf[kids], self.tree.first_leaf[node] + self.tree.leaves[node])
            counts = np.diff(np.searchsorted(sorted_codes, ends))
            gains.append((int((counts * (self.tree.penalty[node] - self.tree.penalty[kids])).sum()), -node))
        return [-node for _, node in sorted(gains, reverse=True)]

    def _split(self, part: Part, rows: Ints, below: Ints, node: int) -> list[Part]:
        """Part baskets by the children that they hold; nothing if no part is large enough."""
        width = len(self.kids[node])
        keys = np.unique(rows * width + below)
        offsets = np.searchsorted(keys // width, np.arange(len(part.rows) + 1))
        held = (keys % width).astype(np.int32)
        group = label_identical(held, offsets)
        sizes = np.bincount(group)
        order = np.argsort(sizes, kind="stable")
        back = int((sizes < self.k).sum())
        while back and back < len(sizes) and sizes[order[:back]].sum() < self.k:
            back += 1
        if back == len(sizes) or (back and sizes[order[:back]].sum() < self.k):
            return []
        stay = np.isin(group, order[:back])
        parts = [Part(part.rows[stay], part.nodes, part.shut | {node})] if back else []
        by_group = np.argsort(group, kind="stable")
        begins = np.concatenate([[0], np.cumsum(sizes)])
        others = tuple(each for each in part.nodes if each != node)
        for number in order[back:].tolist():
            members = by_group[begins[number] : begins[number + 1]]
            first = members[0]
            kids = self.kids[node][held[offsets[first] : offsets[first + 1]]]
            parts.append(Part(part.rows[members], others + tuple(kids.tolist()), part.shut))
        return parts


def _recode_parts(parts: list[Part], original: Transactions, tree: ItemTaxonomy) -> Transactions:
    """Give every basket the nodes of its part."""
    sizes = np.array([len(part.rows) for part in parts], dtype=np.int64)
    lengths = np.repeat([len(part.nodes) for part in parts], sizes)
    codes = np.concatenate([np.tile(np.array(part.nodes, dtype=np.int64), len(part.rows)) for part in parts])
    marked = np.zeros(len(tree.names), dtype=np.bool_)
    leaves = tree.item_codes(original.items)[original.is_sensitive]
    while len(leaves):
        marked[leaves] = True
        leaves = np.unique(tree.parents[leaves])
        leaves = leaves[leaves >= 0]
    return Transactions.from_codes(
        codes,
        np.concatenate([[0], np.cumsum(lengths)]),
        tree.names,
        within=tree.parents,
        is_sensitive=marked,
        origin=np.concatenate([part.rows for part in parts]),
        tree=tree,
    )
