"""Compile the loops over sets of items ahead of time."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sfumato.transactions._itemsets import CutState, ItemsetCounter, count_closed_rules, count_rules
from sfumato.transactions._kernels import disassociation, itemsets, reconstruction


def warm_up_transactions() -> None:
    """Run every compiled loop over sets once."""
    _warm_up_itemsets()
    _warm_up_disassociation()
    _warm_up_rules()


def _warm_up_itemsets() -> None:
    """Count and judge the pairs of two baskets, raise a node of one, and recode both."""
    codes, offsets, both = np.array([0, 1, 0], dtype=np.int32), np.array([0, 2, 3]), np.arange(2)
    sets = ItemsetCounter(codes, offsets, 2)
    for size in (1, 2):
        sets.count(size, 2, within=np.array([1, -1], dtype=np.int32), mark=True)
    tree = np.array([2, 2, -1]), np.array([0, 1, 0]), np.array([1, 1, 2]), np.array([0, 0, 2])
    sums, ends = np.array([2, 1, 3]), np.zeros(3, dtype=np.int64)
    cut = both.copy(), sums - sums, sums, np.zeros(2, dtype=np.bool_), both, np.zeros(1, dtype=np.int64)
    for size in (1, 2):
        sets.generalize_rare(size, 2, CutState(both, tree, cut), both)
    itemsets.recode(codes, offsets, both, np.zeros(3, dtype=np.int32), ends)
    itemsets.count_matches(both, np.array([0, 2]), sets.cover(np.array([-1, -1], dtype=np.int32)), sums[:1].copy())


def _warm_up_disassociation() -> None:
    """Take two baskets apart, let them share a term, and bound what they may have held."""
    codes, offsets, both = np.array([0, 1, 0], dtype=np.int32), np.array([0, 2, 3]), np.arange(2)
    sets, space, numbers = (codes, offsets), (both * 0, both * 0, both * 0), np.zeros(3, dtype=np.int64)
    disassociation.split_transactions(sets, (np.array([0, 2, 3]), np.array([0, 1, 0])), 2, 2, both.copy(), both.copy())
    disassociation.merge_small_parts(both[:1] + 2, 1, 1, both[:1].copy())
    free = np.ones(3, dtype=np.bool_)
    for m in (2, 3):
        disassociation.assign_chunks_by_cluster(
            sets, both, np.array([0, 2]), 1, m, free, space, numbers, both[:1].copy()
        )
    disassociation.count_subrecords(offsets, both, np.array([0, 2]), numbers, both[:1].copy(), both[:1].copy())
    disassociation.assign_chunks(*sets, both, free, 1, 2, space, numbers)
    disassociation.select_shared_terms(
        sets, both, np.array([0, 2]), 1, (numbers * 0, both * 0), free[:1], both * 0, free
    )
    places = np.array([0, 1]), both[:1], both[:1], both[:1], both[:1] + 1, both[:1]
    clusters = both[:1] + 1, both[:1] - 1, both[:1]
    reconstruction.bound_supports(
        both[:1], both, clusters, (both[:1] + 1, both[:1] + 1), places, both[:1], np.zeros((3, 1))
    )


def _warm_up_rules() -> None:
    """Judge the sets of two baskets, one by one and closed ones only."""
    codes, offsets = np.array([0, 1, 0], dtype=np.int32), np.array([0, 2, 3])
    sets, marked = ItemsetCounter(codes, offsets, 2), np.array([False, True])
    count_rules(sets, ~marked, marked, size=1, k=1, share=Fraction(1, 2), every=False, most=9)
    count_closed_rules(sets, marked, share=Fraction(1, 2), most=9)
