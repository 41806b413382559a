"""Compiled worths: what the most valuable rows of every box are worth, and which boxes to open.

Arguments travel in tuples. `boxes` is (offsets, members, prices) as in `sfumato.coding.covering.boxes.ClosedBoxList`;
`best` is room for points, their worths and how many of their rows are meant, each one longer than a group must be.
"""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled

NEAR_PARTS, NEAR_WHOLE = 3, 4  # a box is nearly worth its price from three quarters of it on


@compiled
def allocate_best(least: int) -> tuple[Array, Array, Array]:
    """Make room for the most valuable rows of a box."""
    shape = least + 1
    return np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)


@compiled
def find_highest_gains(
    members: Array, worth: Array, amount: Array, least: int, best: tuple[Array, Array, Array]
) -> tuple[int, int]:
    """Find the `least` rows of largest worth, the first of equal ones; return their worth and how many points they are.

    The worth is -1 if there are fewer rows.
    """
    points, worths, rows = best
    count, held = 0, 0
    for point in members:
        value, size = worth[point], amount[point]
        if size == 0 or (held >= least and value <= worths[count - 1]):
            continue
        place = count
        while place > 0 and worths[place - 1] < value:
            points[place], worths[place], rows[place] = points[place - 1], worths[place - 1], rows[place - 1]
            place -= 1
        points[place], worths[place], rows[place] = point, value, size
        count += 1
        held += size
        while held - rows[count - 1] >= least:
            count -= 1
            held -= rows[count]
    if held < least:
        return -1, count
    rows[count - 1] -= held - least
    total = 0
    for i in range(count):
        total += worths[i] * rows[i]
    return total, count


@compiled
def score_boxes(
    todo: Array, begin: int, end: int, boxes: tuple[Array, ...], worth: Array, weight: Array, least: int, taken: Array,
    near: Array,
) -> int:  # fmt: skip
    """Sum what the best choice of rows in every box is worth beyond its price, and count whose rows are chosen.

    Says of every box whether its most valuable rows are nearly worth its price.
    """
    offsets, members, prices = boxes
    best, beyond = allocate_best(least), 0
    points, worths, rows = best
    for t in range(begin, end):
        price, inside = prices[todo[t]], members[offsets[todo[t]] : offsets[todo[t] + 1]]
        total, count = find_highest_gains(inside, worth, weight, least, best)
        near[t] = NEAR_WHOLE * total >= NEAR_PARTS * least * price
        if total <= least * price:
            continue
        beyond += total - least * price
        for i in range(count):
            taken[points[i]] += rows[i]
        if worths[count - 1] <= price:
            continue
        for point in inside:
            if worth[point] > price:
                more = weight[point]
                for i in range(count):
                    if points[i] == point:
                        more -= rows[i]
                beyond += more * (worth[point] - price)
                taken[point] += more
    return beyond


@compiled
def lower_gains(members: Array, worth: Array, have: int, most: int) -> None:
    """Lower the worths of a box whose most valuable rows are worth more than they may be, all by the same share."""
    for point in members:
        worth[point] = worth[point] * most // have


@compiled
def lower_all_gains(boxes: tuple[Array, ...], worth: Array, weight: Array, least: int) -> None:
    """Lower worths, box by box, until the most valuable rows of every box are worth no more than its price."""
    offsets, members, prices = boxes
    best = allocate_best(least)
    for box in range(len(prices)):
        inside = members[offsets[box] : offsets[box + 1]]
        total, _ = find_highest_gains(inside, worth, weight, least, best)
        if total > least * prices[box]:
            lower_gains(inside, worth, total, least * prices[box])


@compiled
def sift_down(heap: Array, score: Array, count: int, place: int) -> None:
    """Let a box sink below those with a higher score; of equal ones the first is on top."""
    box = heap[place]
    while 2 * place + 1 < count:
        child = 2 * place + 1
        if child + 1 < count:
            one, other = heap[child], heap[child + 1]
            if score[other] > score[one] or (score[other] == score[one] and other < one):
                child += 1
        above = heap[child]
        if score[above] < score[box] or (score[above] == score[box] and above > box):
            break
        heap[place] = above
        place = child
    heap[place] = box


@compiled
def open_boxes(
    boxes: tuple[Array, ...], worth: Array, weight: Array, least: int, group: Array, point: Array, rows: Array
) -> tuple[int, int]:
    """Open, again and again, the box whose most valuable free rows are worth most beyond its price.

    It takes them, and all free rows that are worth the price. Fills how many rows of a point come into which group;
    returns how many groups and entries there are. A score only falls, so it is renewed when its box comes up.
    """
    offsets, members, prices = boxes
    best, free, score, heap = allocate_best(least), weight.copy(), np.empty_like(prices), np.arange(len(prices))
    for box in heap:
        inside = members[offsets[box] : offsets[box + 1]]
        score[box] = find_highest_gains(inside, worth, free, least, best)[0] - least * prices[box]
    count, groups, entries = len(heap), 0, 0
    for place in range(count // 2 - 1, -1, -1):
        sift_down(heap, score, count, place)
    while count > 0:
        box = heap[0]
        inside, price = members[offsets[box] : offsets[box + 1]], prices[box]
        total, found = find_highest_gains(inside, worth, free, least, best)
        if total < 0:
            count -= 1
            heap[0] = heap[count]
        elif total - least * price < score[box]:
            score[box] = total - least * price
        else:
            for i in range(found):
                group[entries], point[entries], rows[entries] = groups, best[0][i], best[2][i]
                free[best[0][i]] -= best[2][i]
                entries += 1
            for other in inside:
                if free[other] > 0 and worth[other] >= price:
                    group[entries], point[entries], rows[entries] = groups, other, free[other]
                    free[other] = 0
                    entries += 1
            groups += 1
            continue
        if count > 0:
            sift_down(heap, score, count, 0)
    return groups, entries
