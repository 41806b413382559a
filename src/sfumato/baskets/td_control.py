"""TDControl: public items are generalized by one cut, and what still tells too much is suppressed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from sfumato.baskets.baskets import Baskets
from sfumato.baskets.coherence import Coherence
from sfumato.baskets.greedy_suppression import suppressed
from sfumato.baskets.item_tree import ItemTree
from sfumato.baskets.losing import losses_of
from sfumato.baskets.published import PublishedSets
from sfumato.baskets.rho_uncertainty import RhoUncertainty
from sfumato.baskets.sensitive_sets import sets_with_secrets
from sfumato.baskets.tree_search import TreeSearch
from sfumato.exceptions import InfeasibleError
from sfumato.kinds.search import KindRequest

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, repr=False)
class TDControl(TreeSearch):
    """Generalize public items, then suppress; the cut is opened from the root as long as that loses less.

    Sensitive items stay as they are. All public items begin as the root of the taxonomy. Level by level, nodes are
    replaced by their children; each time the items are suppressed whose sets break the promise, and the release with
    the least normalized certainty penalty is kept, an occurrence that is lost counting as 1. The search stops at the
    first level that loses more than the one before.

    Parameters
    ----------
    taxonomy : has every item as a leaf.
    """

    name = "td-control"
    reference = "Cao, Karras, Raissi, Tan: rho-uncertainty: inference-proof transaction anonymization (2010)"
    serves: ClassVar = (RhoUncertainty, Coherence)

    def find(self, request: KindRequest[PublishedSets]) -> Baskets:
        """Open the cut, suppress, and keep what loses least."""
        self.check(request.models)
        original = cast("Baskets", request.data)
        for model in request.models:
            sets_with_secrets(original, model.name)
        tree = ItemTree.of(self.taxonomy)
        best: Baskets | None = None
        least = np.inf
        for cut in _cuts(tree):
            try:
                tried = suppressed(_recoded(original, tree, cut), request.models)
            except InfeasibleError:
                continue
            loss = losses_of(tried, original)["ncp"]
            if loss > least:
                break
            if loss < least:
                best, least = tried, loss
        if best is None:
            raise InfeasibleError(
                "No cut keeps the promise without losing every sensitive item; choose a larger share."
            )
        return best


def _cuts(tree: ItemTree) -> list[Ints]:
    """Return the node of every leaf, for the cut at each level from the root down."""
    depth = np.zeros(len(tree.names), dtype=np.int64)
    for node in range(tree.root - 1, -1, -1):  # parents come after their children
        depth[node] = depth[tree.parents[node]] + 1
    cuts = [np.arange(tree.item_count)]
    for level in range(int(depth.max()) - 1, -1, -1):
        cuts.append(np.where(depth[cuts[-1]] > level, tree.parents[cuts[-1]], cuts[-1]))
    return cuts[::-1]


def _recoded(original: Baskets, tree: ItemTree, cut: Ints) -> Baskets:
    """Replace public items by their nodes; sensitive items stay."""
    leaf = tree.item_codes(original.items)
    node = np.where(original.is_sensitive, leaf, cut[leaf])
    marked = np.zeros(len(tree.names), dtype=np.bool_)
    marked[leaf[original.is_sensitive]] = True
    return Baskets.of_codes(
        node[original.codes],
        original.offsets,
        tree.names,
        is_sensitive=marked,
        origin=np.arange(len(original)),
        tree=tree,
    )
