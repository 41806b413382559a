"""Compiled clustering: distances to one point, centers of the rest, and groups of nearest points.

Points lie on line axes (`places`, axis by point) and coded axes (`codes`), whose layout `coded` is described at
`sfumato.tables.algorithms.microaggregation._point_clusters.Points`. Free points come first; a point that joins a group
is swapped to a place after them.
"""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, compiled

BLOCK = 1024  # points whose sums stay in the nearest cache
SLACK = 1e-9  # of rounding in bounds that only save work


@compiled
def count_differing_levels(j: int, one: int, other: int, axes: tuple[Array, ...]) -> int:
    """Count the levels of a tree on which two leaves lie under different nodes."""
    leaves, heights, starts, _, _, nodes, _ = axes
    unlike = 0
    for level in range(heights[j]):
        at = starts[j] + level * leaves[j]
        unlike += nodes[at + one] != nodes[at + other]
    return unlike


@compiled
def swap(points: tuple[Array, Array], one: int, other: int) -> None:
    """Let two points change places."""
    places, codes = points
    for j in range(places.shape[0]):
        places[j, one], places[j, other] = places[j, other], places[j, one]
    for j in range(codes.shape[0]):
        codes[j, one], codes[j, other] = codes[j, other], codes[j, one]


@compiled
def fill_rows(query: Array, coded: tuple[Array, ...], rows: Array) -> None:
    """Write the squared distance to the query's code for every code of every coded axis."""
    leaves, heights, _, places, weights, _, ranks = coded
    for j in range(len(leaves)):
        mine, first = query[j], places[j]
        for code in range(leaves[j]):
            if heights[j] == 0:
                apart = ranks[first + code] - ranks[first + mine]
                rows[first + code] = apart * apart
                continue
            apart = count_differing_levels(j, code, mine, coded) / heights[j]
            rows[first + code] = weights[j] * (apart * apart)


@compiled
def measure(
    points: tuple[Array, Array],
    coded: tuple[Array, ...],
    free: int,
    query: tuple[Array, Array],
    rows: Array,
    out: Array,
) -> None:
    """Compute the squared distance of every free point to the query."""
    places, codes = points
    here, mine = query
    fill_rows(mine, coded, rows)
    for start in range(0, free, BLOCK):
        stop = min(start + BLOCK, free)
        for i in range(start, stop):
            out[i] = 0.0
        for j in range(places.shape[0]):
            line, at = places[j], here[j]
            for i in range(start, stop):
                out[i] += (line[i] - at) * (line[i] - at)
        for j in range(codes.shape[0]):
            column, row = codes[j], rows[coded[3][j] :]
            for i in range(start, stop):
                out[i] += row[column[i]]


