"""Give persons the degrees that they should have, by adding, removing and moving edges."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled
from sfumato.coding.kernels.edge_sets import contains, discard, edge_key, insert


@compiled
def _by_need(needs: Array, rank: Array) -> Array:
    """Return the persons who need something, those who need most first, by counting."""
    most = needs.max()
    starts = np.zeros(most + 2, dtype=np.int64)
    for place in range(len(rank)):
        starts[most - max(needs[rank[place]], 0) + 1] += 1
    starts = np.cumsum(starts)
    count = starts[most]
    order = np.empty(count, dtype=np.int64)
    for place in range(len(rank)):
        need = needs[rank[place]]
        if need > 0:
            order[starts[most - need]] = rank[place]
            starts[most - need] += 1
    return order


@compiled
def join_by_need(needs: Array, rank: Array, table: Array, changed: Array, adding: bool) -> int:
    """Add edges between persons who need more of them, or remove edges between persons who need fewer.

    The one who needs most is joined to those who need most among those she is not joined to yet. What cannot be
    done stays in `needs`. Edges are written to `changed`; their number is returned.
    """
    persons, count = len(needs), 0
    over = np.zeros(persons, dtype=np.int64)  # what nobody is left for
    while needs.max() > 0:
        order, equal = _by_need(needs, rank), needs.max() == 1
        for begin in range(len(order) if equal else 1):
            person = order[begin]
            for place in range(begin + 1, len(order)):
                if needs[person] == 0:
                    break
                other = order[place]
                key = edge_key(person, other, persons)
                if needs[other] > 0 and contains(table, key) != adding:
                    if adding:
                        insert(table, key)
                    else:
                        discard(table, key)
                    changed[count, 0], changed[count, 1] = person, other
                    count += 1
                    needs[person] -= 1
                    needs[other] -= 1
            over[person] += needs[person]
            needs[person] = 0
    needs[:] = over
    return count


@compiled
def _can_join(table: Array, one: int, other: int, persons: int) -> bool:
    """Return whether two persons are different and not joined."""
    return one != other and not contains(table, edge_key(one, other, persons))


@compiled
def reroute_edges(needs: Array, table: Array, edges: Array, words: Array) -> int:
    """Let two persons who need an edge each take over one of these edges: x-y becomes v-x and w-y.

    The last rows of `edges` are free, one for every pair; the number of pairs that were served is returned.
    """
    persons, served, drawn = len(needs), 0, 0
    waiting = np.empty(needs.sum(), dtype=np.int64)
    at = 0
    for person in range(persons):
        for _ in range(needs[person]):
            waiting[at] = person
            at += 1
    length = len(edges) - len(waiting) // 2  # the last rows are free for new edges
    while at > 1 and length:
        v, w = waiting[at - 1], waiting[0]
        start = np.int64(words[drawn % len(words)] % np.uint64(length))
        drawn += 1
        found = False
        for step in range(2 * length):
            place = (start + step // 2) % length
            x, y = edges[place, step % 2], edges[place, 1 - step % 2]
            if x in (v, w) or y in (v, w):
                continue
            if _can_join(table, v, x, persons) and _can_join(table, w, y, persons):
                discard(table, edge_key(x, y, persons))
                insert(table, edge_key(v, x, persons))
                insert(table, edge_key(w, y, persons))
                edges[place, 0], edges[place, 1] = v, x
                edges[length, 0], edges[length, 1] = w, y
                length += 1
                found = True
                break
        if not found:
            break
        needs[v] -= 1
        needs[w] -= 1
        waiting[0] = waiting[at - 2]
        at -= 2
        served += 1
    return served


@compiled
def rotate_edges(
    offsets: Array, neighbors: Array, gains: Array, losses: Array, rank: Array, table: Array, words: Array
) -> int:
    """Let persons who have too many edges give ends of them to persons who have too few; the third person stays."""
    persons, moved, drawn = len(gains), 0, 0
    takers, givers = _by_need(gains, rank), _by_need(losses, rank)
    for giver in givers:
        start, size = offsets[giver], offsets[giver + 1] - offsets[giver]
        for taker in takers:
            first = np.int64(words[drawn % len(words)] % np.uint64(size))
            drawn += 1
            step = 0
            while losses[giver] and gains[taker] and step < size:
                third = neighbors[start + (first + step) % size]
                step += 1
                if third == taker or not contains(table, edge_key(giver, third, persons)):
                    continue
                if _can_join(table, taker, third, persons):
                    discard(table, edge_key(giver, third, persons))
                    insert(table, edge_key(taker, third, persons))
                    losses[giver] -= 1
                    gains[taker] -= 1
                    moved += 1
            if not losses[giver]:
                break
    return moved


@compiled
def shortcut_edges(offsets: Array, neighbors: Array, losses: Array, table: Array) -> int:  # noqa: C901 - four ends are looked for
    """Let two persons lose an edge each whose other ends are joined instead: v-x and w-y become x-y."""
    persons, served = len(losses), 0
    for v in np.flatnonzero(losses):
        for w in np.flatnonzero(losses):
            while losses[v] and losses[w] and (v != w or losses[v] > 1):
                found = False
                for one in range(offsets[v], offsets[v + 1]):
                    x = neighbors[one]
                    if x == w or not contains(table, edge_key(v, x, persons)):
                        continue
                    for other in range(offsets[w], offsets[w + 1]):
                        y = neighbors[other]
                        if (
                            y == v
                            or not contains(table, edge_key(w, y, persons))
                            or not _can_join(table, x, y, persons)
                        ):
                            continue
                        discard(table, edge_key(v, x, persons))
                        discard(table, edge_key(w, y, persons))
                        insert(table, edge_key(x, y, persons))
                        losses[v] -= 1
                        losses[w] -= 1
                        served += 1
                        found = True
                        break
                    if found:
                        break
                if not found:
                    break
            if not losses[v]:
                break
    return served
