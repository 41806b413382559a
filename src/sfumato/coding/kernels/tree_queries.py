"""Compiled questions to trees of boxes: which rows are nearest to a box, and which one is farthest.

The answers are those of a look at every row: equal costs go to the lowest row. `tree` is `spots`, `nodes`, `shape`, the
taxonomies and room for questions, as `sfumato.coding.clustering.box_tree.BoxTree` makes them. A box is lower and upper
corners, heights on taxonomies, and what every leaf of every taxonomy costs; a point is a box without extent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.coding.kernels.box_growing import compute_leaf_costs
from sfumato.coding.kernels.box_trees import NOTHING, greatest_cost, least_cost, measure_leaf
from sfumato.coding.kernels.compiling import Array, Arrays, compiled


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
