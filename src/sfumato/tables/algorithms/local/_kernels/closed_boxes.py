"""Compiled walks over closed boxes: their nodes are the lowest above the rows that they cover, and these are enough.

A walk goes depth first through the trees, and in each from the leaves to the root. Points are sorted by their leaves in
the tree at hand, so that those under the same node are neighbors. `trees` is (nodes, start, heights, cost):
`nodes[start[j, h] + leaf]` is the node above a leaf of tree j on level h.
"""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, compiled

# Compiled worths: what the most valuable rows of every box are worth, and which boxes to open.
#
# Arguments travel in tuples. `boxes` is (offsets, members, prices) as in
# `sfumato.tables.algorithms.local._covering.ClosedBoxList`;
# `best` is room for points, their worths and how many of their rows are meant, each one longer than a group must be.

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


CHEAPEST, CLOSED, LOWERED = 0, 1, 2
RUN = 16  # points that are sorted by insertion


@compiled
def sort_points(leaf: Array, points: Array, spare: Array, counts: Array) -> None:
    """Sort points by their leaves in one tree; those of the same leaf stay in their order."""
    size = len(points)
    if 2 * size >= len(counts):
        counts[:] = 0
        for point in points:
            counts[leaf[point]] += 1
        place = 0
        for key in range(len(counts)):
            place, counts[key] = place + counts[key], place
        for point in points:
            spare[counts[leaf[point]]] = point
            counts[leaf[point]] += 1
        points[:] = spare[:size]
        return
    for begin in range(0, size, RUN):
        for i in range(begin + 1, min(begin + RUN, size)):
            point, place = points[i], i
            while place > begin and leaf[points[place - 1]] > leaf[point]:
                points[place] = points[place - 1]
                place -= 1
            points[place] = point
    run = RUN
    while run < size:
        for begin in range(0, size, 2 * run):
            merge_runs(leaf, points, spare, begin, min(begin + run, size), min(begin + 2 * run, size))
        points[:] = spare[:size]
        run *= 2


@compiled
def merge_runs(leaf: Array, points: Array, spare: Array, begin: int, middle: int, end: int) -> None:
    """Merge two sorted runs of points."""
    one, other = begin, middle
    for place in range(begin, end):
        if one < middle and (other == end or leaf[points[one]] <= leaf[points[other]]):
            spare[place] = points[one]
            one += 1
        else:
            spare[place] = points[other]
            other += 1


@compiled
def next_run(leaf: Array, points: Array, begin: int, nodes: Array, weight: Array) -> tuple[int, int]:
    """Find where the points under the same node as the first one end, and how many rows they are."""
    node, end, rows = nodes[leaf[points[begin]]], begin, 0
    while end < len(points) and nodes[leaf[points[end]]] == node:
        rows += weight[points[end]]
        end += 1
    return end, rows


@compiled
def filter_points(
    mode: int, points: Array, below: Array, price: int, least: int, weight: Array, worth: Array,
    best: tuple[Array, Array, Array],
) -> int:  # fmt: skip
    """Copy the points that go on to the next tree, none if there are too few rows or nothing can be found any more."""
    kept, rows, hope = 0, 0, mode == CLOSED
    for point in points:
        if mode == CLOSED and worth[point] < price:
            continue
        hope = hope or worth[point] > price
        below[kept] = point
        kept += 1
        rows += weight[point]
    if rows < least or not hope:
        return 0
    if mode == LOWERED and find_highest_gains(below[:kept], worth, weight, least, best)[0] <= least * price:
        return 0
    return kept


@compiled
def is_closed(leaf: Array, points: Array, trees: tuple[Array, ...], level: Array, depth: int) -> bool:
    """Return whether no tree up to a depth has a lower node above all points."""
    nodes, start, _, _ = trees
    for j in range(depth + 1):
        apart = level[j] == 0
        if not apart:
            lower_nodes = nodes[start[j, level[j] - 1] :]
            for point in points:
                if lower_nodes[leaf[j, point]] != lower_nodes[leaf[j, points[0]]]:
                    apart = True
                    break
        if not apart:
            return False
    return True


