"""Baskets as what may be known of a person and what must not be learned: public and sensitive items apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.baskets.baskets import Baskets
from sfumato.coding.item_sets import ItemSets

Ints = npt.NDArray[np.int64]


def public_and_sensitive(baskets: Baskets, is_sensitive: npt.NDArray[np.bool_]) -> tuple[ItemSets, tuple[Ints, Ints]]:
    """Return the public items of every basket as sets, with the codes of the baskets, and the sensitive ones.

    Of the sensitive items: where those of each basket begin, and their numbers, from 0.
    """
    hidden = is_sensitive[baskets.codes]
    public = ItemSets(baskets.codes[~hidden], _offsets(baskets, ~hidden), len(baskets.items))
    number = np.cumsum(is_sensitive) - 1
    return public, (_offsets(baskets, hidden), number[baskets.codes[hidden]].astype(np.int64))


def _offsets(baskets: Baskets, kept: npt.NDArray[np.bool_]) -> Ints:
    return np.concatenate([[0], np.cumsum(kept)])[baskets.offsets].astype(np.int64)
