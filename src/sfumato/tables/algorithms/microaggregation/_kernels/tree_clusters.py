"""Compiled clustering by questions to a tree of boxes: the same groups as by loops over all points, in less time.

`tree` and `box` are those of `sfumato.tables.algorithms.microaggregation._kernels.box_trees`. `state` begins with the
number of free rows and of groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, compiled
from sfumato.tables.algorithms.microaggregation._kernels.box_trees import (
    box_around_point,
    box_cost,
    farthest_row,
    lowest_row,
    nearest_rows,
    take_row,
)
from sfumato.tables.algorithms.microaggregation._kernels.k_member import compute_leaf_costs
from sfumato.tables.algorithms.microaggregation._kernels.mdav import SLACK, count_differing_levels, find_center

READS = 8  # records are sorted again once each was read this often


@compiled
def assign_rows(
    group: int,
    have: int,
    found: Arrays,
    tree: Any,
    points: Arrays,
    left: Arrays,
    label: Array,
) -> None:
    """Put rows that were found into a group, and subtract them from sums and counts of those that are left."""
    lines, codes, first = points
    for at in range(have):
        row = take_row(found[2][at], tree[0], tree[1])
        label[row] = group
        for j in range(lines.shape[0]):
            left[0][j] -= lines[j, row]
        for j in range(codes.shape[0]):
            left[1][first[j] + codes[j, row]] -= 1


@compiled
def measure_spots(center: Array, places: Array, tree: Any, box: Arrays, out: Array) -> None:
    """Compute the distance of every spot from a center; it is negative where no row is left."""
    spots, _, shape, trees, _ = tree
    box_around_point(center, box, shape, trees)
    corners, prices, axes = (box[0], box[1]), box[3], (shape[0], trees[3], shape[1][0])
    left, place_of = spots[2], spots[5]
    for spot in range(len(out)):
        out[spot] = -1.0
        if left[place_of[spot]] > 0:
            out[spot] = np.sqrt(box_cost(spot, places, corners, prices, axes))


@compiled
def center_distance(center: Array, early: Array, shape: Arrays, trees: Arrays) -> float:
    """Compute the distance of two centers."""
    total = 0.0
    for j in range(len(center)):
        tree = shape[0][j]
        if tree < 0:
            total += (center[j] - early[j]) * (center[j] - early[j])
        else:
            total += trees[6][trees[4][tree] + count_differing_levels(tree, int(center[j]), int(early[j]), trees)]
    return float(np.sqrt(total))


@compiled
def farthest_from_center(center: Array, tree: Any, box: Arrays, far: Arrays) -> int:
    """Find the spot of the row farthest from a center, reading from the spot farthest from an early center on.

    No spot is farther from the center than from the early one plus the way between the two, so most are not read.
    """
    spots, _, shape, trees, _ = tree
    order, apart, places, early, ends = far
    way = center_distance(center, early, shape, trees)
    box_around_point(center, box, shape, trees)
    corners, prices, axes = (box[0], box[1]), box[3], (shape[0], trees[3], shape[1][0])
    left, place_of = spots[2], spots[5]
    while left[place_of[order[ends[0] - 1]]] == 0:
        ends[0] -= 1
    best, most, row = -1, -1.0, 0
    for at in range(ends[0] - 1, -1, -1):
        if best >= 0 and (apart[at] + way) * (1 + SLACK) + SLACK < np.sqrt(most):
            break
        ends[1] += 1
        cost, place = box_cost(at, places, corners, prices, axes), place_of[order[at]]
        if cost >= most and left[place] > 0:
            number = lowest_row(place, spots)
            if cost > most or number < row:
                best, most, row = order[at], cost, number
    return best


@compiled
def find_remaining_center(free: int, left: Arrays, coded: Any, center: Array) -> None:
    """Find the center of all free rows, as coordinates: means, positions of ranks, and codes of leaves."""
    axes, spots, lines, codes = coded
    find_center(left[0], left[1], free, axes, (lines, codes))
    for j in range(len(lines)):
        center[j] = lines[j]
    for j in range(len(codes)):
        center[len(lines) + j] = spots[axes[3][j] + codes[j]]


@compiled
def mdav_by_tree(
    tree: Any,
    points: Arrays,
    coded: Any,
    left: Arrays,
    box: Arrays,
    far: Arrays,
    state: Array,
    least: int,
    work: int,
    label: Array,
) -> int:
    """Form groups as `mdav.mdav` does, until a number of nodes was visited; return it.

    It ends earlier if so many records were read that sorting them by their distance from the center again saves work.
    """
    spots, _, shape, trees, _ = tree
    center = np.empty(len(box[0]))
    found = np.empty(least), np.empty(least, dtype=np.int64), np.empty(least, dtype=np.int64)
    done = 0
    ends = far[4]
    while done < work and state[0] >= 2 * least and ends[1] <= READS * ends[0]:
        find_remaining_center(state[0], left, coded, center)
        done -= ends[1]
        seed = farthest_from_center(center, tree, box, far)
        done += ends[1]
        for turn in range(2 if state[0] >= 3 * least else 1):
            box_around_point(spots[0][:, spots[5][seed]], box, shape, trees)
            have, visited = nearest_rows(tree, box, 0, found)
            assign_rows(state[1], have, found, tree, points, left, label)
            state[0], state[1], done = state[0] - least, state[1] + 1, done + visited
            if turn == 0 and state[0] >= 2 * least:
                seed, visited = farthest_row(tree, box)
                done += visited
    return done


@compiled
def nearest_to_any(members: Array, tree: Any, box: Arrays, found: Arrays) -> tuple[int, int]:
    """Find the row nearest to any of some spots; return whether there is one, and nodes visited."""
    spots, _, shape, trees, _ = tree
    have = total = 0
    for member in members:
        box_around_point(spots[0][:, spots[5][member]], box, shape, trees)
        have, visited = nearest_rows(tree, box, have, found)
        total += visited
    return have, total


@compiled
def v_mdav_by_tree(
    tree: Any,
    points: Arrays,
    left: Arrays,
    box: Arrays,
    far_first: Arrays,
    state: Array,
    least: int,
    gamma: float,
    work: int,
    label: Array,
) -> int:
    """Form groups as `mdav.v_mdav` does, until a number of nodes was visited; return it.

    `far_first` are rows and the spot of every row; `state` also has how many of them were looked at.
    """
    spots, _, shape, trees, _ = tree
    found = np.empty(least), np.empty(least, dtype=np.int64), np.empty(least, dtype=np.int64)
    one = np.empty(1), np.empty(1, dtype=np.int64), np.empty(1, dtype=np.int64)
    two = np.empty(2), np.empty(2, dtype=np.int64), np.empty(2, dtype=np.int64)
    members, done = np.empty(2 * least, dtype=np.int64), 0
    while done < work and state[0] >= least:
        while label[far_first[0][state[2]]] >= 0:
            state[2] += 1
        box_around_point(spots[0][:, spots[5][far_first[1][far_first[0][state[2]]]]], box, shape, trees)
        have, visited = nearest_rows(tree, box, 0, found)
        for at in range(have):
            members[at] = found[2][at]
        assign_rows(state[1], have, found, tree, points, left, label)
        size, free, done = have, state[0] - have, done + visited
        while size < 2 * least - 1 and free > 0:
            _, visited = nearest_to_any(members[:size], tree, box, one)
            box_around_point(spots[0][:, spots[5][one[2][0]]], box, shape, trees)
            have, again = nearest_rows(tree, box, 0, two)
            done += visited + again
            outside = two[0][1] if have > 1 else np.inf
            if not np.sqrt(one[0][0]) < gamma * np.sqrt(outside):
                break
            members[size] = one[2][0]
            assign_rows(state[1], 1, one, tree, points, left, label)
            size, free = size + 1, free - 1
        state[0], state[1] = free, state[1] + 1
    return done


@compiled
def widen_box(places: Array, box: Arrays, shape: Arrays, trees: Arrays) -> None:
    """Take a point into a box."""
    low, high, level, prices = box
    for j in range(len(low)):
        tree = shape[0][j]
        if tree < 0:
            low[j], high[j] = min(low[j], places[j]), max(high[j], places[j])
            continue
        height = count_differing_levels(tree, int(low[j]), int(places[j]), trees)
        if height > level[j]:
            level[j] = height
            compute_leaf_costs(tree, int(low[j]), height, trees, prices)


@compiled
def grow_by_tree(
    tree: Any,
    room: Arrays,
    boxes: Arrays,
    state: Array,
    least: int,
    work: int,
    label: Array,
) -> int:
    """Grow groups as `k_member.grow_groups` does, until a number of nodes was visited; return it.

    `state` also has the spot of the last seed.
    """
    spots, nodes, shape, trees, _ = tree
    found, done = (np.empty(1), np.empty(1, dtype=np.int64), np.empty(1, dtype=np.int64)), 0
    while done < work and state[0] >= least:
        group = state[1]
        box_around_point(spots[0][:, spots[5][state[2]]], room, shape, trees)
        state[2], visited = farthest_row(tree, room)
        done += visited
        box = boxes[0][group], boxes[1][group], boxes[2][group], room[3]
        box_around_point(spots[0][:, spots[5][state[2]]], box, shape, trees)
        label[take_row(state[2], spots, nodes)] = group
        for _ in range(least - 1):
            _, visited = nearest_rows(tree, box, 0, found)
            done += visited
            widen_box(spots[0][:, spots[5][found[2][0]]], box, shape, trees)
            label[take_row(found[2][0], spots, nodes)] = group
        state[0], state[1] = state[0] - least, group + 1
    return done
