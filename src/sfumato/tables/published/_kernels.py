"""Compiled containment: cut points and boxes together until few are left, then compare them one by one."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, compiled

LEAF_PAIRS = 512
MIN_GAIN = 0.95  # a cut that leaves more pairs than this share is not worth its work
BINS = 32
SAMPLE = 512
DEPTH = 512


@compiled
def choose_cut(
    points: Array, order: Array, low: Array, high: Array, buffer: Array, node: Array, tally: Array
) -> tuple[int, int]:
    """Choose the axis and the code that leave the fewest pairs of points and boxes, judged by a sample of both.

    Points below the code go left. Boxes go to every side that they reach into. The axis is -1 where no cut pays.
    """
    first, last, begin, end = node[0], node[1], node[2], node[3]
    point_step, box_step = (last - first) // SAMPLE + 1, (end - begin) // SAMPLE + 1
    best, axis, threshold = MIN_GAIN, -1, 0
    for j in range(points.shape[0]):
        least, greatest = points[j, order[first]], points[j, order[first]]
        for i in range(first, last, point_step):
            least, greatest = min(least, points[j, order[i]]), max(greatest, points[j, order[i]])
        if least == greatest:
            continue
        width = int(greatest) - int(least) + 1
        for k in range(BINS + 1):
            tally[0, k], tally[1, k], tally[2, k] = 0, 0, 0
        for i in range(first, last, point_step):
            tally[0, (int(points[j, order[i]]) - least) * BINS // width] += 1
        for i in range(begin, end, box_step):
            box = buffer[i]
            tally[1, min(max((int(low[box, j]) - least) * BINS // width, 0), BINS)] += 1
            tally[2, min(max((int(high[box, j]) - least) * BINS // width, -1), BINS - 1) + 1] += 1
        all_points, all_boxes = 0, 0
        for k in range(BINS + 1):
            all_points += tally[0, k]
            all_boxes += tally[1, k]
        left, reach_left, behind = 0, 0, tally[2, 0]
        for k in range(1, BINS):
            left += tally[0, k - 1]
            reach_left += tally[1, k - 1]
            behind += tally[2, k]
            pairs = left * reach_left + (all_points - left) * (all_boxes - behind)
            share = pairs / (all_points * all_boxes)
            if share < best and 0 < left < all_points:
                best, axis = share, j
                threshold = least + (k * width + BINS - 1) // BINS
    return axis, threshold


@compiled
def push_node(stack: Array, depth: int, first: int, last: int, begin: int, end: int) -> None:
    """Write down a node."""
    stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = first, last, begin, end


@compiled
def split_node(
    points: Array, order: Array, low: Array, high: Array, buffer: Array, stack: Array, depth: int, axis: int, code: int
) -> int:
    """Cut the node at a depth in two, which take its place and the next one; return the depth after them."""
    first, last, begin, end = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
    middle, behind = first, last
    while middle < behind:
        if points[axis, order[middle]] < code:
            middle += 1
        else:
            behind -= 1
            order[middle], order[behind] = order[behind], order[middle]
    right = end
    for i in range(begin, end):
        if high[buffer[i], axis] >= code:
            buffer[right] = buffer[i]
            right += 1
    left = right
    for i in range(begin, end):
        if low[buffer[i], axis] < code:
            buffer[left] = buffer[i]
            left += 1
    push_node(stack, depth, middle, last, end, right)
    push_node(stack, depth + 1, first, middle, right, left)
    return depth + 2


@compiled
def advance_to_leaf(
    points: Array, order: Array, low: Array, high: Array, buffer: Array, stack: Array, depth: int, tally: Array
) -> tuple[int, Array]:
    """Cut nodes until one is small: it stands at the depth that is returned, which is -1 when no node is left.

    A node is a run of `order` and a run of `buffer`, which lists boxes in ascending order and may have to grow.
    """
    while depth > 0:
        depth -= 1
        first, last, begin, end = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        if first == last or begin == end:
            continue
        if (last - first) * (end - begin) <= LEAF_PAIRS or depth + 2 > len(stack):
            return depth, buffer
        axis, code = choose_cut(points, order, low, high, buffer, stack[depth], tally)
        if axis < 0:
            return depth, buffer
        if end + 2 * (end - begin) > len(buffer):
            grown = np.empty(2 * (end + 2 * (end - begin)), dtype=buffer.dtype)
            for i in range(end):
                grown[i] = buffer[i]
            buffer = grown
        depth = split_node(points, order, low, high, buffer, stack, depth, axis, code)
    return -1, buffer


@compiled
def start_walk(points: tuple[int, int], boxes: tuple[int, int]) -> tuple[Array, Array, Array, Array]:
    """Lay out a walk over runs of points and of boxes: order of points, list of boxes, stack, tallies."""
    many, count = points[1] - points[0], boxes[1] - boxes[0]
    order, buffer = np.empty(many, dtype=np.int64), np.empty(4 * count + 1, dtype=np.int64)
    for i in range(many):
        order[i] = points[0] + i
    for i in range(count):
        buffer[i] = boxes[0] + i
    stack = np.empty((DEPTH, 4), dtype=np.int64)
    push_node(stack, 0, 0, many, 0, count)
    return order, buffer, stack, np.empty((3, BINS + 1), dtype=np.int64)


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
def look_up_amount(column: int, columns: Array, amounts: Array, start: int, stop: int) -> float:
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
def add_boxes(
    points: Array,
    boxes: tuple[Array, Array, Array, Array],
    contents: tuple[Array, Array, Array, Array],
    own_columns: Array,
    first: int,
    last: int,
    records: Array,
    own: Array,
) -> None:
    """Add to each of the points first..last the sizes of all boxes that contain it, and its own value's amounts."""
    low, high, member_rows, members = boxes
    sizes, offsets, columns, amounts = contents
    order, buffer, stack, tally = start_walk((first, last), (0, len(sizes)))
    depth, buffer = advance_to_leaf(points, order, low, high, buffer, stack, 1, tally)
    while depth >= 0:
        start, stop, begin, end = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        for i in range(start, stop):
            point = order[i]
            for b in range(begin, end):
                box = buffer[b]
                if contains(point, points, low[box], high[box], member_rows[box], members):
                    records[point] += sizes[box]
                    for a in range(own_columns.shape[0]):
                        own[a, point] += look_up_amount(
                            own_columns[a, point], columns, amounts, offsets[box], offsets[box + 1]
                        )
        depth, buffer = advance_to_leaf(points, order, low, high, buffer, stack, depth, tally)


