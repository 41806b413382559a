"""Neighbors that two persons share, over all pairs."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, Number, compiled


@compiled
def count_shared_neighbors(offsets: Array, neighbors: Array, person: int, shared: Array, touched: Array) -> Number:
    """Count the neighbors that a person shares with all others; return how many of these are in `touched`."""
    found = 0
    for place in range(offsets[person], offsets[person + 1]):
        middle = neighbors[place]
        for step in range(offsets[middle], offsets[middle + 1]):
            other = neighbors[step]
            if other != person:
                if shared[other] == 0:
                    touched[found] = other
                    found += 1
                shared[other] += 1
    return found


@compiled
def triangle_statistics(offsets: Array, neighbors: Array, order: Array) -> tuple[Number, Array]:
    """Count triangles; and for every number of common neighbors find the most persons who know one of such a pair.

    `order` names persons by degree, the highest first; -1 stands for a number that no pair shares.
    """
    size = len(offsets) - 1
    degrees = offsets[1:] - offsets[:-1]
    shared, known = np.zeros(size, dtype=np.int64), np.full(size, -1, dtype=np.int64)
    touched, halves = np.empty(size, dtype=np.int64), np.full(degrees.max() + 1, -1, dtype=np.int64)
    corners = 0
    for person in range(size):
        for place in range(offsets[person], offsets[person + 1]):
            known[neighbors[place]] = person
        found = count_shared_neighbors(offsets, neighbors, person, shared, touched)
        for place in range(found):
            other = touched[place]
            adjacent = known[other] == person
            if adjacent:
                corners += shared[other]
            one = degrees[person] + degrees[other] - 2 * shared[other] - 2 * adjacent
            halves[shared[other]] = max(halves[shared[other]], one)
        for other in order:  # pairs that share nobody: those of highest degree suffice
            if degrees[person] + degrees[other] <= halves[0]:
                break
            if other != person and shared[other] == 0:
                halves[0] = max(halves[0], degrees[person] + degrees[other] - 2 * (known[other] == person))
        for place in range(found):
            shared[touched[place]] = 0
    return corners // 6, halves
