"""Compiled containment: a tree over points, and sums over all boxes that contain a point."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled

LEAF_POINTS = 32
APART, CUT, INSIDE = 0, 1, 2  # the relation of a node to a box


@compiled
def grow(points: Array, order: Array, scale: Array, starts: Array, stops: Array, low: Array, high: Array) -> int:
    """Cut points at medians of their widest axis into a tree whose node n has the children 2n + 1 and 2n + 2.

    Nodes have runs of `order` and the range of their points on every axis. Returns the number of nodes used.
    """
    axes = points.shape[0]
    starts[0], stops[0] = 0, len(order)
    used = 1
    for node in range(len(starts)):
        start, stop = starts[node], stops[node]
        if stop <= start:
            continue
        used = node + 1
        widest, width = 0, -1.0
        for j in range(axes):
            least, greatest = points[j, order[start]], points[j, order[start]]
            for i in range(start, stop):
                least = min(least, points[j, order[i]])
                greatest = max(greatest, points[j, order[i]])
            low[node, j], high[node, j] = least, greatest
            if (greatest - least) * scale[j] > width:
                widest, width = j, (greatest - least) * scale[j]
        if stop - start > LEAF_POINTS and width > 0 and 2 * node + 2 < len(starts):
            run = order[start:stop].copy()
            run = run[np.argsort(points[widest][run])]
            order[start:stop] = run
            middle = (start + stop) // 2
            starts[2 * node + 1], stops[2 * node + 1] = start, middle
            starts[2 * node + 2], stops[2 * node + 2] = middle, stop
    return used


@compiled
def relation(low: Array, high: Array, box_low: Array, box_high: Array) -> int:
    """Return whether a node lies outside a box, is cut by it, or lies inside."""
    how = INSIDE
    for j in range(len(low)):
        if high[j] < box_low[j] or low[j] > box_high[j]:
            return APART
        if low[j] < box_low[j] or high[j] > box_high[j]:
            how = CUT
    return how


@compiled
def contains(point: int, points: Array, box_low: Array, box_high: Array, member_rows: Array, members: Array) -> bool:
    """Return whether a box contains a point: on every axis in its range and, if members are listed, one of them."""
    for j in range(points.shape[0]):
        code = points[j, point]
        if code < box_low[j] or code > box_high[j]:
            return False
        if member_rows[j] >= 0 and not members[member_rows[j] + code]:
            return False
    return True


@compiled
def amount(column: int, columns: Array, amounts: Array, start: int, stop: int) -> float:
    """Look up the amount of one of the sorted columns from start to stop; 0 if it is not there."""
    end = stop
    while start < stop:
        middle = (start + stop) // 2
        if columns[middle] < column:
            start = middle + 1
        else:
            stop = middle
    return amounts[start] if start < end and columns[start] == column else 0.0


@compiled
def next_node(
    stack: Array, depth: int, tree: tuple[Array, Array, Array, Array], low: Array, high: Array
) -> tuple[int, int, int]:
    """Go on to a node whose points a box contains or may contain: node, relation and the rest of the stack.

    The node is -1 when no such node is left.
    """
    starts, stops, node_low, node_high = tree
    while depth > 0:
        depth -= 1
        node = stack[depth]
        how = relation(node_low[node], node_high[node], low, high)
        child = 2 * node + 1
        if how == CUT and child < len(starts) and stops[child] > starts[child]:
            stack[depth], stack[depth + 1] = child, child + 1
            depth += 2
        elif how != APART:
            return node, how, depth
    return -1, 0, 0


@compiled
def add_boxes(
    points: Array,
    order: Array,
    tree: tuple[Array, Array, Array, Array],
    boxes: tuple[Array, Array, Array, Array],
    contents: tuple[Array, Array, Array, Array],
    own_columns: Array,
    first: int,
    last: int,
    records: Array,
    own: Array,
) -> None:
    """Add to every point the size of each of the boxes first..last that contains it, and its own value's amount."""
    starts, stops = tree[0], tree[1]
    low, high, member_rows, members = boxes
    sizes, offsets, columns, amounts = contents
    stack = np.zeros(128, dtype=np.int64)
    for box in range(first, last):
        listed = member_rows[box].max() >= 0
        stack[0] = 0
        node, how, depth = next_node(stack, 1, tree, low[box], high[box])
        while node >= 0:
            for i in range(starts[node], stops[node]):
                point = order[i]
                sure = how == INSIDE and not listed
                if sure or contains(point, points, low[box], high[box], member_rows[box], members):
                    records[point] += sizes[box]
                    for a in range(own_columns.shape[0]):
                        own[a, point] += amount(own_columns[a, point], columns, amounts, offsets[box], offsets[box + 1])
            node, how, depth = next_node(stack, depth, tree, low[box], high[box])


@compiled
def weigh_boxes(
    points: Array,
    order: Array,
    tree: tuple[Array, Array, Array, Array],
    boxes: tuple[Array, Array, Array, Array],
    weights: Array,
    values: Array,
    first: int,
    last: int,
    totals: Array,
    highest: Array,
) -> None:
    """Sum the weights of the points in each of the boxes first..last, and find the highest of their values."""
    starts, stops = tree[0], tree[1]
    low, high, member_rows, members = boxes
    stack = np.zeros(128, dtype=np.int64)
    for box in range(first, last):
        listed = member_rows[box].max() >= 0
        stack[0] = 0
        node, how, depth = next_node(stack, 1, tree, low[box], high[box])
        while node >= 0:
            for i in range(starts[node], stops[node]):
                sure = how == INSIDE and not listed
                if sure or contains(order[i], points, low[box], high[box], member_rows[box], members):
                    totals[box] += weights[order[i]]
                    highest[box] = max(highest[box], values[order[i]])
            node, how, depth = next_node(stack, depth, tree, low[box], high[box])