@compiled
def weigh_boxes(
    points: Array,
    boxes: tuple[Array, Array, Array, Array],
    weights: Array,
    values: Array,
    first: int,
    last: int,
    totals: Array,
    highest: Array,
) -> None:
    """Sum the weights of the points in each of the boxes first..last, and find the highest of their values."""
    low, high, member_rows, members = boxes
    order, buffer, stack, tally = start_walk((0, points.shape[1]), (first, last))
    depth, buffer = advance_to_leaf(points, order, low, high, buffer, stack, 1, tally)
    while depth >= 0:
        start, stop, begin, end = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        for b in range(begin, end):
            box = buffer[b]
            for i in range(start, stop):
                if contains(order[i], points, low[box], high[box], member_rows[box], members):
                    totals[box] += weights[order[i]]
                    highest[box] = max(highest[box], values[order[i]])
        depth, buffer = advance_to_leaf(points, order, low, high, buffer, stack, depth, tally)


@compiled
def list_pairs(points: Array, boxes: tuple[Array, Array, Array, Array], first: int, last: int) -> Array:
    """List the pairs of a point and one of the boxes first..last that contains it, in no particular order."""
    low, high, member_rows, members = boxes
    found, count = np.empty((1024, 2), dtype=np.int64), 0
    order, buffer, stack, tally = start_walk((0, points.shape[1]), (first, last))
    depth, buffer = advance_to_leaf(points, order, low, high, buffer, stack, 1, tally)
    while depth >= 0:
        start, stop, begin, end = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        if count + (stop - start) * (end - begin) > len(found):
            more = np.empty((2 * (count + (stop - start) * (end - begin)), 2), dtype=np.int64)
            for i in range(count):
                more[i, 0], more[i, 1] = found[i, 0], found[i, 1]
            found = more
        for i in range(start, stop):
            for b in range(begin, end):
                box = buffer[b]
                if contains(order[i], points, low[box], high[box], member_rows[box], members):
                    found[count, 0], found[count, 1] = order[i], box
                    count += 1
        depth, buffer = advance_to_leaf(points, order, low, high, buffer, stack, depth, tally)
    return found[:count]
