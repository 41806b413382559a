"""Compiled walk over full-domain recodings: groups are merged from level to level and judged by their counts.

Groups are `keys` (the node of every column, in bits of its own), `sizes`, and `counts` of sets of sensitive values, one
row per group. The first set is that of values that may be anything. All counts and their sums are whole numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core._kernels.compilation import Array, compiled

# Compiled counting of combinations by keys: a key is the sum of what the code of every pack adds to it.


@compiled
def add_to_keys(codes: Array, addends: Array, keys: Array) -> None:
    """Add to every key what the code at its place adds."""
    for i in range(len(keys)):
        keys[i] += addends[codes[i]]


@compiled
def add_weights(keys: Array, weights: Array, cells: Array) -> None:
    """Add the weight of every key to its cell."""
    for i in range(len(keys)):
        cells[keys[i]] += weights[i]


@compiled
def record_positions(keys: Array, start: int, places: Array) -> None:
    """Note for the cell of every key its place, counted from `start`; the last one stays."""
    for i in range(len(keys)):
        places[keys[i]] = start + i


MIX = np.uint64(0x9E3779B97F4A7C15)
ROUNDING = 1e-12  # more than all roundings of a distance and of its limit together
Tuple = tuple[Any, ...]


@compiled
def merge_groups(groups: Tuple, number: int, shift: int, mask: int, above: Array, slots: Array, merged: Tuple) -> int:
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
def map_levels(column: int, lower: int, upper: int, ladders: Tuple, above: Array) -> None:
    """Find for every node of a level the node above it on a higher level."""
    nodes, node_starts, leaves, leaf_starts, widths = ladders
    start, first = node_starts[column, upper], leaf_starts[column, lower]
    for node in range(widths[column, lower]):
        above[node] = nodes[start + leaves[first + node]]


@compiled
def measure_distance(sizes: Array, counts: Array, group: int, rule: tuple[int, int, int], whole: Array) -> float:
    """Measure how far a group is from a table by one rule, rounded once."""
    first, end, scale = rule
    size, unknown, table = np.int64(sizes[group]), np.int64(counts[group, 0]), whole[-1]
    known = size - unknown
    moved = unknown * table * scale
    for each in range(first, end):
        moved += abs(counts[group, each] * table - whole[each] * known)
    return float(moved / (size * table * scale))


@compiled
def bound_lost_records(size: int, far: float, limit: float) -> float:
    """Bound from below how many records of a group are in parts that are too far, however it is split.

    The distances of its parts are on average no less than its own, and at most 1.
    """
    if far <= limit:
        return 0.0
    return max(1.0, np.ceil(size * (far - limit - ROUNDING) / (1 - limit))) if limit < 1 else 1.0


@compiled
def drop_violating_groups(
    groups: Tuple, number: int, rules: Tuple, kept: Array, margins: Array
) -> tuple[int, int, int]:
    """Drop groups that are too small, or too far from the whole table.

    Return how many are left, how many records all others have, and how many at least are lost however the groups are
    split; as soon as these are too many, the rest stays unjudged. A margin is how far a group may move away before a
    rule that is asked again drops it.
    """
    _, sizes, counts = groups
    smallest, most_lost, starts, scales, limits, once, whole = rules
    left = lost = 0
    for group in range(number):
        if sizes[group] < smallest:
            lost += sizes[group]
    torn = lost
    for group in range(number):
        if torn > most_lost:
            break
        size = sizes[group]
        if size < smallest:
            continue
        margin, least = np.inf, 0.0
        for rule in range(len(scales)):
            far = measure_distance(sizes, counts, group, (starts[rule], starts[rule + 1], scales[rule]), whole)
            least = max(least, bound_lost_records(size, far, limits[rule]))
            if not once[rule]:
                margin = min(margin, limits[rule] - far)
        if least > 0:
            lost += size
            torn += min(np.int64(least), size)
        else:
            kept[left], margins[left] = group, margin
            left += 1
    return left, max(lost, torn), torn


@compiled
def sum_groups(sizes: Array, counts: Array, kept: Array, whole: Array) -> None:
    """Count what some groups make up together; the last number is that of known values, at least 1."""
    whole[:] = 0
    for group in kept:
        whole[-1] += sizes[group] - counts[group, 0]
        for each in range(counts.shape[1]):
            whole[each] += counts[group, each]
    whole[-1] = max(whole[-1], 1)


@compiled
def measure_drift(before: Array, after: Array, rules: Tuple) -> float:
    """Measure how far a table has moved by the rules that are asked again: no group moves farther away from it."""
    _, _, starts, scales, _, once, _ = rules
    most = 0.0
    for rule in range(len(scales)):
        moved = 0.0
        for each in range(starts[rule], starts[rule + 1]):
            moved += abs(before[each] / before[-1] - after[each] / after[-1])
        if not once[rule]:
            most = max(most, moved / scales[rule])
    return most


@compiled
def evaluate_groups(groups: Tuple, number: int, rules: Tuple, kept: Array, margins: Array) -> tuple[int, int, int]:
    """List the groups that are kept; return how many these are, and how many records are lost here and below.

    Groups that are too small, or too far from the whole table, are dropped. Those left are compared with what they
    make up together, until none is dropped. As soon as more records than allowed are lost, the rest stays unjudged.
    A group whose margin is larger than the way that the table has moved needs no new comparison.
    """
    _, sizes, counts = groups
    most_lost, starts, scales, limits, once, whole = rules[1:]
    left, lost, torn = drop_violating_groups(groups, number, rules, kept, margins)
    table, way, falling = whole, ROUNDING, lost > 0
    while falling and lost <= most_lost:
        now = np.empty_like(whole)
        sum_groups(sizes, counts, kept[:left], now)
        way += measure_drift(table, now, rules) + ROUNDING
        table, stay, falling = now, 0, False
        for place in range(left):
            group, margin = kept[place], margins[place]
            if margin <= way:
                margin = np.inf
                for rule in range(len(scales)):
                    if not once[rule]:
                        own = starts[rule], starts[rule + 1], scales[rule]
                        margin = min(margin, limits[rule] - measure_distance(sizes, counts, group, own, table))
                if margin < 0:
                    lost += sizes[group]
                    falling = True
                    continue
                margin += way
            kept[stay], margins[stay] = group, margin
            stay += 1
        left = stay
    return left, lost, torn


@compiled
def sum_costs(groups: Tuple, kept: Array, levels: Array, columns: Tuple, costs: Tuple) -> float:
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
def next_node(
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
def search_lattice(
    number: int, first: int, levels: Array, tables: Tuple, rules: Tuple, wanted: Array, space: Tuple, found: Tuple
) -> None:
    """Judge the wanted recodings that raise the columns from `first` on, the last one fastest.

    `wanted[i + 1] - wanted[i]` is 1 if the i-th of them is wanted, else 0. The groups to start from are the first set
    in `space`. Every recoding is counted on the one that has a lower level of the column that was raised last.
    """
    keys, sizes, counts, slots, above, kept, margins = space
    columns, ladders, costs = tables
    shifts, masks, heights = columns
    lost, torn, published = found
    most_lost, depth = rules[1], len(levels)
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
            left, lost[place], torn[place] = evaluate_groups(groups, numbers[depth - 1], rules, kept, margins)
            if lost[place] <= most_lost:
                published[place] = sum_costs(groups, kept[:left], levels, columns, costs)
        column, level, place = next_node(place, first, levels, heights, strides, wanted)
        if column < first:
            break
        map_levels(column, levels[column], level, ladders, above)
        source = inside[column]
        target = 1 + 2 * (column - first)
        if source == target:
            target += 1
        raised = merge_groups(
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
