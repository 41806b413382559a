"""What generalized and suppressed baskets lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sfumato.transactions._itemsets import ItemsetCounter

if TYPE_CHECKING:
    from sfumato.transactions._published import Pair
    from sfumato.transactions.transactions import Transactions

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


# Which published baskets an adversary finds who knows a few items of a person.


# Which published baskets an adversary finds who knows a few items of a person.


def narrowest_cover(published: Transactions, names: Sequence[str]) -> Ints:
    """Return for every item the narrowest published one that stands for it, -1 if it was removed everywhere."""
    here = {name: code for code, name in enumerate(published.items)}
    tree = published.tree
    if tree is None:
        return np.array([here.get(name, -1) for name in names], dtype=np.int64)
    node_of = {name: node for node, name in enumerate(tree.names)}
    shown = np.array([here.get(name, -1) for name in tree.names], dtype=np.int64)
    node = np.array([node_of.get(name, -1) for name in names], dtype=np.int64)
    found = np.where(node >= 0, shown[node], [here.get(name, -1) for name in names])
    while True:
        open_ = (found < 0) & (node >= 0)
        if not open_.any():
            return np.asarray(found, dtype=np.int64)
        node[open_] = tree.parents[node[open_]]
        found = np.where(open_ & (node >= 0), shown[node], found)


def count_matches(published: Transactions, known: Sequence[Sequence[str]]) -> Ints:
    """Count the baskets that cover every known item, for each set of known items."""
    from sfumato.transactions._kernels import itemsets as kernel

    distinct = sorted({name for each in known for name in each})
    place = {name: at for at, name in enumerate(distinct)}
    cover = narrowest_cover(published, distinct)
    held = [cover[[place[name] for name in each]] for each in known]
    shown = [np.unique(each[each >= 0]) for each in held]
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in shown])]).astype(np.int64)
    sets = ItemsetCounter(published.codes, published.offsets, len(published.items))
    counts = np.full(len(known), len(published), dtype=np.int64)
    kernel.count_matches(np.concatenate([np.zeros(0, np.int64), *shown]), offsets, sets.cover(published.within), counts)
    return counts


FIRST_ITEMS = 100  # the most frequent ones, whose pairs say how frequent an item must be to be in a top pair


def information_loss(published: Transactions, original: Transactions) -> Mapping[str, float]:
    """Measure what a search lost, basket by basket.

    `ncp` is the normalized certainty penalty, the mean over all original occurrences: 0 for an item that stands as it
    is, the share of all items that a group stands for, and 1 for an occurrence that is lost.
    """
    cover = narrowest_cover(published, original.items)[original.codes]
    if (
        published.has_generalized_items
        or published.origin is None
        or len(published) < len(original)
        or (cover < 0).any()
    ):
        cover = _narrowest_in_transaction(published, original, cover)
    lost = cover < 0
    paid = np.append(_item_penalties(published), 1.0)[cover]
    return {"ncp": float(paid.mean()), "occurrences lost": float(lost.mean())}


def _narrowest_in_transaction(published: Transactions, original: Transactions, cover: Ints) -> Ints:
    """Find in the basket that an original one became the narrowest item that covers each of its own, -1 for none."""
    width = len(published.items)
    origin = np.arange(len(published)) if published.origin is None else published.origin
    keys = np.sort(origin[published.rows] * width + published.codes)
    found, rows = cover.copy(), original.rows
    while True:
        wanted = np.flatnonzero(found >= 0)
        key = rows[wanted] * width + found[wanted]
        there = keys[np.minimum(np.searchsorted(keys, key), len(keys) - 1)] == key
        if there.all():
            return found
        missing = wanted[~there]
        found[missing] = published.within[found[missing]]


def _item_penalties(published: Transactions) -> Floats:
    """Return the normalized certainty penalty of every published item."""
    stands_for = _items_covered(published)
    whole = published.tree.item_count if published.tree is not None else 1
    return np.where(stands_for > 1, stands_for / whole, 0.0)


def _items_covered(published: Transactions) -> Floats:
    """Return how many original items every published one stands for."""
    if published.tree is None:
        return np.ones(len(published.items))
    leaves = dict(zip(published.tree.names, published.tree.leaves.tolist(), strict=True))
    return np.array([leaves.get(name, 1) for name in published.items], dtype=np.float64)


def estimate_pair_supports(published: Transactions, pairs: Sequence[Pair]) -> Floats:
    """Estimate how many baskets hold both items of each pair: a group has any of its items alike."""
    names = sorted({name for pair in pairs for name in pair})
    chances = dict(
        zip(
            names,
            (_item_probabilities(published, code) for code in narrowest_cover(published, names).tolist()),
            strict=True,
        )
    )
    return np.array([float(chances[one] @ chances[two]) for one, two in pairs])


def _item_probabilities(published: Transactions, code: int) -> Floats:
    """Return for every basket the chance that it holds an item, whose narrowest published cover is given."""
    chances = np.zeros(len(published))
    stands_for = _items_covered(published)
    rows = published.rows
    while code >= 0:
        held = rows[published.codes == code]
        held = held[chances[held] == 0.0]
        chances[held] = 1.0 / stands_for[code]
        code = int(published.within[code])
    return chances


def most_frequent_pairs(baskets: Transactions, count: int) -> list[Pair]:
    """Return the pairs that most baskets hold, ties by name: pairs of frequent items tell which items may matter."""
    supports = baskets.supports
    first = np.argsort(-supports, kind="stable")[: max(FIRST_ITEMS, count)]
    least = np.sort(_pair_counts(baskets, first)[2])[::-1][:count]
    enough = np.flatnonzero(supports >= (least[-1] if len(least) == count else 1))
    one, two, counts = _pair_counts(baskets, enough)
    order = np.lexsort([two, one, -counts])[:count]
    return [(baskets.items[one[at]], baskets.items[two[at]]) for at in order.tolist()]


def _pair_counts(baskets: Transactions, codes: npt.NDArray[np.integer]) -> tuple[Ints, Ints, Ints]:
    """Count the baskets with both items, for all pairs of some items that occur together."""
    from scipy.sparse import csr_array, triu

    place = np.full(len(baskets.items), -1, dtype=np.int64)
    kept = np.sort(codes)
    place[kept] = np.arange(len(kept))
    held = place[baskets.codes] >= 0
    cells = baskets.rows[held], place[baskets.codes[held]]
    matrix = csr_array((np.ones(int(held.sum()), dtype=np.int64), cells), shape=(len(baskets), len(kept)))
    product = triu(matrix.T @ matrix, k=1).tocoo()
    return kept[product.row], kept[product.col], product.data
