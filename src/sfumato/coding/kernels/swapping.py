"""Compiled rank swapping: partners are drawn among the free ranks of a window, counted by a tree of sums."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled


@compiled
def swap_partners(rows: int, reach: int, words: Array) -> Array:
    """Pair ranks: from the lowest up, each that is free takes a free one among the next `reach`, all as likely.

    `words` are random numbers of 64 bits, one for every rank. Returns the partner of every rank, or itself.
    """
    tree = np.zeros(rows + 1, np.int64)
    for i in range(1, rows + 1):
        tree[i] = i & -i  # every rank is free
    top = 1
    while top * 2 <= rows:
        top *= 2
    partner = np.arange(rows)
    for rank in range(rows):
        if partner[rank] != rank:
            continue
        before = _free_below(tree, rank + 1)
        count = _free_below(tree, min(rows, rank + 1 + reach)) - before
        if count == 0:
            continue
        wanted = before + np.int64(words[rank] % np.uint64(count)) + 1
        place = 0
        step = top
        while step:
            if place + step <= rows and tree[place + step] < wanted:
                place += step
                wanted -= tree[place]
            step //= 2
        partner[rank], partner[place] = place, rank
        _take(tree, rank, rows)
        _take(tree, place, rows)
    return partner


@compiled
def _free_below(tree: Array, end: int) -> int:
    """Count the free ranks below one."""
    found = 0
    while end > 0:
        found += tree[end]
        end -= end & -end
    return found


@compiled
def _take(tree: Array, rank: int, rows: int) -> None:
    """Let a rank be free no more."""
    at = rank + 1
    while at <= rows:
        tree[at] -= 1
        at += at & -at