@compiled
def middle_rank(counts: Array, total: int) -> int:
    """Round the mean rank toward the side with more records, or to the nearer rank if neither has more."""
    ranks, heavier = 0, 0
    for code in range(len(counts)):
        ranks += code * counts[code]
    for code in range(len(counts)):
        if code * total > ranks:
            heavier += counts[code]
        elif code * total < ranks:
            heavier -= counts[code]
    if heavier > 0:
        return -(-ranks // total)
    return ranks // total if heavier < 0 else (2 * ranks + total) // (2 * total)


@compiled
def medoid(counts: Array, nodes: Array, height: int) -> int:
    """Find the code that shares the most nodes with all that occur; the lowest among equals. It occurs itself."""
    width = len(counts)
    under, shared = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    for level in range(height):
        under[:] = 0
        for code in range(width):
            under[nodes[level * width + code]] += counts[code]
        for code in range(width):
            shared[code] += under[nodes[level * width + code]]
    best, most = 0, -1
    for code in range(width):
        if shared[code] > most:
            best, most = code, shared[code]
    return best


@compiled
def find_center(sums: Array, counts: Array, free: int, coded: tuple[Array, ...], center: tuple[Array, Array]) -> None:
    """Find the center of all free points: means on lines, middle ranks, and medoids on trees."""
    leaves, heights, starts, places, _, nodes, _ = coded
    for j in range(len(sums)):
        center[0][j] = sums[j] / free
    for j in range(len(leaves)):
        mine = counts[places[j] : places[j] + leaves[j]]
        if heights[j] == 0:
            center[1][j] = middle_rank(mine, free)
        else:
            center[1][j] = medoid(mine, nodes[starts[j] :], heights[j])


@compiled
def farthest(distance: Array, origin: Array, free: int) -> int:
    """Find the position of the farthest point; the lowest number among equals."""
    best = 0
    for i in range(1, free):
        if distance[i] > distance[best] or (distance[i] == distance[best] and origin[i] < origin[best]):
            best = i
    return best


@compiled
def find_nearest(distance: Array, origin: Array, free: int, found: Array) -> None:
    """Find the positions of the nearest points, as many as requested, nearest first; lower numbers among equals."""
    have, wanted = 0, len(found)
    for i in range(free):
        here, number = distance[i], origin[i]
        if have == wanted:
            last = found[have - 1]
            if here > distance[last] or (here == distance[last] and number > origin[last]):
                continue
            place = have - 1
        else:
            place = have
            have += 1
        while place > 0:
            before = found[place - 1]
            if distance[before] < here or (distance[before] == here and origin[before] < number):
                break
            found[place] = before
            place -= 1
        found[place] = i


@compiled
def assign_points(
    places_taken: Array,
    group: int,
    points: tuple[Array, Array],
    coded: tuple[Array, ...],
    order: tuple[Array, Array],
    left: tuple[Array, Array],
    free: int,
    distance: Array,
    label: Array,
) -> int:
    """Put points into a group: swap them to places after the free ones, and return how many are still free."""
    places, codes = points
    origin, place_of = order
    sums, counts = left
    for place in np.sort(places_taken)[::-1]:
        free -= 1
        label[origin[place]] = group
        for j in range(places.shape[0]):
            sums[j] -= places[j, place]
        for j in range(codes.shape[0]):
            counts[coded[3][j] + codes[j, place]] -= 1
        swap(points, place, free)
        distance[place], distance[free] = distance[free], distance[place]
        origin[place], origin[free] = origin[free], origin[place]
        place_of[origin[place]], place_of[origin[free]] = place, free
    return free


@compiled
def copy_point(points: tuple[Array, Array], place: int, query: tuple[Array, Array]) -> None:
    """Make a point the query."""
    for j in range(points[0].shape[0]):
        query[0][j] = points[0][j, place]
    for j in range(points[1].shape[0]):
        query[1][j] = points[1][j, place]


@compiled
def mdav(
    points: tuple[Array, Array],
    coded: tuple[Array, ...],
    order: tuple[Array, Array],
    left: tuple[Array, Array],
    room: tuple[Array, Array, Array, Array],
    state: Array,
    least: int,
    rounds: int,
    label: Array,
) -> None:
    """Form groups around the point farthest from the center and around the point farthest from that one, in turn.

    A seed has the lowest number among points equal to it, so it is always one of its own nearest ones.
    `state` has the number of free points and of groups. Points that are left when no two groups can be formed have the
    label -1.
    """
    distance, rows, here, mine = room
    query, found = (here, mine), np.empty(least, dtype=np.int64)
    for _ in range(rounds):
        free, group = state[0], state[1]
        if free < 2 * least:
            return
        find_center(left[0], left[1], free, coded, query)
        measure(points, coded, free, query, rows, distance)
        seed = farthest(distance, order[0], free)
        for turn in range(2 if free >= 3 * least else 1):
            copy_point(points, seed, query)
            measure(points, coded, free, query, rows, distance)
            find_nearest(distance, order[0], free, found)
            free = assign_points(found, group + turn, points, coded, order, left, free, distance, label)
            seed = farthest(distance, order[0], free)
            state[0], state[1] = free, group + turn + 1


@compiled
def squared_distance(points: tuple[Array, Array], coded: tuple[Array, ...], one: int, other: int) -> float:
    """Compute the squared distance of two points, axis by axis as `measure` does."""
    places, codes = points
    _, heights, _, first, weights, _, ranks = coded
    total = 0.0
    for j in range(places.shape[0]):
        total += (places[j, one] - places[j, other]) * (places[j, one] - places[j, other])
    for j in range(codes.shape[0]):
        left, right = codes[j, one], codes[j, other]
        if heights[j] == 0:
            apart = ranks[first[j] + left] - ranks[first[j] + right]
            total += apart * apart
            continue
        apart = count_differing_levels(j, left, right, coded) / heights[j]
        total += weights[j] * (apart * apart)
    return total


@compiled
def nearest_to_group(
    points: tuple[Array, Array],
    coded: tuple[Array, ...],
    origin: Array,
    free: int,
    size: int,
    distance: Array,
) -> tuple[int, float]:
    """Find the free point nearest to any of the points that joined a group last.

    `distance` is that to one of them. No point of the group is farther from it than `radius`, so most free points
    are known to be too far without looking.
    """
    radius = 0.0
    for member in range(free, free + size):
        radius = max(radius, np.sqrt(distance[member]))
    best, least = -1, np.inf
    for i in range(free):
        if np.sqrt(distance[i]) - radius > np.sqrt(least) * (1 + SLACK) + SLACK:
            continue
        for member in range(free, free + size):
            apart = squared_distance(points, coded, i, member)
            if apart < least or (apart == least and origin[i] < origin[best]):
                best, least = i, apart
    return best, least


@compiled
def v_mdav(
    points: tuple[Array, Array],
    coded: tuple[Array, ...],
    order: tuple[Array, Array],
    left: tuple[Array, Array],
    room: tuple[Array, Array, Array, Array],
    state: Array,
    least: int,
    gamma: float,
    far_first: Array,
    rounds: int,
    label: Array,
) -> None:
    """Form groups around the point farthest from the center of all, each extended by points that are close to it.

    `state` has the number of free points, of groups, and of points of `far_first` that were looked at. Points that
    remain when fewer are free than a group needs have the label -1.
    """
    distance, rows, here, mine = room
    query, found, one = (here, mine), np.empty(least, dtype=np.int64), np.empty(1, dtype=np.int64)
    around = np.empty_like(distance)
    for _ in range(rounds):
        free, group = state[0], state[1]
        if free < least:
            return
        while order[1][far_first[state[2]]] >= free:
            state[2] += 1
        seed = order[1][far_first[state[2]]]
        copy_point(points, seed, query)
        measure(points, coded, free, query, rows, distance)
        find_nearest(distance, order[0], free, found)
        free, size = assign_points(found, group, points, coded, order, left, free, distance, label), least
        while size < 2 * least - 1 and free > 0:
            near, inside = nearest_to_group(points, coded, order[0], free, size, distance)
            copy_point(points, near, query)
            measure(points, coded, free, query, rows, around)
            around[near] = np.inf
            outside = around[:free].min()
            if not np.sqrt(inside) < gamma * np.sqrt(outside):
                break
            one[0] = near
            free, size = assign_points(one, group, points, coded, order, left, free, distance, label), size + 1
        state[0], state[1] = free, group + 1


@compiled
def find_nearest_points(
    points: tuple[Array, Array],
    coded: tuple[Array, ...],
    asked: tuple[Array, Array],
    skipped: Array,
    first: int,
    last: int,
    found: Array,
    apart: Array,
) -> None:
    """Find the points nearest to each requested one from first to last, but never the one that it skips.

    As many are found as `found` has columns, nearest first.
    """
    free = points[0].shape[1]
    distance, rows, origin = np.empty(free), np.empty(coded[0].sum()), np.arange(free)
    query = np.empty(points[0].shape[0]), np.empty(points[1].shape[0], dtype=np.int32)
    for i in range(first, last):
        copy_point(asked, i, query)
        measure(points, coded, free, query, rows, distance)
        if skipped[i] >= 0:
            distance[skipped[i]] = np.inf
        find_nearest(distance, origin, free, found[i])
        for place in range(found.shape[1]):
            apart[i, place] = distance[found[i, place]]
