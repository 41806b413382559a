"""Compiled growth of groups: each takes the record that enlarges its box of values least.

Candidates are distinct records with counts. They lie on line axes (`places`) and tree axes (`codes`), whose layout
`trees` is described at `sfumato.tables.algorithms.microaggregation._point_clusters.TreeAxes`. Candidates that are used
up are swapped behind the others.
"""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, compiled
from sfumato.tables.algorithms.microaggregation._kernels.mdav import (
    count_differing_levels,
    farthest,
    find_nearest,
    swap,
)

POOL = 64  # the fewest candidates looked at first; others are looked at only if these cost too much


@compiled
def compute_leaf_costs(j: int, code: int, level: int, trees: tuple[Array, ...], prices: Array) -> None:
    """Write the cost of a box, which contains a leaf and has a height on one tree, with every other leaf."""
    leaves, _, _, first, steps, _, costs = trees
    for leaf in range(leaves[j]):
        prices[first[j] + leaf] = costs[steps[j] + max(level, count_differing_levels(j, code, leaf, trees))]


@compiled
def measure_growth(
    points: tuple[Array, Array],
    trees: tuple[Array, ...],
    free: int,
    box: tuple[Array, Array, Array, Array],
    prices: Array,
    out: Array,
) -> None:
    """Compute the cost of the box with every single candidate in it."""
    places, codes = points
    low, high = box[0], box[1]
    for i in range(free):
        out[i] = 0.0
    for j in range(places.shape[0]):
        line, least, most = places[j], low[j], high[j]
        for i in range(free):
            out[i] += max(most, line[i]) - min(least, line[i])
    for j in range(codes.shape[0]):
        column, row = codes[j], prices[trees[3][j] :]
        for i in range(free):
            out[i] += row[column[i]]


@compiled
def open_box(
    points: tuple[Array, Array],
    place: int,
    trees: tuple[Array, ...],
    box: tuple[Array, Array, Array, Array],
    prices: Array,
) -> None:
    """Make the box of a single candidate."""
    low, high, level, code = box
    for j in range(len(low)):
        low[j] = high[j] = points[0][j, place]
    for j in range(len(level)):
        level[j], code[j] = 0, points[1][j, place]
        compute_leaf_costs(j, code[j], 0, trees, prices)


@compiled
def widen_box(
    points: tuple[Array, Array],
    place: int,
    trees: tuple[Array, ...],
    box: tuple[Array, Array, Array, Array],
    prices: Array,
) -> None:
    """Take a candidate into the box."""
    low, high, level, code = box
    for j in range(len(low)):
        low[j], high[j] = min(low[j], points[0][j, place]), max(high[j], points[0][j, place])
    for j in range(len(level)):
        height = count_differing_levels(j, code[j], points[1][j, place], trees)
        if height > level[j]:
            level[j] = height
            compute_leaf_costs(j, code[j], height, trees, prices)


@compiled
def find_cheapest(
    points: tuple[Array, Array],
    trees: tuple[Array, ...],
    box: tuple[Array, Array, Array, Array],
    prices: Array,
    pool: Array,
    counts: Array,
    origin: Array,
) -> tuple[int, float]:
    """Find the candidate of the pool with which the box costs least; the lowest number among equals."""
    places, codes = points
    best, least = -1, np.inf
    for i in pool:
        if counts[i] == 0:
            continue
        total = 0.0
        for j in range(places.shape[0]):
            total += max(box[1][j], places[j, i]) - min(box[0][j], places[j, i])
        for j in range(codes.shape[0]):
            total += prices[trees[3][j] + codes[j, i]]
        if best < 0 or total < least or (total == least and origin[i] < origin[best]):
            best, least = i, total
    return best, least


@compiled
def fill_pool(bound: Array, counts: Array, origin: Array, free: int, pool: Array) -> None:
    """Choose the cheapest candidates; exhausted ones come last."""
    for i in range(free):
        if counts[i] == 0:
            bound[i] = np.inf
    find_nearest(bound, origin, free, pool)


@compiled
def drop_used(
    points: tuple[Array, Array], counts: Array, origin: Array, distance: Array, free: int, used: Array, count: int
) -> int:
    """Swap exhausted candidates to places after the others; return how many others there are."""
    for place in np.sort(used[:count])[::-1]:
        free -= 1
        swap(points, place, free)
        counts[place], counts[free] = counts[free], counts[place]
        origin[place], origin[free] = origin[free], origin[place]
        distance[place], distance[free] = distance[free], distance[place]
    return free


