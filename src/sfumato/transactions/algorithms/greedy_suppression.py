"""Greedy suppression: items leave all baskets, those first that break most and are missed least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from sfumato.core.algorithm import Algorithm, Request
from sfumato.core.model import Model
from sfumato.errors import InfeasibleError, SchemaError
from sfumato.transactions._itemsets import ItemsetCounter, restrict_items
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.algorithms._generalization import check_enough_transactions
from sfumato.transactions.models._base import with_sensitive_items
from sfumato.transactions.models.coherence import Coherence
from sfumato.transactions.models.lkc_privacy import LKCPrivacy
from sfumato.transactions.models.rho_uncertainty import RhoUncertainty
from sfumato.transactions.transactions import Transactions

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, repr=False)
class GreedySuppression(Algorithm[PublishedTransactions]):
    """Remove items from all baskets until no known items tell too much.

    Sets of one item are judged first, then sets of two, and so on. Among the items of the sets that break the promise,
    the one goes that is in most of them for each occurrence that is lost. Only public items are removed for coherence
    and LKC-privacy, any items for rho-uncertainty. What is removed changes no support of other sets, so each size is
    done once. Of rows of a table, this suppresses values.
    """

    name = "greedy-suppression"
    reference = "Xu, Wang, Fu, Yu (2008); Cao, Karras, Raissi, Tan (2010)"
    supports: ClassVar = (Coherence, LKCPrivacy, RhoUncertainty)

    def search(self, request: Request[PublishedTransactions]) -> Transactions:
        """Remove items until all models are kept."""
        self.check(request.models)
        return suppress_violating_items(cast("Transactions", request.data), request.models)


def suppress_violating_items(baskets: Transactions, models: Sequence[Model[Any]]) -> Transactions:
    """Return baskets without the items whose sets break a promise."""
    kept, marked = np.ones(len(baskets.items), dtype=np.bool_), baskets.is_sensitive
    for model in models:
        check_enough_transactions(int(model.parameters().get("k", model.parameters().get("K", 1))), baskets)
        _, sets = with_sensitive_items(baskets, model.name)
        if isinstance(model, LKCPrivacy) and not np.array_equal(model.sensitive_items(baskets), marked):
            raise SchemaError(
                f"Mark the values of {model.sensitive!r} alone as sensitive, by sf.transactions.transactions_from_rows."
            )
        for size in range(1, _max_known_items(model, baskets) + 1):
            left = restrict_items(sets, kept)
            longest = int(np.diff(left.offsets).max(initial=0))
            if longest < size or not kept[marked].any():
                break
            found = cast("Coherence | LKCPrivacy | RhoUncertainty", model).violations(left, marked, size).listed
            public = isinstance(model, Coherence | LKCPrivacy)
            kept[_greedy_cover(found[:, :size] if public else found, left.supports)] = False
    if not kept[marked].any():
        raise InfeasibleError("The promise would remove every sensitive item; choose a larger share, or publish none.")
    left = restrict_items(ItemsetCounter(baskets.codes, baskets.offsets, len(baskets.items)), kept)
    rows, tree = np.arange(len(baskets)) if baskets.origin is None else baskets.origin, baskets.tree
    return Transactions.from_codes(left.codes, left.offsets, baskets.items, is_sensitive=marked, origin=rows, tree=tree)


def _max_known_items(model: Model[Any], baskets: Transactions) -> int:
    """Return the size of the largest sets that an adversary may know."""
    if isinstance(model, Coherence):
        return model.p
    if isinstance(model, LKCPrivacy):
        return model.L
    return cast("RhoUncertainty", model).most or int(baskets.lengths.max())


def _greedy_cover(broken: Ints, supports: Ints) -> Ints:
    """Choose items so that every broken set loses one: again and again the one in most sets for what it costs."""
    if not len(broken):
        return np.zeros(0, dtype=np.int64)
    sets = np.repeat(np.arange(len(broken)), broken.shape[1])
    items = broken.reshape(-1)
    order = np.argsort(items, kind="stable")
    begins = np.concatenate([[0], np.cumsum(np.bincount(items, minlength=len(supports)))])
    counts = np.diff(begins)
    open_, chosen = np.ones(len(broken), dtype=np.bool_), []
    while open_.any():
        item = int(np.argmax(counts / np.maximum(supports, 1)))
        gone = sets[order[begins[item] : begins[item + 1]]]
        gone = gone[open_[gone]]
        open_[gone] = False
        counts -= np.bincount(broken[gone].reshape(-1), minlength=len(supports))
        chosen.append(item)
    return np.array(chosen, dtype=np.int64)
