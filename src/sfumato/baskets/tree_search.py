"""What all searches have in common that generalize items by a taxonomy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from sfumato.baskets.baskets import Transactions
from sfumato.baskets.item_cut import LeafOrderedTransactions, TaxonomyCut
from sfumato.baskets.item_tree import ItemTaxonomy, balanced_taxonomy
from sfumato.baskets.km_anonymity import KmAnonymity
from sfumato.baskets.published import PublishedTransactions
from sfumato.exceptions import InfeasibleError
from sfumato.hierarchies.settings import builder_from_dict
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.kinds.promise import Model
from sfumato.kinds.search import Algorithm, Request
from sfumato.validation import require

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, repr=False)
class TaxonomyGeneralization(Algorithm[PublishedTransactions]):
    """A search that generalizes items.

    Parameters
    ----------
    taxonomy : has every item as a leaf; `sf.baskets.balanced_taxonomy` makes one where people made none.
    """

    supports: ClassVar[tuple[type[Model[Any]], ...]] = (KmAnonymity,)

    taxonomy: Taxonomy

    def __post_init__(self) -> None:
        given: Any = self.taxonomy
        taxonomy = builder_from_dict(given) if isinstance(given, Mapping) else given
        require(
            isinstance(taxonomy, Taxonomy), self, "taxonomy", "an sf.Taxonomy of the items", type(taxonomy).__name__
        )
        object.__setattr__(self, "taxonomy", taxonomy)

    @classmethod
    def usual(cls, data: Any) -> Self:
        """Return the search with a balanced taxonomy of the items."""
        return cls(taxonomy=balanced_taxonomy(getattr(data, "baskets", data).items))

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
