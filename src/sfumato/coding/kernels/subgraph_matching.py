"""Edges that are known around a person, and everybody around whom such edges are found."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, Arrays, Number, compiled
from sfumato.coding.kernels.planted_search import adjacent

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
