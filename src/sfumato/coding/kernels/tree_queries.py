"""Compiled questions to trees of boxes: which rows are nearest to a box, and which one is farthest.

The answers are those of a look at every row: equal costs go to the lowest row. `tree` is `spots`, `nodes`, `shape`, the
taxonomies and room for questions, as `sfumato.coding.clustering.box_tree.BoxTree` makes them. A box is lower and upper
corners, heights on taxonomies, and what every leaf of every taxonomy costs; a point is a box without extent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.coding.kernels.box_growing import price_leaves
from sfumato.coding.kernels.box_trees import NOTHING, least_cost, lowest_row, measure_leaf, most_cost
from sfumato.coding.kernels.compiling import Array, Arrays, compiled


@compiled
def aim(places: Array, box: Arrays, shape: Arrays, trees: Arrays) -> None:
    """Make a box of a single point."""
    low, high, level, prices = box
    for j in range(len(low)):
        low[j] = high[j] = places[j]
        if shape[0][j] >= 0:
            level[j] = 0
            price_leaves(shape[0][j], int(places[j]), 0, trees, prices)


@compiled
def insert(cost: float, spot: int, row: int, have: int, found: Arrays) -> int:
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
    node: int,
    spots: Arrays,
    nodes: Arrays,
    costs: Array,
    have: int,
    found: Arrays,
) -> int:
    """Insert the rows of a leaf, whose costs are given, into those found so far; return how many there are."""
    begin = nodes[2][node]
    for i in range(nodes[3][node] - begin):
        if have == len(found[0]) and costs[i] > found[0][have - 1]:
            continue
        end = spots[1][begin + i]
        for at in range(end - spots[2][begin + i], end):
            now = insert(costs[i], spots[4][begin + i], spots[3][at], have, found)
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
    second, lowest, first = nodes[0], nodes[6], trees[3]
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
                measure_leaf(node, spots, nodes, box, shape, first, room)
                have = insert_leaf(node, spots, nodes, room, have, found)
                break
            one, other = node + 1, second[node]
            here = least_cost(one, nodes, box, shape, first)
            there = least_cost(other, nodes, box, shape, first)
            if there < here:
                one, other, here, there = other, one, there, here
            if there < np.inf:
                stack[top], bounds[top] = other, there
                top += 1
            node, bound = one, here
    return have, visited


@compiled
def farthest_in_leaf(
    node: int, spots: Arrays, nodes: Arrays, costs: Array, best: tuple[int, float, int]
) -> tuple[int, float, int]:
    """Find the spot, the cost and the row of the farthest of a leaf's rows, whose costs are given, and another one."""
    spot, most, row = best
    for i in range(nodes[3][node] - nodes[2][node]):
        if costs[i] >= most:
            number = lowest_row(nodes[2][node] + i, spots)
            if costs[i] > most or number < row:
                spot, most, row = spots[4][nodes[2][node] + i], costs[i], number
    return spot, most, row


@compiled
def farthest_row(tree: Any, box: Arrays) -> tuple[int, int]:
    """Find the spot of the row with which a box costs most; return it, and nodes visited. There must be a row."""
    spots, nodes, shape, trees, (stack, bounds, room) = tree
    second, lowest, first = nodes[0], nodes[6], trees[3]
    best, top, visited = (-1, -np.inf, NOTHING), 1, 0
    stack[0], bounds[0] = 0, np.inf
    while top > 0:
        top -= 1
        node, bound = stack[top], bounds[top]
        while bound > best[1] or (bound == best[1] and lowest[node] < best[2]):
            visited += 1
            if second[node] == 0:
                measure_leaf(node, spots, nodes, box, shape, first, room)
                best = farthest_in_leaf(node, spots, nodes, room, best)
                break
            one, other = node + 1, second[node]
            here = most_cost(one, nodes, box, shape, first)
            there = most_cost(other, nodes, box, shape, first)
            if there > here:
                one, other, here, there = other, one, there, here
            stack[top], bounds[top] = other, there
            top += 1
            node, bound = one, here
    return best[0], visited