@compiled
def append_box(points: Array, price: int, boxes: tuple[Array, Array, Array], tally: Array) -> None:
    """Add a box to those found, or say that there is no room for it; `tally` counts boxes and their points."""
    offsets, members, prices = boxes
    found, pairs = tally[0], tally[1]
    if pairs + len(points) > len(members):
        tally[0] = -1
        return
    members[pairs : pairs + len(points)] = points
    prices[found], offsets[found + 1] = price, pairs + len(points)
    tally[0], tally[1] = found + 1, pairs + len(points)


@compiled
def lower_to_price(
    mode: int, points: Array, price: int, least: int, weight: Array, worth: Array, best: tuple[Array, Array, Array]
) -> None:
    """Lower the worths of points in a box to its price, or until the most valuable rows are worth no more than that."""
    if mode == LOWERED:
        lower_gains(points, worth, find_highest_gains(points, worth, weight, least, best)[0], least * price)
        return
    for point in points:
        worth[point] = min(worth[point], price)


@compiled
def enumerate_closed_boxes(
    mode: int, leaf: Array, weight: Array, trees: tuple[Array, ...], least: int, levels: tuple[int, int], worth: Array,
    most: int, boxes: tuple[Array, Array, Array],
) -> tuple[int, int]:  # fmt: skip
    """Visit closed boxes under the first tree's nodes of some levels; return how many, and how many points in them.

    `CHEAPEST` lowers the worth of every point to the price of the cheapest box above it. `CLOSED` lists all boxes with
    those of their points that are worth their price at least, and it is of these that there must be enough and that
    boxes are the lowest; boxes without a price are left out. `LOWERED` lowers worths until the most valuable rows of no
    box are worth more than its price. Gives up with -1 after visiting `most` points, or where `boxes` are full.
    """
    nodes, start, heights, cost = trees
    width, count = leaf.shape
    room_for, best = np.empty((width + 1, count), dtype=np.int32), allocate_best(least)
    spare, counts = np.empty(count, dtype=np.int32), np.empty(leaf.max() + 1, dtype=np.int64)
    size, level = np.zeros(width + 1, dtype=np.int64), np.zeros(width + 1, dtype=np.int64)
    place, price = np.zeros(width + 1, dtype=np.int64), np.zeros(width + 1, dtype=np.int64)
    room_for[0] = np.arange(count)
    size[0], level[0] = count, levels[0]
    sort_points(leaf[0], room_for[0], spare, counts)
    tally, visited, depth = np.zeros(2, dtype=np.int64), 0, 0
    while depth >= 0 and visited <= most and tally[0] >= 0:
        if place[depth] >= size[depth]:
            level[depth], place[depth] = level[depth] + 1, 0
            if level[depth] == (levels[1] if depth == 0 else heights[depth]):
                depth -= 1
            continue
        points, above = room_for[depth, : size[depth]], nodes[start[depth, level[depth]] :]
        begin = place[depth]
        place[depth], rows = next_run(leaf[depth], points, begin, above, weight)
        if rows < least:
            continue
        points, total = points[begin : place[depth]], price[depth] + cost[above[leaf[depth, points[begin]]]]
        visited += len(points)
        kept = filter_points(mode, points, room_for[depth + 1], total, least, weight, worth, best)
        inside = room_for[depth + 1, :kept]
        if kept == 0 or not is_closed(leaf, inside, trees, level, depth):
            continue
        if depth < width - 1:
            depth += 1
            size[depth], level[depth], place[depth], price[depth] = kept, 0, 0, total
            sort_points(leaf[depth], inside, spare, counts)
            continue
        if mode != CLOSED:
            lower_to_price(mode, inside, total, least, weight, worth, best)
        elif total > 0:
            append_box(inside, total, boxes, tally)
    return (tally[0] if visited <= most else -1), tally[1]
