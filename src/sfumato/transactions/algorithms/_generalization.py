"""A cut of an item tree: one node for every item, moved up until rare sets of items are gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from sfumato._validation import require
from sfumato.core._kernels.code_sets import distinct_codes_by_group
from sfumato.core.algorithm import Algorithm, Request
from sfumato.core.model import Model
from sfumato.errors import InfeasibleError
from sfumato.hierarchies._settings import builder_from_dict
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.transactions._itemsets import CutState, ItemsetCounter
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.models.km_anonymity import KmAnonymity
from sfumato.transactions.taxonomy import ItemTaxonomy, balanced_taxonomy
from sfumato.transactions.transactions import Transactions

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
        from sfumato.transactions._kernels import itemsets as kernel

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


# What all searches have in common that generalize items by a taxonomy.


@dataclass(frozen=True, kw_only=True, repr=False)
class TaxonomyGeneralization(Algorithm[PublishedTransactions]):
    """A search that generalizes items.

    Parameters
    ----------
    taxonomy : has every item as a leaf; `sf.transactions.balanced_taxonomy` makes one where people made none.
    """

    supports: ClassVar[tuple[type[Model[Any]], ...]] = (KmAnonymity,)

    taxonomy: Taxonomy

    def __post_init__(self) -> None:
        given: Any = self.taxonomy
        taxonomy = builder_from_dict(given) if isinstance(given, Mapping) else given
        require(
            isinstance(taxonomy, Taxonomy),
            self,
            "taxonomy",
            "an sf.hierarchies.Taxonomy of the items",
            type(taxonomy).__name__,
        )
        object.__setattr__(self, "taxonomy", taxonomy)

    @classmethod
    def usual(cls, data: Any) -> Self:
        """Return the search with a balanced taxonomy of the items."""
        return cls(taxonomy=balanced_taxonomy(getattr(data, "transactions", data).items))

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as plain values, the taxonomy as a recipe holds it."""
        return {**super().parameters(), "taxonomy": self.taxonomy.to_dict()}

    def __repr__(self) -> str:
        others = [f"{name}={value!r}" for name, value in super().parameters().items() if name != "taxonomy"]
        return f"{type(self).__name__}({', '.join([f'taxonomy={self.taxonomy!r}', *others])})"

    def prepare(
        self, request: Request[PublishedTransactions]
    ) -> tuple[Transactions, LeafOrderedTransactions, int, int]:
        """Return the original, its codes in the order of the tree, and the strictest k and m that are promised."""
        self.check(request.models)
        original = cast("Transactions", request.data)
        promised = [cast("KmAnonymity", model) for model in request.models]
        k, m = max(each.k for each in promised), max(each.m for each in promised)
        check_enough_transactions(k, original)
        return original, LeafOrderedTransactions(original, ItemTaxonomy.from_taxonomy(self.taxonomy)), k, m


def check_enough_transactions(k: int, baskets: Transactions) -> None:
    """Refuse to hide persons among more than there are."""
    if k > len(baskets):
        raise InfeasibleError(
            f"k is {k:,}, but there are only {len(baskets):,} baskets with items; choose a smaller k."
        )


def generalize_until_anonymous(cut: TaxonomyCut, k: int, m: int) -> None:
    """Raise a cut until every set of at most m nodes that occurs is in at least k baskets, size by size."""
    for size in range(1, m + 1):
        while cut.generalize_rare([size], k):
            continue


def recode_by_cuts(
    cuts: Sequence[TaxonomyCut], rows: Sequence[Ints], original: Transactions, tree: ItemTaxonomy
) -> Transactions:
    """Return baskets whose items are the nodes of cuts, one cut for each part of the rows."""
    parts = [cut.recode() for cut in cuts]
    codes = [cut.nodes[sets.codes] for cut, (sets, _) in zip(cuts, parts, strict=True)]
    lengths = np.concatenate([np.diff(sets.offsets) for sets, _ in parts])
    marked = np.zeros(len(tree.names), dtype=np.bool_)
    leaves = tree.item_codes(original.items)[original.is_sensitive]
    while len(leaves):
        marked[leaves] = True
        leaves = np.unique(tree.parents[leaves])
        leaves = leaves[leaves >= 0]
    return Transactions.from_codes(
        np.concatenate(codes),
        np.concatenate([[0], np.cumsum(lengths)]),
        tree.names,
        within=tree.parents,
        is_sensitive=marked,
        origin=np.concatenate(list(rows)),
        tree=tree,
    )
