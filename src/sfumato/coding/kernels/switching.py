"""Switch chosen edges until none of them is an original one."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled
from sfumato.coding.kernels.edge_sets import build_edge_set, contains, discard, edge_key, insert


@compiled
def switch_to_new_pairs(edges: Array, chosen: Array, persons: int, words: Array) -> int:
    """Let pairs of chosen edges x-y and u-v become x-v and u-y if neither is shown or original; return how many stay.

    The first edge of a pair is one that was not switched yet, the second any chosen one; one try for every word.
    """
    original = build_edge_set(edges, persons, 0)
    shown = build_edge_set(edges, persons, 2 * len(chosen))  # every switch inserts two, and there are at most as many
    waiting = chosen.copy()
    place = np.full(len(edges), -1, dtype=np.int64)  # of an edge that waits
    for at in range(len(waiting)):
        place[waiting[at]] = at
    left = len(waiting)
    for word in words:
        if left == 0:
            break
        one = waiting[np.int64(word % np.uint64(left))]
        other = chosen[np.int64((word >> np.uint64(31)) % np.uint64(len(chosen)))]
        flip = np.int64(word >> np.uint64(63))
        x, y, u, v = edges[one, 0], edges[one, 1], edges[other, flip], edges[other, 1 - flip]
        if x in (u, v) or y in (u, v):
            continue
        first, second = edge_key(x, v, persons), edge_key(u, y, persons)
        if contains(original, first) or contains(original, second) or contains(shown, first) or contains(shown, second):
            continue
        discard(shown, edge_key(x, y, persons))
        discard(shown, edge_key(u, v, persons))
        insert(shown, first)
        insert(shown, second)
        edges[one, 0], edges[one, 1], edges[other, 0], edges[other, 1] = x, v, u, y
        for edge in (one, other):
            if place[edge] >= 0:
                left -= 1
                last = waiting[left]
                waiting[place[edge]] = last
                place[last] = place[edge]
                place[edge] = -1
    return left
