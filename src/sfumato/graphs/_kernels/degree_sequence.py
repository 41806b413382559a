"""Give persons the degrees that they should have, by adding, removing and moving edges."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, compiled
from sfumato.graphs._kernels.edge_set import contains, discard, edge_key, insert

# The cheapest groups of a sorted sequence of degrees, by dynamic programming.

NEVER = 1 << 60


@compiled
def raise_degrees(degrees: Array, k: int) -> tuple[Array, int, int]:
    """Raise descending degrees so that every one occurs k times and their sum grows by an even number.

    Every group of k to 2k - 1 rises to its first degree or to one more. Also returns the least sum of raises, and the
    least one if it may be odd. The sums are `NEVER` if no degree below the number of persons will do.
    """
    count = len(degrees)
    sums = np.zeros(count + 1, dtype=np.int64)
    for place in range(count):
        sums[place + 1] = sums[place] + degrees[place]
    cost = np.full((count + 1, 2), NEVER, dtype=np.int64)
    back = np.zeros((count + 1, 2, 3), dtype=np.int64)
    cost[0, 0] = 0
    for end in range(k, count + 1):
        for start in range(max(0, end - 2 * k + 1), end - k + 1):
            for more in range(2):
                if degrees[start] + more >= count:
                    continue
                own = (end - start) * (degrees[start] + more) - (sums[end] - sums[start])
                for odd in range(2):
                    if cost[start, odd] < NEVER and cost[start, odd] + own < cost[end, (odd + own) % 2]:
                        cost[end, (odd + own) % 2] = cost[start, odd] + own
                        back[end, (odd + own) % 2, 0] = start
                        back[end, (odd + own) % 2, 1] = odd
                        back[end, (odd + own) % 2, 2] = more
    target = degrees.copy()
    end, odd = count, 0
    while end > 0 and cost[count, 0] < NEVER:
        start, before, more = back[end, odd]
        target[start:end] = degrees[start] + more
        end, odd = start, before
    return target, cost[count, 0], min(cost[count, 0], cost[count, 1])


@compiled
def level_degrees(degrees: Array, k: int) -> tuple[Array, int]:
    """Move descending degrees to the medians of groups of k to 2k - 1, with the least sum of changes.

    If the sum of all degrees is odd then, the group of odd size that is cheapest to move moves by one.
    """
    count = len(degrees)
    sums = np.zeros(count + 1, dtype=np.int64)
    for place in range(count):
        sums[place + 1] = sums[place] + degrees[place]
    cost, back = np.full(count + 1, NEVER, dtype=np.int64), np.zeros(count + 1, dtype=np.int64)
    cost[0] = 0
    for end in range(k, count + 1):
        for start in range(max(0, end - 2 * k + 1), end - k + 1):
            middle = start + (end - start) // 2
            above = sums[middle] - sums[start] - (middle - start) * degrees[middle]
            below = (end - middle) * degrees[middle] - (sums[end] - sums[middle])
            if cost[start] + above + below < cost[end]:
                cost[end], back[end] = cost[start] + above + below, start
    target, end = degrees.copy(), count
    while end > 0:
        start = back[end]
        target[start:end] = degrees[start + (end - start) // 2]
        end = start
    if target.sum() % 2:
        _shift_one(degrees, target, back)
    return target, cost[count]


@compiled
def _shift_one(degrees: Array, target: Array, back: Array) -> None:
    """Move the group of odd size by one whose changes grow least."""
    count = len(degrees)
    least, first, last, way, end = NEVER, 0, 0, 0, count
    while end > 0:
        start = back[end]
        for step in (-1, 1):
            value = target[start] + step
            if (end - start) % 2 and 0 <= value < count:
                more = 0
                for place in range(start, end):
                    more += abs(degrees[place] - value) - abs(degrees[place] - target[start])
                if more < least:
                    least, first, last, way = more, start, end, step
        end = start
    target[first:last] += way


@compiled
def degree_deficit(raises: Array) -> int:
    """Return how much descending raises exceed what the other persons can take, at the worst place."""
    count, worst, head = len(raises), 0, 0
    tail = raises.sum()
    for top in range(1, count + 1):
        if raises[top - 1] == 0:
            break
        head += raises[top - 1]
        tail -= raises[top - 1]
        taken, place = tail, top
        while place < count and raises[place] > top:  # what is above `top` counts as `top`
            taken -= raises[place] - top
            place += 1
        worst = max(worst, head - top * (top - 1) - taken)
    return worst


# All graphs of a few persons, one after the other, to find the nearest one whose degrees occur k times each.


@compiled
def nearest_anonymous_graph(pairs: Array, joined: Array, persons: int, k: int, adding: bool) -> Array:
    """Return which pairs are joined in the graph with fewest changes whose every degree occurs k times.

    All graphs are tried, each a single change from the one before; with `adding`, only those that keep all edges. Of
    several the first one wins. There is always one if there are k persons: the one in which everybody knows everybody.
    """
    degrees, counts = np.zeros(persons, dtype=np.int64), np.zeros(persons, dtype=np.int64)
    for place in np.flatnonzero(joined):
        degrees[pairs[place, 0]] += 1
        degrees[pairs[place, 1]] += 1
    for person in range(persons):
        counts[degrees[person]] += 1
    open_ = np.flatnonzero(~joined) if adding else np.arange(len(pairs))
    now, best = joined.copy(), joined.copy()
    changed, fewest = 0, len(pairs) + 1
    for turn in range(1 << len(open_)):
        if turn:
            place = open_[_lowest_bit(turn)]
            step = -1 if now[place] else 1
            for person in pairs[place]:
                counts[degrees[person]] -= 1
                degrees[person] += step
                counts[degrees[person]] += 1
            now[place] = not now[place]
            changed += 1 if now[place] != joined[place] else -1
        if changed < fewest and _all_frequent(counts, k):
            fewest = changed
            best[:] = now
    return best


@compiled
def _lowest_bit(number: int) -> int:
    bit = 0
    while not (number >> bit) & 1:
        bit += 1
    return bit


@compiled
def _all_frequent(counts: Array, k: int) -> bool:
    rare = 0
    for count in counts:
        rare += 0 < count < k
    return rare == 0


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
