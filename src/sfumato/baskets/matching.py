"""Which published baskets an adversary finds who knows a few items of a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sfumato.coding.item_sets import ItemsetCounter

if TYPE_CHECKING:
    from sfumato.baskets.baskets import Transactions

Ints = npt.NDArray[np.int64]


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
    from sfumato.coding.kernels import item_sets as kernel

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
