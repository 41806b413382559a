"""Compiled trees of boxes over points: cut points in two until parts are small, and keep the boxes around them tight.

Points that are equal are one spot, whose rows are taken from the lowest on. A tree is a pair of tuples:

- `spots`, leaf by leaf, in each those that have rows left before the others: coordinates (axis by place); where the
  rows of each end in `rows`; how many of them are left; `rows`; the number of the spot at every place, and the place of
  every number; and the leaf that a place belongs to.
- `nodes`, parents before children, so that the first child of a node is the next node: the second child (0: a leaf),
  the parent, the first place and the end of the places of a leaf with rows left, lower and upper corners of boxes, and
  the lowest row that is left (`NOTHING` if there is none).

An axis is a line, or the leaves of a taxonomy in their order; `shape` says which (see
`sfumato.tables.algorithms.microaggregation._tree_clusters.BoxTree`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, compiled
from sfumato.tables.algorithms.microaggregation._kernels.k_member import compute_leaf_costs
from sfumato.tables.algorithms.microaggregation._kernels.mdav import count_differing_levels

LEAF = 24  # at most this many points are not cut
NOTHING = 2**62  # a row number above all
ROUNDING = 1e-11  # of sums in another order than that of costs, as a share of their terms


@compiled
def axis_span(j: int, low: float, high: float, shape: Arrays, trees: Arrays) -> float:
    """Compute how far apart two places of an axis are."""
    tree = shape[0][j]
    if tree < 0:
        return high - low
    cost = trees[6][trees[4][tree] + count_differing_levels(tree, int(low), int(high), trees)]
    return float(np.sqrt(cost) if shape[1][0] else cost)


@compiled
def widest_axis(places: Array, order: Array, first: int, last: int, shape: Arrays, trees: Arrays) -> int:
    """Find the axis on which points are farthest apart, or -1 if all are equal."""
    best, most = -1, 0.0
    for j in range(places.shape[1]):
        low = high = places[order[first], j]
        for i in range(first + 1, last):
            here = places[order[i], j]
            low, high = min(low, here), max(high, here)
        if high > low:
            wide = axis_span(j, low, high, shape, trees)
            if best < 0 or wide > most:
                best, most = j, wide
    return best


@compiled
def middle_value(values: Array) -> float:
    """Find the value that half of all values lie below if they were sorted; values change places."""
    wanted, first, last = len(values) // 2, 0, len(values) - 1
    while first < last:
        pivot, left, right = values[(first + last) // 2], first, last
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if wanted <= right:
            last = right
        elif wanted >= left:
            first = left
        else:
            break
    return float(values[wanted])


@compiled
def partition_points(places: Array, order: Array, first: int, last: int, axis: int, room: Arrays) -> int:
    """Cut points at the median of an axis, equal ones never apart, and return where the second part begins.

    Points of both parts keep their order.
    """
    values, later = room
    count = last - first
    for i in range(count):
        values[i] = places[order[first + i], axis]
    middle = middle_value(values[:count])
    below = upto = 0
    for i in range(count):
        below += values[i] < middle
        upto += values[i] <= middle
    strict = below > 0 and (upto == count or abs(2 * below - count) <= abs(2 * upto - count))
    kept, moved = first, 0
    for i in range(count):
        point = order[first + i]
        here = places[point, axis]
        if here < middle or (not strict and here == middle):
            order[kept] = point
            kept += 1
        else:
            later[moved] = point
            moved += 1
    for i in range(moved):
        order[kept + i] = later[i]
    return kept


@compiled
def sort_leaf(places: Array, order: Array, first: int, last: int) -> None:
    """Sort the few points of a leaf by their places, equal ones in their order."""
    for i in range(first + 1, last):
        point, at = order[i], i
        while at > first:
            before, smaller = order[at - 1], False
            for j in range(places.shape[1]):
                if places[point, j] != places[before, j]:
                    smaller = places[point, j] < places[before, j]
                    break
            if not smaller:
                break
            order[at] = before
            at -= 1
        order[at] = point


@compiled
def cut_points(places: Array, shape: Arrays, trees: Arrays, order: Array) -> tuple[Array, Array, Array, Array, int]:
    """Cut points (point by axis) in two until parts are small or all equal; `order` is reordered.

    Returns the second child and the parent of every node, where its points begin and end, and the depth.
    """
    most = 2 * len(order)
    second, above = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
    begin, end = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
    waiting, room = [(0, len(order), -1, 0)], (np.empty(len(order)), np.empty_like(order))
    count = depth = 0
    while len(waiting) > 0:
        first, last, parent, level = waiting.pop()
        node, depth = count, max(depth, level)
        count += 1
        begin[node], end[node], above[node] = first, last, parent
        if parent >= 0 and node > parent + 1:
            second[parent] = node
        axis = widest_axis(places, order, first, last, shape, trees) if last - first > LEAF else -1
        if axis >= 0:
            middle = partition_points(places, order, first, last, axis, room)
            waiting.append((middle, last, node, level + 1))
            waiting.append((first, middle, node, level + 1))
        elif last - first <= LEAF:
            sort_leaf(places, order, first, last)
    return second[:count].copy(), above[:count].copy(), begin[:count].copy(), end[:count].copy(), depth


@compiled
def lowest_row(place: int, spots: Arrays) -> int:
    """Return the next row of the spot at a place."""
    return int(spots[3][spots[1][place] - spots[2][place]])


@compiled
def find_lowest(node: int, spots: Arrays, nodes: Arrays) -> None:
    """Find the lowest row that is left in a node."""
    second, _, first, last, _, _, lowest = nodes
    if second[node] > 0:
        lowest[node] = min(lowest[node + 1], lowest[second[node]])
        return
    lowest[node] = NOTHING
    for place in range(first[node], last[node]):
        lowest[node] = min(lowest[node], lowest_row(place, spots))


@compiled
def fit_box(node: int, places: Array, nodes: Arrays) -> bool:
    """Fit the box of a node to what is left in it; return whether it has changed."""
    second, _, first, last, low, high, _ = nodes
    changed = False
    for j in range(len(places)):
        least, most = np.inf, -np.inf
        if second[node] > 0:
            least = min(low[node + 1, j], low[second[node], j])
            most = max(high[node + 1, j], high[second[node], j])
        else:
            for place in range(first[node], last[node]):
                least, most = min(least, places[j, place]), max(most, places[j, place])
        changed |= least != low[node, j] or most != high[node, j]
        low[node, j], high[node, j] = least, most
    return changed


@compiled
def fit_all(spots: Arrays, nodes: Arrays) -> None:
    """Fit all boxes, and write to which leaf every place belongs."""
    for node in range(len(nodes[0]) - 1, -1, -1):
        if nodes[0][node] == 0:
            for place in range(nodes[2][node], nodes[3][node]):
                spots[6][place] = node
        find_lowest(node, spots, nodes)
        fit_box(node, spots[0], nodes)


@compiled
def drop_spot(place: int, spots: Arrays, nodes: Arrays) -> None:
    """Swap a spot behind those of its leaf that have rows left, and shrink the boxes that it was at the border of."""
    places, ends, left, _, number, place_of, leaf = spots
    node = leaf[place]
    nodes[3][node] -= 1
    last, border = nodes[3][node], False
    for j in range(len(places)):
        border |= places[j, place] == nodes[4][node, j] or places[j, place] == nodes[5][node, j]
        places[j, place], places[j, last] = places[j, last], places[j, place]
    ends[place], ends[last] = ends[last], ends[place]
    left[place], left[last] = left[last], left[place]
    number[place], number[last] = number[last], number[place]
    place_of[number[place]], place_of[number[last]] = place, last
    while border and node >= 0:
        border = fit_box(node, places, nodes)
        node = nodes[1][node]


@compiled
def take_row(spot: int, spots: Arrays, nodes: Arrays) -> int:
    """Take the lowest row of a spot away and return it."""
    place = spots[5][spot]
    node, row = spots[6][place], lowest_row(place, spots)
    spots[2][place] -= 1
    if spots[2][place] == 0:
        drop_spot(place, spots, nodes)
    while node >= 0 and nodes[6][node] == row:
        find_lowest(node, spots, nodes)
        node = nodes[1][node]
    return row


@compiled
def measure_leaf(
    begin: int,
    count: int,
    places: Array,
    corners: tuple[Array, Array],
    prices: Array,
    axes: tuple[Array, Array, int],
    out: Array,
) -> None:
    """Compute the cost of a box with each spot of a leaf in it, axis by axis in order.

    `corners` and `prices` are those of the box. `axes` are the taxonomy of every axis, where the leaves of every
    taxonomy begin, and whether costs are squared: the arrays that this needs and no others, because every array that
    is handed to a loop takes time.
    """
    (low, high), (taxonomies, first, squared) = corners, axes
    for i in range(count):
        out[i] = 0.0
    for j in range(len(low)):
        tree, least, most = taxonomies[j], low[j], high[j]
        if tree >= 0:
            for i in range(count):
                out[i] += prices[first[tree] + int(places[j, begin + i])]
        elif squared:
            for i in range(count):
                here = places[j, begin + i]
                wide = max(most, here) - min(least, here)
                out[i] += wide * wide
        else:
            for i in range(count):
                here = places[j, begin + i]
                out[i] += max(most, here) - min(least, here)


@compiled
def box_cost(
    place: int, places: Array, corners: tuple[Array, Array], prices: Array, axes: tuple[Array, Array, int]
) -> float:
    """Compute the cost of a box with one of some points (point by axis) in it, as `measure_leaf` does."""
    (low, high), (taxonomies, first, squared) = corners, axes
    total = 0.0
    for j in range(len(low)):
        here, tree = places[place, j], taxonomies[j]
        if tree < 0:
            wide = max(high[j], here) - min(low[j], here)
            total += wide * wide if squared else wide
        else:
            total += prices[first[tree] + int(here)]
    return total


@compiled
def least_cost(
    node: int,
    bounds: tuple[Array, Array],
    corners: tuple[Array, Array],
    prices: Array,
    axes: tuple[Array, Array, int],
) -> float:
    """Bound from below what a box costs with any spot of a node in it, which must have some.

    `bounds` are the corners of nodes, `corners` and `prices` those of the box, `axes` as for `measure_leaf`. Every step
    is monotone, rounded or not, and in the order of `measure_leaf`, so the bound holds for rounded costs.
    """
    (low, high), (taxonomies, first, squared) = corners, axes
    total = 0.0
    for j in range(len(low)):
        least, most, tree = bounds[0][node, j], bounds[1][node, j], taxonomies[j]
        if tree < 0:
            wide = max(high[j], least) - min(low[j], most)
            total += wide * wide if squared else wide
        else:
            total += prices[first[tree] + int(min(max(low[j], least), most))]
    return total


@compiled
def greatest_cost(
    node: int,
    bounds: tuple[Array, Array],
    point: Array,
    prices: Array,
    axes: tuple[Array, Array, int],
    middle: Array,
) -> float:
    """Bound from above how far any spot of a node, which must have some, is from a point.

    There are two bounds: to the corners of the box, and by way of the middle m of all points. The last axis of a node
    has the largest distance of any of its spots p from m. On an axis, (p - s)^2 is larger than (p - m)^2 by
    (m - s)^2 + 2 (p - m)(m - s), and |p - s| is larger than |p - m| by at most as much as at the end away from s.
    """
    taxonomies, first, squared = axes
    total, more, terms = 0.0, 0.0, bounds[1][node, len(point)]
    for j in range(len(point)):
        least, most, tree = bounds[0][node, j], bounds[1][node, j], taxonomies[j]
        if tree >= 0:
            cost = max(prices[first[tree] + int(least)], prices[first[tree] + int(most)])
            total, more, terms = total + cost, more + cost, terms + cost
            continue
        wide = max(abs(most - point[j]), abs(least - point[j]))
        back = middle[j] - point[j]
        far = (most if back > 0 else least) - middle[j]
        if squared:
            total, more, terms = total + wide * wide, more + back * (back + 2 * far), terms + back * back
        else:
            total, more, terms = total + wide, more + abs(far + back) - abs(far), terms + abs(back)
    return float(min(total, bounds[1][node, len(point)] + more + ROUNDING * terms))


# Compiled questions to trees of boxes: which rows are nearest to a box, and which one is farthest.
#
# The answers are those of a look at every row: equal costs go to the lowest row. `tree` is `spots`, `nodes`, `shape`,
# the
# taxonomies and room for questions, as `sfumato.tables.algorithms.microaggregation._tree_clusters.BoxTree` makes them.
# A box is lower and upper
# corners, heights on taxonomies, and what every leaf of every taxonomy costs; a point is a box without extent.


@compiled
def box_around_point(places: Array, box: Arrays, shape: Arrays, trees: Arrays) -> None:
    """Make a box of a single point."""
    low, high, level, prices = box
    for j in range(len(low)):
        low[j] = high[j] = places[j]
        if shape[0][j] >= 0:
            level[j] = 0
            compute_leaf_costs(shape[0][j], int(places[j]), 0, trees, prices)


@compiled
def insert_candidate(cost: float, spot: int, row: int, have: int, found: Arrays) -> int:
    """Insert a row into those found so far, cheapest first, if it belongs there; return how many there are.

    If it does not belong there, the result is -1.
    """
    costs, rows, spots = found
    if have == len(costs):
        if cost > costs[have - 1] or (cost == costs[have - 1] and row > rows[have - 1]):
            return -1
        have -= 1
    at = have
    while at > 0 and (costs[at - 1] > cost or (costs[at - 1] == cost and rows[at - 1] > row)):
        costs[at], rows[at], spots[at] = costs[at - 1], rows[at - 1], spots[at - 1]
        at -= 1
    costs[at], rows[at], spots[at] = cost, row, spot
    return have + 1


@compiled
def insert_leaf(
    begin: int,
    end: int,
    costs: Array,
    stock: Arrays,
    have: int,
    found: Arrays,
) -> int:
    """Insert the rows of a leaf, whose costs are given, into those found so far; return how many there are.

    `stock` are of spots where their rows end, how many are left, all rows, and numbers of spots.
    """
    ends, left, rows, number = stock
    for i in range(end - begin):
        if have == len(found[0]) and costs[i] > found[0][have - 1]:
            continue
        for at in range(ends[begin + i] - left[begin + i], ends[begin + i]):
            now = insert_candidate(costs[i], number[begin + i], rows[at], have, found)
            if now < 0:
                break
            have = now
    return have


@compiled
def nearest_rows(tree: Any, box: Arrays, have: int, found: Arrays) -> tuple[int, int]:
    """Find the rows with which a box costs least, as many as there is room for; return how many, and nodes visited.

    Rows that were found before, as many as `have`, count too.
    """
    spots, nodes, shape, trees, (stack, bounds, room) = tree
    places, stock = spots[0], (spots[1], spots[2], spots[3], spots[4])
    second, begins, ends, lowest, of_nodes = nodes[0], nodes[2], nodes[3], nodes[6], (nodes[4], nodes[5])
    corners, prices, axes = (box[0], box[1]), box[3], (shape[0], trees[3], shape[1][0])
    costs, rows, _ = found
    top, visited = 1, 0
    stack[0], bounds[0] = 0, 0.0
    while top > 0:
        top -= 1
        node, bound = stack[top], bounds[top]
        while lowest[node] < NOTHING:
            if have == len(costs):
                most = costs[have - 1]
                if bound > most or (bound == most and lowest[node] > rows[have - 1]):
                    break
            visited += 1
            if second[node] == 0:
                begin, end = begins[node], ends[node]
                measure_leaf(begin, end - begin, places, corners, prices, axes, room)
                have = insert_leaf(begin, end, room, stock, have, found)
                break
            one, other = node + 1, second[node]
            here = there = np.inf
            if lowest[one] < NOTHING:
                here = least_cost(one, of_nodes, corners, prices, axes)
            if lowest[other] < NOTHING:
                there = least_cost(other, of_nodes, corners, prices, axes)
            if there < here:
                one, other, here, there = other, one, there, here
            if there < np.inf:
                stack[top], bounds[top] = other, there
                top += 1
            node, bound = one, here
    return have, visited


@compiled
def farthest_in_leaf(
    begin: int, end: int, costs: Array, stock: Arrays, best: tuple[int, float, int]
) -> tuple[int, float, int]:
    """Find the spot, the cost and the row of the farthest of a leaf's rows, whose costs are given, and another one."""
    ends, left, rows, number = stock
    spot, most, row = best
    for i in range(end - begin):
        if costs[i] >= most:
            lowest = rows[ends[begin + i] - left[begin + i]]
            if costs[i] > most or lowest < row:
                spot, most, row = number[begin + i], costs[i], lowest
    return spot, most, row


