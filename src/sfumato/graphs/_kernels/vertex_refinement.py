"""Classes of persons who cannot be told apart by rows of numbers, such as the degrees of their neighbors."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, compiled


@compiled
def gather_neighbor_colors(offsets: Array, neighbors: Array, colors: Array, rows: Array) -> None:
    """Write the colors of the neighbors of every person, ascending."""
    for person in range(len(offsets) - 1):
        start, stop = offsets[person], offsets[person + 1]
        for place in range(start, stop):
            rows[place] = colors[neighbors[place]]
        rows[start:stop].sort()


@compiled
def compare_rows(offsets: Array, rows: Array, one: int, other: int) -> int:
    """Return -1, 0 or 1 as a row is shorter or smaller than another one, the same, or longer or larger."""
    size, others = offsets[one + 1] - offsets[one], offsets[other + 1] - offsets[other]
    if size != others:
        return -1 if size < others else 1
    for place in range(size):
        a, b = rows[offsets[one] + place], rows[offsets[other] + place]
        if a != b:
            return -1 if a < b else 1
    return 0


@compiled
def hash_rows(offsets: Array, rows: Array, mask: np.uint64) -> Array:
    """Mix every row into a number; it decides nothing, but brings equal rows together."""
    found = np.empty(len(offsets) - 1, dtype=np.uint64)
    for person in range(len(found)):
        mixed = np.uint64(offsets[person + 1] - offsets[person] + 1) * np.uint64(0x9E3779B97F4A7C15)
        for place in range(offsets[person], offsets[person + 1]):
            mixed ^= np.uint64(rows[place]) + np.uint64(0x632BE59BD9B4E019)
            mixed *= np.uint64(0xFF51AFD7ED558CCD)
            mixed ^= mixed >> np.uint64(32)
        found[person] = mixed & mask
    return found


@compiled
def label_equal_rows(offsets: Array, rows: Array, hashes: Array, order: Array, labels: Array) -> int:
    """Give classes of equal rows, which are compared in full, a number; `order` sorts persons by their hashes."""
    count, begin = 0, 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and hashes[order[end]] == hashes[order[begin]]:
            end += 1
        alike = True
        for place in range(begin + 1, end):
            if compare_rows(offsets, rows, order[begin], order[place]) != 0:
                alike = False
                break
        if not alike:  # different rows have one hash
            for place in range(begin + 1, end):
                person, at = order[place], place
                while at > begin and compare_rows(offsets, rows, order[at - 1], person) > 0:
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = person
        for place in range(begin, end):
            if place > begin and (alike or compare_rows(offsets, rows, order[place - 1], order[place]) == 0):
                labels[order[place]] = count - 1
            else:
                labels[order[place]] = count
                count += 1
        begin = end
    return count


@compiled
def bfs_distances(offsets: Array, neighbors: Array, start: int, found: Array) -> None:
    """Write the number of steps from a person to all others; -1 where no path leads."""
    found[:] = -1
    queue = np.empty(len(found), dtype=np.int64)
    queue[0], first, last = start, 0, 1
    found[start] = 0
    while first < last:
        person = queue[first]
        first += 1
        for place in range(offsets[person], offsets[person + 1]):
            other = neighbors[place]
            if found[other] < 0:
                found[other] = found[person] + 1
                queue[last] = other
                last += 1


# Small subgraphs around persons.

PATTERNS = np.array([1, 2, 2, 3, 3, 3, 3, 3])  # edges of each, in the order of `match_subgraph_patterns`


@compiled
def match_subgraph_patterns(offsets: Array, neighbors: Array, found: Array) -> None:
    """Write for every person whether she is the root of each connected subgraph of at most three edges.

    These are: an edge; a star of two, and a path from its end; a star of three, a path from its second node, one from
    its end, a star from one of its ends, and a triangle.
    """
    degrees = np.diff(offsets)
    seen = np.full(len(degrees), -1, dtype=np.int64)
    for root in range(len(degrees)):
        mine = neighbors[offsets[root] : offsets[root + 1]]
        for one in mine:
            seen[one] = root
        found[root, 0], found[root, 1], found[root, 3] = len(mine) > 0, len(mine) > 1, len(mine) > 2  # noqa: PLR2004 - a star of three
        for one in mine:
            shared, onward = 0, False
            for two in neighbors[offsets[one] : offsets[one + 1]]:
                shared += seen[two] == root
                onward |= two != root and degrees[two] - (seen[two] == root) > 1
            beyond = degrees[one] - 1
            found[root, 2] |= beyond > 0
            found[root, 4] |= len(mine) > 1 and (beyond > shared or (beyond > 0 and len(mine) > 2))  # noqa: PLR2004 - one more
            found[root, 5] |= onward
            found[root, 6] |= beyond > 1
            found[root, 7] |= shared > 0
