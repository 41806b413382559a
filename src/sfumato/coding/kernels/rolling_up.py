"""Compiled walk over full-domain recodings: groups are merged from level to level and judged by their counts.

Groups are `keys` (the node of every column, in bits of its own), `sizes`, and `counts` of sets of sensitive values, one
row per group. The first set is that of values that may be anything. All counts and their sums are whole numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled

MIX = np.uint64(0x9E3779B97F4A7C15)
Tuple = tuple[Any, ...]


@compiled
def merge(groups: Tuple, number: int, shift: int, mask: int, above: Array, slots: Array, merged: Tuple) -> int:
    """Merge groups whose nodes in one column have the same node above; return the number of merged groups."""
    keys, sizes, counts = groups
    new_keys, new_sizes, new_counts = merged
    used, bits = 16, 4
    while used < 2 * number:
        used *= 2
        bits += 1
    slots[:used] = -1
    wrap, high, width = np.uint64(used - 1), np.uint64(64 - bits), counts.shape[1]
    found = 0
    for group in range(number):
        key = keys[group]
        node = (key >> shift) & mask
        key += (above[node] - node) << shift
        slot = (np.uint64(key) * MIX) >> high
        while True:
            place = slots[slot]
            if place < 0:
                slots[slot] = found
                new_keys[found] = key
                new_sizes[found] = sizes[group]
                for each in range(width):
                    new_counts[found, each] = counts[group, each]
                found += 1
                break
            if new_keys[place] == key:
                new_sizes[place] += sizes[group]
                for each in range(width):
                    new_counts[place, each] += counts[group, each]
                break
            slot = (slot + np.uint64(1)) & wrap
    return found


@compiled
def lift(column: int, lower: int, upper: int, ladders: Tuple, above: Array) -> None:
    """Find for every node of a level the node above it on a higher level."""
    nodes, node_starts, leaves, leaf_starts, widths = ladders
    start, first = node_starts[column, upper], leaf_starts[column, lower]
    for node in range(widths[column, lower]):
        above[node] = nodes[start + leaves[first + node]]


@compiled
def is_far(sizes: Array, counts: Array, group: int, rules: Tuple, whole: Array, before: int) -> bool:
    """Return whether a group is too far from a table by any rule; if judged before, some rules stay unasked."""
    _, _, starts, scales, limits, once, _ = rules
    size, unknown, table = np.int64(sizes[group]), np.int64(counts[group, 0]), whole[-1]
    known = size - unknown
    for rule in range(len(scales)):
        if before and once[rule]:
            continue
        moved = unknown * table * scales[rule]
        for each in range(starts[rule], starts[rule + 1]):
            moved += abs(counts[group, each] * table - whole[each] * known)
        if moved / (size * table * scales[rule]) > limits[rule]:
            return True
    return False


@compiled
def sum_up(sizes: Array, counts: Array, kept: Array, whole: Array) -> None:
    """Count what some groups make up together; the last number is that of known values, at least 1."""
    whole[:] = 0
    for group in kept:
        whole[-1] += sizes[group] - counts[group, 0]
        for each in range(counts.shape[1]):
            whole[each] += counts[group, each]
    whole[-1] = max(whole[-1], 1)


@compiled
def judge(groups: Tuple, number: int, rules: Tuple, kept: Array) -> tuple[int, int]:
    """List the groups that are kept; return how many these are, and how many records all others have.

    Groups that are too small, or too far from the whole table, are dropped. Those left are compared with what they
    make up together, until none is dropped. As soon as more records than allowed are lost, the rest stays unjudged.
    """
    _, sizes, counts = groups
    smallest, most_lost, whole = rules[0], rules[1], rules[6]
    left = lost = 0
    for group in range(number):
        if sizes[group] >= smallest:
            kept[left] = group
            left += 1
        else:
            lost += sizes[group]
    table, passes, falling = whole.copy(), 0, True
    while falling and lost <= most_lost:
        stay = 0
        for place in range(left):
            group = kept[place]
            if is_far(sizes, counts, group, rules, table, passes):
                lost += sizes[group]
            else:
                kept[stay] = group
                stay += 1
        falling = stay < left or (lost > 0 and not passes)
        left, passes = stay, passes + 1
        if falling:
            sum_up(sizes, counts, kept[:left], table)
    return left, lost


@compiled
def price(groups: Tuple, kept: Array, levels: Array, columns: Tuple, costs: Tuple) -> float:
    """Sum the costs of all cells of the kept groups, in their order."""
    keys, sizes, _ = groups
    shifts, masks, _ = columns
    cost, cost_starts = costs
    total = 0.0
    for group in kept:
        cells = 0.0
        for column in range(len(levels)):
            cells += cost[cost_starts[column, levels[column]] + ((keys[group] >> shifts[column]) & masks[column])]
        total += sizes[group] * cells
    return total


@compiled
def next_wanted(
    place: int, first: int, levels: Array, heights: Array, strides: Array, wanted: Array
) -> tuple[int, int, int]:
    """Find the next column to raise, its level, and the place of that node; a column before `first` if none is left."""
    column = len(levels) - 1
    while column >= first:
        start = place - levels[column] * strides[column]
        for level in range(levels[column] + 1, heights[column] + 1):
            begin = start + level * strides[column]
            if wanted[begin + strides[column]] > wanted[begin]:
                return column, level, begin
        place = start
        column -= 1
    return column, 0, 0


@compiled
def walk(
    number: int, first: int, levels: Array, tables: Tuple, rules: Tuple, wanted: Array, space: Tuple, found: Tuple
) -> None:
    """Judge the wanted recodings that raise the columns from `first` on, the last one fastest.

    `wanted[i + 1] - wanted[i]` is 1 if the i-th of them is wanted, else 0. The groups to start from are the first set
    in `space`. Every recoding is counted on the one that has a lower level of the column that was raised last.
    """
    keys, sizes, counts, slots, above, kept = space
    columns, ladders, costs = tables
    shifts, masks, heights = columns
    lost, published = found
    depth = len(levels)
    inside = np.zeros(depth, dtype=np.int64)  # which set of groups belongs to the levels up to a column
    numbers = np.full(depth, number)
    strides = np.ones(depth, dtype=np.int64)
    for column in range(depth - 2, first - 1, -1):
        strides[column] = strides[column + 1] * (heights[column + 1] + 1)
    place = 0
    while True:
        if wanted[place + 1] > wanted[place]:
            own = inside[depth - 1]
            groups = keys[own], sizes[own], counts[own]
            left, lost[place] = judge(groups, numbers[depth - 1], rules, kept)
            published[place] = price(groups, kept[:left], levels, columns, costs)
        column, level, place = next_wanted(place, first, levels, heights, strides, wanted)
        if column < first:
            break
        lift(column, levels[column], level, ladders, above)
        source = inside[column]
        target = 1 + 2 * (column - first)
        if source == target:
            target += 1
        raised = merge(
            (keys[source], sizes[source], counts[source]),
            numbers[column],
            shifts[column],
            masks[column],
            above,
            slots,
            (keys[target], sizes[target], counts[target]),
        )
        levels[column] = level
        for lower in range(column, depth):
            inside[lower], numbers[lower] = target, raised
            if lower > column:
                levels[lower] = 0
    levels[first:] = 0
