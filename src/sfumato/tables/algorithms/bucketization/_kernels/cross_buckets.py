"""Compiled picks of records with different values from nested blocks; the twin of `buckets.cross_picking`.

What a block has left is kept in its own run of one array: positions of records by value, then ascending. A *stack* is
what it has of one value. `stacks` are their values, their beginnings and their heights, and `ranking` lists them from
the highest to the lowest, those of equal height by value.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, compiled
from sfumato.tables.algorithms._segments._kernels import order_cuts_by_width

# Compiled order of records inside sets so that neighbors are close; the twin of `buckets.cross_groups`.

RUN = 16  # records sorted by insertion
DEPTH = 64


@compiled
def group_start(start: int, size: int, groups: int, group: int) -> int:
    """Find where a group of a set begins; sizes of groups differ by at most one."""
    return start + group * (size // groups) + min(group, size % groups)


@compiled
def find_ranges(codes: Array, order: Array, leaves: Array, ranges: Arrays) -> None:
    """Find the smallest and largest code of some records on every axis."""
    low, high, missing = ranges
    for j in range(codes.shape[0]):
        column = codes[j]
        least, greatest, lost = leaves[j], -1, False
        for row in order:
            code = nb.int64(column[row])
            if code == leaves[j]:
                lost = True
            else:
                least = min(least, code)
                greatest = max(greatest, code)
        low[j], high[j], missing[j] = least, greatest, lost


@compiled
def sort_rows(column: Array, order: Array, room: Array) -> None:
    """Sort records by their codes, equal ones as they came: short runs by insertion, then runs by merging."""
    count = len(order)
    for start in range(0, count, RUN):
        for place in range(start + 1, min(start + RUN, count)):
            row, at = order[place], place
            while at > start and column[order[at - 1]] > column[row]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = row
    length = RUN
    while length < count:
        for start in range(0, count - length, 2 * length):
            middle, stop = start + length, min(start + 2 * length, count)
            room[start:middle] = order[start:middle]
            a, b = start, middle
            for place in range(start, stop):
                if a == middle:
                    break
                if b == stop or column[room[a]] <= column[order[b]]:
                    order[place] = room[a]
                    a += 1
                else:
                    order[place] = order[b]
                    b += 1
        length *= 2


@compiled
def order_sets(
    codes: Array, axes: Arrays, sets: tuple[Array, Array, Array], first: int, last: int, order: Array, room: Array
) -> None:
    """Order the records of the sets first..last by recursive cuts at the widest attribute until each is one group."""
    starts, sizes, groups = sets
    leaves, count = axes[0], codes.shape[0]
    low, high = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    missing = np.empty(count, dtype=np.bool_)
    width, ways = np.empty(2 * count), np.empty(2 * count, dtype=np.int64)
    stack = np.empty((DEPTH, 2), dtype=np.int64)
    for of_set in range(first, last):
        start, size, whole = starts[of_set], sizes[of_set], groups[of_set]
        stack[0] = 0, whole
        depth = 1
        while depth > 0:
            depth -= 1
            begin, end = stack[depth]
            if end - begin <= 1:
                continue
            here = slice(group_start(start, size, whole, begin), group_start(start, size, whole, end))
            find_ranges(codes, order[here], leaves, (low, high, missing))
            order_cuts_by_width(low, high, missing, axes, width, ways)
            sort_rows(codes[ways[0] % count], order[here], room[here])
            middle = (begin + end) // 2
            stack[depth] = middle, end
            stack[depth + 1] = begin, middle
            depth += 2


PLACED, PICKED, HURRIED = 0, 1, 2


@compiled
def merge_runs(left: Array, values: Array, first: int, held: int, second: int, more: int, room: Array) -> None:
    """Put what two halves of a block have left into one run, from `first` on."""
    a, b, stop_a, stop_b = first, second, first + held, second + more
    for place in range(held + more):
        from_a = b == stop_b or (a < stop_a and values[left[a]] <= values[left[b]])
        if from_a:
            room[place] = left[a]
            a += 1
        else:
            room[place] = left[b]
            b += 1
    for place in range(held + more):
        left[first + place] = room[place]


@compiled
def build_buckets(left: Array, values: Array, start: int, count: int, stacks: Array) -> int:
    """Find the stacks of a run; return how many there are."""
    found = 0
    for place in range(start, start + count):
        value = values[left[place]]
        if found == 0 or stacks[0, found - 1] != value:
            stacks[0, found], stacks[1, found], stacks[2, found] = value, place, 0
            found += 1
        stacks[2, found - 1] += 1
    return found


@compiled
def rank_buckets(stacks: Array, found: int, ranking: Array, room: Array) -> None:
    """List stacks from the highest to the lowest, those of equal height in their order."""
    highest = 0
    for at in range(found):
        highest = max(highest, stacks[2, at])
    for height in range(highest + 1):
        room[height] = 0
    for at in range(found):
        room[stacks[2, at]] += 1
    before = 0
    for height in range(highest, -1, -1):
        here = room[height]
        room[height] = before
        before += here
    for at in range(found):
        height = stacks[2, at]
        ranking[room[height]] = at
        room[height] += 1


@compiled
def choose_selection(
    stacks: Array, ranking: Array, found: int, left: int, l: int, start: int, step: int
) -> tuple[int, int]:
    """Find of how many of the highest stacks to take one record each, and how often; (0, 0) if that is impossible.

    The first number of start, start + step, ... for which the rest stays l-eligible, as in `assignment.Remainder.take`.
    """
    if found == 0:
        return 0, 0
    highest = stacks[2, ranking[0]]
    beta = max(start, l)
    while beta <= found:
        extra = beta - l
        if left - highest * l < extra:
            return 0, 0
        following = stacks[2, ranking[beta]] if beta < found else 0
        most = min(stacks[2, ranking[beta - 1]], (left - following * l) // beta)
        if extra > 0:
            most = min(most, (left - highest * l) // extra)
        if most > 0:
            return beta, most
        beta += step
    return 0, 0


@compiled
def select_nearest(
    left: Array, stacks: Array, at: int, anchors: Array, often: int, picked: Array, first: int, step: int
) -> None:
    """Take from a stack, for each anchor, the closest record that leaves enough for the anchors after it."""
    begin, height = stacks[1, at], stacks[2, at]
    low, spare, gone = 0, height - often, 0
    for i in range(often):
        a, b = low, i + spare
        while a < b:
            middle = (a + b) // 2
            if left[begin + middle] < anchors[i]:
                a = middle + 1
            else:
                b = middle
        if a > low and anchors[i] - left[begin + a - 1] <= abs(left[begin + a] - anchors[i]):
            a -= 1
        picked[first + i * step] = left[begin + a]
        for place in range(low, a):  # close the gaps of those that are gone
            left[begin + place - gone] = left[begin + place]
        gone += 1
        low = a + 1
    for place in range(low, height):
        left[begin + place - gone] = left[begin + place]


@compiled
def decrement_buckets(stacks: Array, ranking: Array, found: int, beta: int, often: int, room: Array) -> int:
    """Lower the first stacks of the ranking, and put it in order again; return how many stacks are left."""
    for place in range(beta):
        stacks[2, ranking[place]] -= often
    a, b, count = 0, beta, 0
    while a < beta or b < found:
        if b == found:
            first = True
        elif a == beta:
            first = False
        else:
            mine, other = stacks[2, ranking[a]], stacks[2, ranking[b]]
            first = mine > other or (mine == other and ranking[a] < ranking[b])
        at = ranking[a] if first else ranking[b]
        a, b = (a + 1, b) if first else (a, b + 1)
        if stacks[2, at] > 0:
            room[count] = at
            count += 1
    for place in range(count):
        ranking[place] = room[place]
    return count


@compiled
def select_records(
    left: Array, count: int, stacks: Array, ranking: Array, found: int, rule: tuple[int, int, int, int], last: bool,
    room: tuple[Array, Array], picked: Array, sizes: Array, state: Array,
) -> int:  # fmt: skip
    """Pick what can be picked from the stacks of a block; return how many records are left."""
    k, l, multiple, most_left = rule
    order, anchors = room
    while count > 0:
        beta, often = choose_selection(stacks, ranking, found, count, l, multiple, k)
        if beta == 0:
            if count < most_left and not last:
                return count
            if not last:
                state[HURRIED] = 1
            beta, often = choose_selection(stacks, ranking, found, count, l, l, 1)
        rarest = ranking[beta - 1]
        for place in range(beta - 1, -1, -1):
            if stacks[2, ranking[place]] <= stacks[2, rarest]:
                rarest = ranking[place]
        held, begin = stacks[2, rarest], stacks[1, rarest]
        for i in range(often):
            anchors[i] = left[begin + (2 * i + 1) * held // (2 * often)]
        for place in range(beta):
            select_nearest(left, stacks, ranking[place], anchors, often, picked, state[PLACED] + place, beta)
        state[PLACED] += beta * often
        for i in range(often):
            sizes[state[PICKED] + i] = beta
        state[PICKED] += often
        found = decrement_buckets(stacks, ranking, found, beta, often, order)
        count -= beta * often
    return count


@compiled
def select_from_blocks(
    tree: tuple[Array, Array, Array], values: Array, left: Array, counts: Array, first: int, last: int,
    rule: tuple[int, int, int, int], stacks: Array, rooms: tuple[Array, Array, Array], picked: Array, sizes: Array,
    state: Array,
) -> None:  # fmt: skip
    """Pick from the blocks `last` - 1 down to `first`; `counts` says how many records each has left."""
    child, start, size = tree
    ranking, room, anchors = rooms
    for node in range(last - 1, first - 1, -1):
        count = size[node]
        if child[node] >= 0:
            one, two = child[node], child[node] + 1
            merge_runs(left, values, start[one], counts[one], start[two], counts[two], room)
            count = counts[one] + counts[two]
        counts[node] = count
        if count == 0 or (count < rule[2] and node > 0):
            continue
        found = build_buckets(left, values, start[node], count, stacks)
        rank_buckets(stacks, found, ranking, room)
        counts[node] = select_records(
            left, count, stacks, ranking, found, rule, node == 0, (room, anchors), picked, sizes, state
        )
        place = start[node]
        for at in range(found):
            for i in range(stacks[1, at], stacks[1, at] + stacks[2, at]):
                left[place] = left[i]
                place += 1
