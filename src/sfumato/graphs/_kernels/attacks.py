"""Edges that are known around a person, and everybody around whom such edges are found."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, Number, compiled

# Find a planted group of persons again by their degrees and who of them know each other.


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


NEW, MISSING = -1, -2  # what becomes of a person in a search


@compiled
def _frontier_edges(graph: Arrays, nodes: Array, known: int, links: Array, wanted: int, edge: Array) -> Number:
    """Count the edges at known nodes that are not known, and write the one that is wanted as numbers of `nodes`."""
    offsets, neighbors = graph
    count = 0
    for one in range(known):
        for place in range(offsets[nodes[one]], offsets[nodes[one] + 1]):
            other = 0
            while other < known and nodes[other] != neighbors[place]:
                other += 1
            if other < known and (other < one or links[one, other]):
                continue  # counted from its other end, or known
            if count == wanted:
                edge[0], edge[1] = one, other
                nodes[other] = neighbors[place]
            count += 1
    return count


@compiled
def draw_subgraph(graph: Arrays, root: int, chances: Array, links: Array) -> Number:
    """Draw edges around a person one by one, each as likely among those at known persons; return how many are known.

    `chances` has a number from 0 to 1 for each edge. `links` tells which known persons are related, the root first.
    """
    nodes, edge = np.full(len(links), -1, dtype=np.int64), np.zeros(2, dtype=np.int64)
    nodes[0], known = root, 1
    for chance in chances:
        count = _frontier_edges(graph, nodes, known, links, -1, edge)
        if count == 0:
            break
        _frontier_edges(graph, nodes, known, links, min(int(chance * count), count - 1), edge)
        links[edge[0], edge[1]] = links[edge[1], edge[0]] = True
        known = max(known, edge[1] + 1)
    return known


@compiled
def _search_order(links: Array, known: int) -> Array:
    """Order nodes from the first so that the next has most edges to those before, and then most edges at all."""
    order, taken = np.zeros(known, dtype=np.int64), np.zeros(known, dtype=np.bool_)
    taken[0] = True
    for place in range(1, known):
        best, most = 0, -1
        for node in range(known):
            if not taken[node]:
                tied, degree = 0, 0
                for other in range(known):
                    tied += links[node, other] and taken[other]
                    degree += links[node, other]
                worth = (degree > 1) * known * known + tied * known + degree if tied else -1  # leaves last
                if worth > most:
                    best, most = node, worth
        order[place], taken[best] = best, True
    return order


@compiled
def _prepare_pattern(links: Array, known: int) -> Arrays:
    """Return the links and degrees in the order of the search, and what each node depends on.

    These are its anchor, the last related node before it; the leaf before it, a node with one edge at the same anchor:
    leaves are alike, so they are tried in ascending order only; and all nodes before that it depends on, as bits.
    """
    order = _search_order(links, known)
    tied, degrees = np.zeros((known, known), dtype=np.bool_), np.zeros(known, dtype=np.int64)
    anchor, alike = np.full(known, -1, dtype=np.int64), np.full(known, -1, dtype=np.int64)
    depends = np.zeros(known, dtype=np.int64)
    for one in range(known):
        for other in range(known):
            tied[one, other] = links[order[one], order[other]]
            degrees[one] += tied[one, other]
    for one in range(1, known):
        for before in range(one):
            if tied[one, before]:
                anchor[one] = before
                depends[one] |= 1 << before
        for before in range(1, one):
            if degrees[one] == degrees[before] == 1 and anchor[one] == anchor[before]:
                alike[one] = before
        if alike[one] >= 0:
            depends[one] |= 1 << alike[one]
    return tied, degrees, anchor, alike, depends


@compiled
def _candidate_vertices(graph: Arrays, pattern: Arrays) -> Array:
    """Return for every node of a pattern who has enough neighbors, and some for each node that comes later."""
    offsets, neighbors = graph
    tied, degrees, size = pattern[0], pattern[1], len(offsets) - 1
    possible = np.zeros((len(degrees), size), dtype=np.bool_)
    for level in range(len(degrees) - 1, -1, -1):
        for person in range(size):
            fits = offsets[person + 1] - offsets[person] >= degrees[level]
            for later in range(level + 1, len(degrees)):
                if fits and tied[level, later]:
                    place, end = offsets[person], offsets[person + 1]
                    while place < end and not possible[later, neighbors[place]]:
                        place += 1
                    fits = place < end
            possible[level, person] = fits
    return possible


@compiled
def _conflict(graph: Arrays, pattern: Arrays, path: Array, level: int) -> Number:
    """Return the place before at which the last person of a path is, or -1 if she is new; -2 if an edge is missing."""
    person, tied = path[level], pattern[0]
    for before in range(level):
        if path[before] == person:
            return before
    for before in range(level):
        asked = tied[before, level] and before != pattern[2][level]  # she is a neighbor of the anchor
        if asked and not adjacent(graph[0], graph[1], path[before], person):
            return MISSING
    return NEW


@compiled
def _match_around(graph: Arrays, pattern: Arrays, possible: Array, root: int, budget: int) -> tuple[bool, Number]:
    """Search for known edges around a person; return whether they are there, and how many steps are left.

    Where nobody is left for a node, the search goes back to the last node that had a part in it, not just to the last
    one: `causes` holds these as bits, so there are at most 62 nodes.
    """
    offsets, neighbors = graph
    anchor, alike, before, known = pattern[2], pattern[3], pattern[4], len(pattern[1])
    path, cursor, causes = np.zeros(known, dtype=np.int64), np.zeros(known, dtype=np.int64), before.copy()
    path[0], level, last = root, 1, known - 1
    cursor[min(1, last)] = offsets[root]
    while 0 < level < known and budget > 0:
        budget -= 1
        if cursor[level] >= offsets[path[anchor[level]] + 1]:
            left, level = causes[level], level - 1
            while level > 0 and not (left >> level) & 1:
                level -= 1
            causes[level] |= left & ~(1 << level)
            continue
        path[level] = neighbors[cursor[level]]
        cursor[level] += 1
        clash = _conflict(graph, pattern, path, level) if possible[level, path[level]] else MISSING
        if clash >= 0:
            causes[level] |= 1 << clash
        elif clash == NEW:
            level += 1
            if level < known:
                causes[level] = before[level]
                cursor[level] = cursor[alike[level]] if alike[level] >= 0 else offsets[path[anchor[level]]]
    return level == known, budget


@compiled
def find_subgraph(graph: Arrays, links: Array, known: int, budget: int, found: Array) -> bool:
    """Write around whom known edges are found; return False if so many steps did not decide it."""
    pattern = _prepare_pattern(links, known)
    possible = _candidate_vertices(graph, pattern)
    found[:] = possible[0]
    for person in range(len(found)):
        if found[person]:
            found[person], budget = _match_around(graph, pattern, possible, person, budget)
            if budget <= 0:
                return False
    return True


# Match the persons of two networks: by the degrees of their neighbors, or from a few who are known.

UNMATCHED = -1


@compiled
def row_distances(mine: Array, offsets: Array, rows: Array) -> Array:
    """Return how far a row of ascending numbers is from all rows, the shorter one filled up with zeros in front."""
    found = np.zeros(len(offsets) - 1, dtype=np.int64)
    for person in range(len(found)):
        size = offsets[person + 1] - offsets[person]
        total = 0
        for back in range(1, max(size, len(mine)) + 1):
            one = mine[len(mine) - back] if back <= len(mine) else 0
            other = rows[offsets[person + 1] - back] if back <= size else 0
            total += abs(one - other)
        found[person] = total
    return found


@compiled
def _best_match(
    one: Arrays, other: Arrays, to: Array, back: Array, person: Number, also: Number, work: Arrays
) -> tuple[Number, Number]:
    """Score the free persons of another network by the mapped neighbors of a person, and return the best.

    Free are those whom nobody is mapped to, and `also`, so that somebody who is mapped can be mapped anew.
    A score is the number of neighbors whose images are neighbors, over the square root of the degree. Returned are the
    best person, and by how many standard deviations of all scores, zeros included, she is better than the second.
    """
    size, found, shared, touched = len(other[0]) - 1, 0, work[0], work[1]
    for place in range(one[0][person], one[0][person + 1]):
        image = to[one[1][place]]
        if image < 0:
            continue
        for step in range(other[0][image], other[0][image + 1]):
            there = other[1][step]
            if shared[there] == 0:
                touched[found] = there
                found += 1
            shared[there] += 1
    best, first, second, total, squares = UNMATCHED, 0.0, 0.0, 0.0, 0.0
    for place in range(found):
        there = touched[place]
        if back[there] < 0 or there == also:
            score = shared[there] / np.sqrt(other[0][there + 1] - other[0][there])
            total += score
            squares += score * score
            if score > first:
                best, first, second = there, score, first
            elif score > second:
                second = score
        shared[there] = 0
    spread = np.sqrt(max(squares / size - (total / size) ** 2, 0.0))
    return best, (first - second) / spread if spread > 0 else 0.0


@compiled
def _mutual_match(
    one: Arrays, other: Arrays, to: Array, back: Array, person: Number, theta: float, work: Arrays
) -> Number:
    """Return who sticks out for a person, if this person sticks out for her, too; -1 if nobody does."""
    there, ahead = _best_match(one, other, to, back, person, to[person], work)
    if there < 0 or ahead < theta:
        return UNMATCHED
    again, ahead = _best_match(other, one, back, to, there, person, work)
    return there if again == person and ahead >= theta else UNMATCHED


@compiled
def propagate_seeds(one: Arrays, other: Arrays, to: Array, back: Array, theta: float, orders: Array) -> Number:
    """Map persons from those mapped so far, and back; return the number of rounds until nothing changed.

    `orders` has a row for each round: the order in which persons are visited. Everybody but the seeds is visited in
    every round, and who does not stick out any more is mapped to nobody again: errors of the first rounds would
    otherwise stay and lead to others.
    """
    size = max(len(to), len(back))
    work = np.zeros(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    fixed = to >= 0
    for turn in range(len(orders)):
        changed = 0
        for person in orders[turn]:
            if fixed[person]:
                continue
            there = _mutual_match(one, other, to, back, person, theta, work)
            if there == to[person]:
                continue
            if to[person] >= 0:
                back[to[person]] = UNMATCHED
            to[person] = there
            if there >= 0:
                back[there] = person
            changed += 1
        if changed == 0:
            return turn + 1
    return len(orders)
