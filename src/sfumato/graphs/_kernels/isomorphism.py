"""Neighborhoods of persons, and whether two of them are the same graph."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, compiled

SAME, DIFFERENT, UNDECIDED = 1, 0, 2


@compiled
def neighborhood_degrees(offsets: Array, neighbors: Array, labels: Array, most: int, rows: Array) -> None:
    """Write for every neighbor of every person how many neighbors they share, with the neighbor's label; ascending."""
    seen = np.full(len(offsets) - 1, -1, dtype=np.int64)
    for person in range(len(offsets) - 1):
        start, stop = offsets[person], offsets[person + 1]
        for place in range(start, stop):
            seen[neighbors[place]] = person
        for place in range(start, stop):
            other, count = neighbors[place], 0
            for step in range(offsets[other], offsets[other + 1]):
                count += seen[neighbors[step]] == person
            rows[place] = count * most + labels[other]
        rows[start:stop].sort()


@compiled
def neighborhood_graph(offsets: Array, neighbors: Array, person: int, places: Array) -> Arrays:
    """Return the graph of a person's neighbors, numbered from 0; `places` holds -1 everywhere, before and after."""
    mine = neighbors[offsets[person] : offsets[person + 1]]
    starts = np.zeros(len(mine) + 1, dtype=np.int64)
    for place in range(len(mine)):
        places[mine[place]] = place
    for place in range(len(mine)):
        count = 0
        for step in range(offsets[mine[place]], offsets[mine[place] + 1]):
            count += places[neighbors[step]] >= 0
        starts[place + 1] = starts[place] + count
    ends = np.empty(starts[-1], dtype=np.int64)
    at = 0
    for place in range(len(mine)):
        for step in range(offsets[mine[place]], offsets[mine[place] + 1]):
            if places[neighbors[step]] >= 0:
                ends[at] = places[neighbors[step]]
                at += 1
    for place in range(len(mine)):
        places[mine[place]] = -1
    return starts, ends


@compiled
def mix_bits(number: np.uint64) -> np.uint64:
    """Scatter the bits of a number."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@compiled
def _refine_colors(starts: Array, ends: Array, colors: Array) -> int:
    """Refine colors by those of neighbors until no class splits any more; return the number of classes."""
    count = len(np.unique(colors))
    refined = np.empty_like(colors)
    while True:
        for node in range(len(colors)):
            total = np.uint64(0)
            for place in range(starts[node], starts[node + 1]):
                total += mix_bits(colors[ends[place]] + np.uint64(0x9E3779B97F4A7C15))
            refined[node] = mix_bits(colors[node] * np.uint64(3) + total)
        found = len(np.unique(refined))
        colors[:] = refined
        if found <= count:
            return found
        count = found


@compiled
def _same_edges(one: Arrays, other: Arrays, colors: Array, others: Array) -> bool:
    """Return whether nodes of equal colors, all different in a graph, have the same edges in both."""
    first, second = np.argsort(colors), np.argsort(others)
    to = np.empty(len(colors), dtype=np.int64)
    to[first] = second
    marked = np.full(len(colors), -1, dtype=np.int64)
    for node in range(len(colors)):
        there = to[node]
        if one[0][node + 1] - one[0][node] != other[0][there + 1] - other[0][there]:
            return False
        for place in range(other[0][there], other[0][there + 1]):
            marked[other[1][place]] = node
        for place in range(one[0][node], one[0][node + 1]):
            if marked[to[one[1][place]]] != node:
                return False
    return True


@compiled
def _branching_vertex(colors: Array) -> int:
    """Return a node of the smallest class that has several."""
    order = np.argsort(colors)
    best, least, begin = -1, len(colors) + 1, 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and colors[order[end]] == colors[order[begin]]:
            end += 1
        if 1 < end - begin < least:
            best, least = order[begin], end - begin
        begin = end
    return best


@compiled
def are_isomorphic(one: Arrays, other: Arrays, labels: Array, others: Array, budget: int) -> int:  # noqa: C901 - a search with a stack of its own
    """Return whether a map of nodes keeps labels and edges; `UNDECIDED` after so many steps of the search.

    Colors only guide the search: nodes that a map could send to each other always have equal ones, and a map that was
    found is checked edge by edge.
    """
    size = len(labels)
    if size != len(others) or len(one[1]) != len(other[1]):
        return DIFFERENT
    mine, theirs = np.empty((size + 1, size), dtype=np.uint64), np.empty((size + 1, size), dtype=np.uint64)
    for node in range(size):
        mine[0, node], theirs[0, node] = np.uint64(labels[node]), np.uint64(others[node])
    chosen, tried = np.full(size + 1, -1, dtype=np.int64), np.zeros(size + 1, dtype=np.int64)
    level, fresh = 0, True
    for _ in range(budget):
        if fresh:
            classes = _refine_colors(one[0], one[1], mine[level])
            _refine_colors(other[0], other[1], theirs[level])
            if not np.array_equal(np.sort(mine[level]), np.sort(theirs[level])):
                level -= 1
            elif classes == size:
                if _same_edges(one, other, mine[level], theirs[level]):
                    return SAME
                level -= 1
            else:
                chosen[level], tried[level] = _branching_vertex(mine[level]), 0
        if level < 0:
            return DIFFERENT
        node, fresh = chosen[level], False
        while tried[level] < size and not fresh:
            if theirs[level, tried[level]] == mine[level, node]:
                mine[level + 1], theirs[level + 1] = mine[level], theirs[level]
                marker = mix_bits(mine[level, node] + np.uint64(level + 7))
                mine[level + 1, node], theirs[level + 1, tried[level]] = marker, marker
                fresh = True
            tried[level] += 1
        level += 1 if fresh else -1
        if level < 0:
            return DIFFERENT
    return UNDECIDED
