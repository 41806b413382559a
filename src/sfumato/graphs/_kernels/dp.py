"""Neighbors that two persons share, over all pairs."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, Number, compiled


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


# For everybody, those of highest degree whom she knows and whom she does not know.


@compiled
def highest_degree_partners(offsets: Array, neighbors: Array, order: Array, found: Array) -> None:
    """Write for every person the highest degree of a stranger, and that of a neighbor; -1 if there is none.

    `order` names persons by degree, the highest first.
    """
    known = np.full(len(order), -1, dtype=np.int64)
    found[:] = -1
    for person in range(len(order)):
        for place in range(offsets[person], offsets[person + 1]):
            other = neighbors[place]
            known[other] = person
            found[person, 1] = max(found[person, 1], offsets[other + 1] - offsets[other])
        for other in order:
            if other != person and known[other] != person:
                found[person, 0] = offsets[other + 1] - offsets[other]
                break


# Edges of a network in which nobody has more than some neighbors.


@compiled
def project_degrees(edges: Array, order: Array, bound: int, degrees: Array) -> Number:
    """Add edges one by one in an order unless somebody has enough; write degrees, and return the number of edges."""
    degrees[:] = 0
    count = 0
    for place in order:
        one, other = edges[place, 0], edges[place, 1]
        if degrees[one] < bound and degrees[other] < bound:
            degrees[one] += 1
            degrees[other] += 1
            count += 1
    return count
