"""Make up edges for given degrees, and switch them at random."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, Number, compiled
from sfumato.coding.kernels.edge_sets import build_edge_set, contains, discard, edge_key, insert


@compiled
def _first_below(needs: Array, begin: int, value: int) -> Number:
    """Return the first place from `begin` on whose number is below a value; numbers descend."""
    low, high = begin, len(needs)
    while low < high:
        middle = (low + high) // 2
        if needs[middle] < value:
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def havel_hakimi(needs: Array, edges: Array) -> Number:
    """Join everybody to those who need most, the highest need first (Havel and Hakimi); return the number of edges.

    `needs` descend, and hold afterward what nobody was left for.
    """
    count = 0
    for person in range(len(needs)):
        able = _first_below(needs, person + 1, 1)
        take = min(needs[person], able - person - 1)
        if take == 0:
            continue
        last = needs[person + take]
        begin = max(_first_below(needs, person + 1, last + 1), person + 1)
        end = _first_below(needs, begin, last)
        rest = person + take + 1 - begin  # of those with equal needs the last ones are taken, so that needs descend
        for step in range(take):
            other = person + 1 + step if person + 1 + step < begin else end - rest + (person + 1 + step - begin)
            needs[other] -= 1
            edges[count, 0], edges[count, 1] = person, other
            count += 1
        needs[person] -= take
    return count


@compiled
def switch_edges(edges: Array, persons: int, words: Array) -> int:
    """Let pairs of edges x-y and u-v become x-v and u-y, one try for every word; return how many did."""
    count, length = 0, np.uint64(len(edges))
    table = build_edge_set(edges, persons, 2 * len(words))
    for word in words:
        one, other = np.int64(word % length), np.int64((word >> np.uint64(31)) % length)
        flip = np.int64(word >> np.uint64(63))
        x, y, u, v = edges[one, 0], edges[one, 1], edges[other, flip], edges[other, 1 - flip]
        if x in (u, v) or y in (u, v):
            continue
        first, second = edge_key(x, v, persons), edge_key(u, y, persons)
        if contains(table, first) or contains(table, second):
            continue
        discard(table, edge_key(x, y, persons))
        discard(table, edge_key(u, v, persons))
        insert(table, first)
        insert(table, second)
        edges[one, 0], edges[one, 1], edges[other, 0], edges[other, 1] = x, v, u, y
        count += 1
    return count
