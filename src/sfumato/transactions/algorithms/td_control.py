"""TDControl: public items are generalized by one cut, and what still tells too much is suppressed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from sfumato.core.algorithm import Request
from sfumato.errors import InfeasibleError
from sfumato.transactions._coverage import information_loss
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.algorithms._generalization import TaxonomyGeneralization
from sfumato.transactions.algorithms.greedy_suppression import suppress_violating_items
from sfumato.transactions.models._base import with_sensitive_items
from sfumato.transactions.models.coherence import Coherence
from sfumato.transactions.models.rho_uncertainty import RhoUncertainty
from sfumato.transactions.taxonomy import ItemTaxonomy
from sfumato.transactions.transactions import Transactions

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, repr=False)
class TDControl(TaxonomyGeneralization):
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
    supports: ClassVar = (RhoUncertainty, Coherence)

    def search(self, request: Request[PublishedTransactions]) -> Transactions:
        """Open the cut, suppress, and keep what loses least."""
        self.check(request.models)
        original = cast("Transactions", request.data)
        for model in request.models:
            with_sensitive_items(original, model.name)
        tree = ItemTaxonomy.from_taxonomy(self.taxonomy)
        best: Transactions | None = None
        least = np.inf
        for cut in _level_cuts(tree):
            try:
                tried = suppress_violating_items(_recode_public_items(original, tree, cut), request.models)
            except InfeasibleError:
                continue
            loss = information_loss(tried, original)["ncp"]
            if loss > least:
                break
            if loss < least:
                best, least = tried, loss
        if best is None:
            raise InfeasibleError(
                "No cut keeps the promise without losing every sensitive item; choose a larger share."
            )
        return best


def _level_cuts(tree: ItemTaxonomy) -> list[Ints]:
    """Return the node of every leaf, for the cut at each level from the root down."""
    depth = np.zeros(len(tree.names), dtype=np.int64)
    for node in range(tree.root - 1, -1, -1):  # parents come after their children
        depth[node] = depth[tree.parents[node]] + 1
    cuts = [np.arange(tree.item_count)]
    for level in range(int(depth.max()) - 1, -1, -1):
        cuts.append(np.where(depth[cuts[-1]] > level, tree.parents[cuts[-1]], cuts[-1]))
    return cuts[::-1]


def _recode_public_items(original: Transactions, tree: ItemTaxonomy, cut: Ints) -> Transactions:
    """Replace public items by their nodes; sensitive items stay."""
    leaf = tree.item_codes(original.items)
    node = np.where(original.is_sensitive, leaf, cut[leaf])
    marked = np.zeros(len(tree.names), dtype=np.bool_)
    marked[leaf[original.is_sensitive]] = True
    return Transactions.from_codes(
        node[original.codes],
        original.offsets,
        tree.names,
        is_sensitive=marked,
        origin=np.arange(len(original)),
        tree=tree,
    )
