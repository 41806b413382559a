"""Compiled swapping: of ranks within a window, counted by a tree of sums, and of units between places."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, compiled


@compiled
def pair_ranks(rows: int, reach: int, words: Array) -> Array:
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
        before = _count_free_below(tree, rank + 1)
        count = _count_free_below(tree, min(rows, rank + 1 + reach)) - before
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
        _mark_taken(tree, rank, rows)
        _mark_taken(tree, place, rows)
    return partner


@compiled
def _count_free_below(tree: Array, end: int) -> int:
    """Count the free ranks below one."""
    found = 0
    while end > 0:
        found += tree[end]
        end -= end & -end
    return found


@compiled
def _mark_taken(tree: Array, rank: int, rows: int) -> None:
    """Let a rank be free no more."""
    at = rank + 1
    while at <= rows:
        tree[at] -= 1
        at += at & -at


@compiled
def pair_units(
    seekers: Array,
    keys: Array,
    profile: Array,
    place: Array,
    pools: tuple[Array, Array, Array, Array],
    need: Array,
    partner: Array,
) -> None:
    """Give every seeker that is free the free unit of another place and the same profile whose key is the lowest.

    `pools` holds the units ordered by profile, place and key; where every pool of one profile and place begins, and its
    place; and where the pools of every profile begin. `need` counts per place the units that must still move: a seeker
    of a place without need stays, and places with need are preferred. `partner` and `need` are changed; a unit is free
    while it has no partner, which is -1.
    """
    order, begins, places, families = pools
    head = begins[:-1].copy()
    for unit in seekers:
        if partner[unit] != -1 or need[place[unit]] <= 0:
            continue
        best, wanted = -1, False
        for pool in range(families[profile[unit]], families[profile[unit] + 1]):
            if places[pool] == place[unit]:
                continue
            while head[pool] < begins[pool + 1] and partner[order[head[pool]]] != -1:
                head[pool] += 1
            if head[pool] == begins[pool + 1]:
                continue
            found, here = order[head[pool]], need[places[pool]] > 0
            if best < 0 or (here and not wanted) or (here == wanted and keys[found] < keys[best]):
                best, wanted = found, here
        if best >= 0:
            partner[unit], partner[best] = best, unit
            need[place[unit]] -= 1
            need[place[best]] -= 1