@compiled
def assign_record(place: int, group: int, counts: Array, origin: Array, ends: Array, label: Array) -> bool:
    """Assign the next record of a candidate to a group; return whether the candidate is then exhausted."""
    label[ends[origin[place]] - counts[place]] = group
    counts[place] -= 1
    return bool(counts[place] == 0)


@compiled
def grow_groups(
    points: tuple[Array, Array],
    trees: tuple[Array, ...],
    stock: tuple[Array, Array, Array],
    room: tuple[Array, Array, Array],
    boxes: tuple[Array, Array, Array, Array],
    state: Array,
    least: int,
    rounds: int,
    label: Array,
) -> None:
    """Grow groups from the record farthest from the first record of the last one, until too few are left.

    A box never costs less once it has grown, so what a candidate cost before is a bound on what it costs now: as long
    as the pool's best costs no more than any candidate outside once did, no other has to be looked at.
    `state` has the number of candidates, of records and of groups. `distance` is that to the last seed.
    """
    counts, origin, ends = stock
    distance, bound, prices = room
    used = np.empty(least, dtype=np.int64)
    for _ in range(rounds):
        free, group = state[0], state[2]
        if state[1] < least:
            return
        box = boxes[0][group], boxes[1][group], boxes[2][group], boxes[3][group]
        seed, spent, size = farthest(distance, origin, free), 0, 1
        open_box(points, seed, trees, box, prices)
        if assign_record(seed, group, counts, origin, ends, label):
            used[spent] = seed
            spent += 1
        measure_growth(points, trees, free, box, prices, distance)
        bound[:free] = distance[:free]
        pool = np.empty(min(free, max(POOL, 4 * least)), dtype=np.int64)
        fill_pool(bound, counts, origin, free, pool)
        while size < least:
            best, cost = find_cheapest(points, trees, box, prices, pool, counts, origin)
            last = pool[-1]
            outside = best < 0 or cost > bound[last] or (cost == bound[last] and origin[best] > origin[last])
            if len(pool) < free and outside:
                measure_growth(points, trees, free, box, prices, bound)
                fill_pool(bound, counts, origin, free, pool)
                continue
            widen_box(points, best, trees, box, prices)
            size += 1
            if assign_record(best, group, counts, origin, ends, label):
                used[spent] = best
                spent += 1
        state[0] = drop_used(points, counts, origin, distance, free, used, spent)
        state[1], state[2] = state[1] - least, group + 1


@compiled
def joining_cost(
    box: tuple[Array, Array, Array, Array], size: int, place: int, points: tuple[Array, Array], trees: tuple[Array, ...]
) -> float:
    """Compute what a group of a size loses by taking a candidate into its box."""
    low, high, level, code = box
    before, after = 0.0, 0.0
    for j in range(len(low)):
        here = points[0][j, place]
        before += high[j] - low[j]
        after += max(high[j], here) - min(low[j], here)
    for j in range(len(level)):
        height = max(level[j], count_differing_levels(j, code[j], points[1][j, place], trees))
        before += trees[6][trees[4][j] + level[j]]
        after += trees[6][trees[4][j] + height]
    return (size + 1) * after - size * before


@compiled
def assign_remaining(
    points: tuple[Array, Array],
    trees: tuple[Array, ...],
    stock: tuple[Array, Array, Array],
    boxes: tuple[Array, Array, Array, Array],
    sizes: Array,
    prices: Array,
    free: int,
    groups: int,
    label: Array,
) -> None:
    """Let every remaining record join the group that loses least by it, lowest numbers first."""
    counts, origin, ends = stock
    for place in np.argsort(origin[:free]):
        while counts[place] > 0:
            best, least = 0, np.inf
            for group in range(groups):
                box = boxes[0][group], boxes[1][group], boxes[2][group], boxes[3][group]
                loss = joining_cost(box, sizes[group], place, points, trees)
                if loss < least:
                    best, least = group, loss
            box = boxes[0][best], boxes[1][best], boxes[2][best], boxes[3][best]
            widen_box(points, place, trees, box, prices)
            sizes[best] += 1
            assign_record(place, best, counts, origin, ends, label)
