"""Sets of items and the sensitive items that come with them: which sets are too rare, or tell too much."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.coding.item_sets import ItemsetCounter

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
N_TOTALS = 5


class RuleCounts(NamedTuple):
    """The sets that occur, those that are broken, the worst share of a sensitive item, and what breaks, as a list.

    A row of the list is a set and the sensitive item that breaks it, -1 if too few baskets hold the set.
    """

    sets: int
    violations: int
    worst: float
    listed: Ints


def count_rules(
    sets: ItemsetCounter, known: Flags, sensitive: Flags, *, size: int, k: int, share: Fraction, every: bool, most: int
) -> RuleCounts:
    """Judge all sets of a size of known items: each must be in k baskets, of which a share has a sensitive item.

    Parameters
    ----------
    sets : the baskets.
    known : which items sets are made of.
    sensitive : which items must not be told.
    size, k, share : the size of sets, the fewest baskets, the largest share of them with any one sensitive item.
    every : whether to list all sensitive items that break a set, or the set once.
    most : the walk stops beyond so many sets; more `sets` than this are then found.
    """
    from sfumato.coding.kernels import set_rules as kernel

    public, hidden = restrict_items(sets, known), restrict_items(sets, sensitive)
    told = np.zeros(N_TOTALS, dtype=np.int64)
    told[kernel.OF] = 1
    counted = np.zeros(sets.items, dtype=np.int64), np.zeros(sets.items, dtype=np.int64)
    listed = kernel.count_rules(
        (public.codes, public.offsets, public.rows),
        public.postings,
        size,
        (k, share.numerator, share.denominator, every),
        (hidden.codes, hidden.offsets),
        _rule_workspace(public, size),
        counted,
        most,
        told,
    )
    return RuleCounts(int(told[0]), int(told[1]), float(told[2] / told[3]), listed)


def count_closed_rules(sets: ItemsetCounter, sensitive: Flags, *, share: Fraction, most: int) -> RuleCounts:
    """Judge all closed sets: of the baskets with all other items of one, a share has its sensitive item.

    No rule from any set to a sensitive item is stronger than the strongest of these: closing both sides of a rule keeps
    what both hold, and loses baskets only of those that hold the left side. The walk stops at a rule that is certain;
    then not all broken sets are counted.
    """
    from sfumato.coding.kernels import set_rules as kernel

    told = np.zeros(N_TOTALS, dtype=np.int64)
    told[kernel.OF] = 1
    longest = int(np.diff(sets.offsets).max(initial=0))
    baskets = sets.codes, sets.offsets, sets.rows
    rule = share.numerator, share.denominator
    kernel.count_closed_rules(baskets, sets.postings, sets.items, longest, rule, sensitive, most, told)
    return RuleCounts(int(told[0]), int(told[1]), float(told[2] / told[3]), np.zeros((0, 0), dtype=np.int64))


def restrict_items(sets: ItemsetCounter, kept: Flags) -> ItemsetCounter:
    """Return the baskets with only some items, under the same codes."""
    chosen = kept[sets.codes]
    counts = np.bincount(sets.rows[chosen], minlength=len(sets.offsets) - 1)
    return ItemsetCounter(sets.codes[chosen], np.concatenate([[0], np.cumsum(counts)]), sets.items)


def _rule_workspace(sets: ItemsetCounter, size: int) -> tuple[Ints, ...]:
    """Return what a walk over sets of a size works on: the last level is dealt, too, unlike in `ItemsetCounter`."""
    left = sets.offsets[1:][sets.rows] - np.arange(len(sets.codes)) - 1
    room = int(np.bincount(sets.codes, weights=left, minlength=1).max()) if size > 1 else 0
    counts, seen, begins = (np.zeros((size, sets.items + 1), dtype=np.int64) for _ in range(3))
    ints = [np.zeros(size + 1, dtype=np.int64) for _ in range(3)]
    return counts, seen, begins, np.zeros((size, room), dtype=np.int64), *ints
