"""Find a planted group of persons again by their degrees and who of them know each other."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, Number, compiled


@compiled
def adjacent(offsets: Array, neighbors: Array, one: int, other: int) -> bool:
    """Return whether two persons are related; rows of neighbors ascend."""
    low, high = offsets[one], offsets[one + 1]
    while low < high:
        middle = (low + high) // 2
        if neighbors[middle] < other:
            low = middle + 1
        else:
            high = middle
    return bool(low < offsets[one + 1] and neighbors[low] == other)


@compiled
def _matches_plan(offsets: Array, neighbors: Array, degrees: Array, inner: Array, path: Array, level: int) -> bool:
    """Return whether the last person of a path has the degree and the relations that were planted."""
    person = path[level]
    if offsets[person + 1] - offsets[person] != degrees[level]:
        return False
    for before in range(level):
        if path[before] == person or adjacent(offsets, neighbors, path[before], person) != inner[before, level]:
            return False
    return True


@compiled
def find_planted(offsets: Array, neighbors: Array, degrees: Array, inner: Array, budget: int, found: Array) -> Number:
    """Search for paths that look like the planted one; return 0, 1 or 2 for more, or -1 after so many steps."""
    length, copies, level = len(degrees), 0, 0
    path, cursor = np.zeros(length, dtype=np.int64), np.zeros(length, dtype=np.int64)
    for _ in range(budget):
        begin = 0 if level == 0 else offsets[path[level - 1]]
        end = len(offsets) - 1 if level == 0 else offsets[path[level - 1] + 1]
        place = begin + cursor[level]
        if place >= end:
            if level == 0:
                return copies
            level -= 1
            continue
        cursor[level] += 1
        path[level] = place if level == 0 else neighbors[place]
        if not _matches_plan(offsets, neighbors, degrees, inner, path, level):
            continue
        if level + 1 < length:
            level += 1
            cursor[level] = 0
            continue
        copies += 1
        if copies > 1:
            return copies
        found[:] = path
    return -1
