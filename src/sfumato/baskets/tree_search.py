"""What all searches have in common that generalize items by a taxonomy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from sfumato.baskets.baskets import Baskets
from sfumato.baskets.item_cut import ItemCut, PlacedBaskets
from sfumato.baskets.item_tree import ItemTree, balanced
from sfumato.baskets.km_anonymity import KMAnonymity
from sfumato.baskets.published import PublishedSets
from sfumato.exceptions import InfeasibleError
from sfumato.hierarchies.settings import builder_from_dict
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.kinds.promise import KindPromise
from sfumato.kinds.search import KindRequest, KindSearch
from sfumato.validation import require

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, repr=False)
class TreeSearch(KindSearch[PublishedSets]):
    """A search that generalizes items.

    Parameters
    ----------
    taxonomy : has every item as a leaf; `sf.baskets.balanced` makes one where people made none.
    """

    serves: ClassVar[tuple[type[KindPromise[Any]], ...]] = (KMAnonymity,)

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
        return cls(taxonomy=balanced(getattr(data, "baskets", data).items))

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as plain values, the taxonomy as a recipe holds it."""
        return {**super().parameters(), "taxonomy": self.taxonomy.to_dict()}

    def __repr__(self) -> str:
        others = [f"{name}={value!r}" for name, value in super().parameters().items() if name != "taxonomy"]
        return f"{type(self).__name__}({', '.join([f'taxonomy={self.taxonomy!r}', *others])})"

    def begin(self, request: KindRequest[PublishedSets]) -> tuple[Baskets, PlacedBaskets, int, int]:
        """Return the original, its codes in the order of the tree, and the strictest k and m that are promised."""
        self.check(request.models)
        original = cast("Baskets", request.data)
        promised = [cast("KMAnonymity", model) for model in request.models]
        k, m = max(each.k for each in promised), max(each.m for each in promised)
        refuse_few(k, original)
        return original, PlacedBaskets(original, ItemTree.of(self.taxonomy)), k, m


def refuse_few(k: int, baskets: Baskets) -> None:
    """Refuse to hide persons among more than there are."""
    if k > len(baskets):
        raise InfeasibleError(
            f"k is {k:,}, but there are only {len(baskets):,} baskets with items; choose a smaller k."
        )


def raise_until_kept(cut: ItemCut, k: int, m: int) -> None:
    """Raise a cut until every set of at most m nodes that occurs is in at least k baskets, size by size."""
    for size in range(1, m + 1):
        while cut.raise_rare([size], k):
            continue


def recoded_by(cuts: Sequence[ItemCut], rows: Sequence[Ints], original: Baskets, tree: ItemTree) -> Baskets:
    """Return baskets whose items are the nodes of cuts, one cut for each part of the rows."""
    parts = [cut.recoded() for cut in cuts]
    codes = [cut.nodes[sets.codes] for cut, (sets, _) in zip(cuts, parts, strict=True)]
    lengths = np.concatenate([np.diff(sets.offsets) for sets, _ in parts])
    marked = np.zeros(len(tree.names), dtype=np.bool_)
    leaves = tree.item_codes(original.items)[original.is_sensitive]
    while len(leaves):
        marked[leaves] = True
        leaves = np.unique(tree.parents[leaves])
        leaves = leaves[leaves >= 0]
    return Baskets.of_codes(
        np.concatenate(codes),
        np.concatenate([[0], np.cumsum(lengths)]),
        tree.names,
        within=tree.parents,
        is_sensitive=marked,
        origin=np.concatenate(list(rows)),
        tree=tree,
    )