@compiled
def farthest_row(tree: Any, box: Arrays) -> tuple[int, int]:
    """Find the spot of the row with which a box costs most; return it, and nodes visited. There must be a row."""
    spots, nodes, shape, trees, (stack, bounds, room) = tree
    places, stock = spots[0], (spots[1], spots[2], spots[3], spots[4])
    second, begins, ends, lowest, of_nodes = nodes[0], nodes[2], nodes[3], nodes[6], (nodes[4], nodes[5])
    corners, prices, axes = (box[0], box[1]), box[3], (shape[0], trees[3], shape[1][0])
    best, top, visited = (-1, -np.inf, NOTHING), 1, 0
    stack[0], bounds[0] = 0, np.inf
    while top > 0:
        top -= 1
        node, bound = stack[top], bounds[top]
        while bound > best[1] or (bound == best[1] and lowest[node] < best[2]):
            visited += 1
            if second[node] == 0:
                begin, end = begins[node], ends[node]
                measure_leaf(begin, end - begin, places, corners, prices, axes, room)
                best = farthest_in_leaf(begin, end, room, stock, best)
                break
            one, other = node + 1, second[node]
            here = there = -np.inf
            if lowest[one] < NOTHING:
                here = greatest_cost(one, of_nodes, corners[0], prices, axes, shape[2])
            if lowest[other] < NOTHING:
                there = greatest_cost(other, of_nodes, corners[0], prices, axes, shape[2])
            if there > here:
                one, other, here, there = other, one, there, here
            stack[top], bounds[top] = other, there
            top += 1
            node, bound = one, here
    return best[0], visited
