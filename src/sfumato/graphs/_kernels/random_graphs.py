"""Make up edges for given degrees, and switch them at random."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, Number, compiled
from sfumato.graphs._kernels.edge_set import build_edge_set, contains, discard, edge_key, insert


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


# Switch chosen edges until none of them is an original one.


@compiled
def switch_to_other_pairs(edges: Array, chosen: Array, persons: int, words: Array) -> int:
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


# Draw different numbers, some below each of many limits.


@compiled
def insert_number(held: Array, owner: Array, block: int, number: int) -> bool:
    """Put a number among those of a block; return False if it is there."""
    mask = np.uint64(len(held) - 1)
    place = (np.uint64(number) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
    while owner[place] == block:
        if held[place] == number:
            return False
        place = (place + np.uint64(1)) & mask
    held[place], owner[place] = number, block
    return True


@compiled
def make_distinct(starts: Array, limits: Array, drawn: Array) -> None:
    """Replace numbers of a block that were drawn before, so that all sets of numbers below its limit are as likely.

    This is the rule of Floyd: the number at place i of m is drawn from 0 to limit - m + i, and if it is there already,
    limit - m + i itself takes its place. Numbers of a block stand from one of `starts` to the next.
    """
    most = 1
    while most < 2 * (starts[1:] - starts[:-1]).max():
        most *= 2
    held, owner = np.zeros(most, np.int64), np.full(most, -1, np.int64)
    for block in range(len(limits)):
        first = limits[block] - (starts[block + 1] - starts[block])
        for place in range(starts[block], starts[block + 1]):
            if not insert_number(held, owner, block, drawn[place]):
                drawn[place] = first + place - starts[block]
                insert_number(held, owner, block, drawn[place])
