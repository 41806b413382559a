"""Edges outside all triangles, which change neighborhoods by nothing but a person whom no other neighbor knows."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, Number, compiled
from sfumato.graphs._kernels.edge_set import contains, discard, edge_key, insert

NEAR, ANY = 200, 2_000  # partners that are tried for one end of an edge, and for a whole person


@compiled
def anneal_max_cut(offsets: Array, neighbors: Array, side: Array, words: Array, heat: float) -> int:
    """Put persons on two sides so that many edges go across, and return how many do."""
    persons, turns = len(side), len(words) // 2
    gain = np.zeros(persons, dtype=np.int64)
    for person in range(persons):
        for place in range(offsets[person], offsets[person + 1]):
            gain[person] += 1 if side[neighbors[place]] == side[person] else -1
    for turn in range(turns):
        mover = np.int64(words[2 * turn] % np.uint64(persons))
        chance = (words[2 * turn + 1] >> np.uint64(12)) * 2.0**-52
        if gain[mover] >= 0 or chance < np.exp(gain[mover] / (heat * (1 - turn / turns) + 1e-9)):
            side[mover] = 1 - side[mover]
            gain[mover] = -gain[mover]
            for place in range(offsets[mover], offsets[mover + 1]):
                gain[neighbors[place]] += 2 if side[neighbors[place]] == side[mover] else -2
    across = 0
    for person in range(persons):
        for place in range(offsets[person], offsets[person + 1]):
            across += side[neighbors[place]] != side[person]
    return across // 2


@compiled
def has_no_shared_neighbor(base: Arrays, free: Arrays, one: Number, other: Number) -> bool:
    """Return whether two persons neither know each other nor share a neighbor: an edge between them is in no triangle.

    `base` has offsets and neighbors of edges that stay; `free` has starts, neighbors and their number for edges that
    come and go, and the set of all edges.
    """
    starts, slots, sizes, table = free
    persons = len(sizes)
    if one == other or contains(table, edge_key(one, other, persons)):
        return False
    if base[0][one + 1] - base[0][one] + sizes[one] > base[0][other + 1] - base[0][other] + sizes[other]:
        one, other = other, one
    for place in range(base[0][one], base[0][one + 1]):
        if contains(table, edge_key(base[1][place], other, persons)):
            return False
    for place in range(starts[one], starts[one] + sizes[one]):
        if contains(table, edge_key(slots[place], other, persons)):
            return False
    return True


@compiled
def add_edge(free: Arrays, one: Number, other: Number) -> bool:
    """Add an edge if there is room for it."""
    starts, slots, sizes, table = free
    if sizes[one] >= starts[one + 1] - starts[one] or sizes[other] >= starts[other + 1] - starts[other]:
        return False
    slots[starts[one] + sizes[one]], slots[starts[other] + sizes[other]] = other, one
    sizes[one] += 1
    sizes[other] += 1
    insert(table, edge_key(one, other, len(sizes)))
    return True


@compiled
def _remove_neighbor(free: Arrays, one: Number, other: Number) -> None:
    """Take somebody from the free neighbors of a person."""
    starts, slots, sizes, _ = free
    place = starts[one]
    while slots[place] != other:
        place += 1
    sizes[one] -= 1
    slots[place] = slots[starts[one] + sizes[one]]


@compiled
def remove_edge(free: Arrays, one: Number, other: Number) -> None:
    """Remove an edge."""
    _remove_neighbor(free, one, other)
    _remove_neighbor(free, other, one)
    discard(free[3], edge_key(one, other, len(free[2])))


@compiled
def restore_edges(base: Arrays, free: Arrays, edges: Array) -> int:
    """Add those edges that are in no triangle, one after the other, and return how many."""
    found = 0
    for place in range(len(edges)):
        one, other = edges[place]
        found += has_no_shared_neighbor(base, free, one, other) and add_edge(free, one, other)
    return found


@compiled
def can_change_level(level: Arrays, person: Number, way: int, k: int) -> bool:
    """Return whether a person may have one free edge more or less: k others stay, and k wait where she goes.

    `level` has where the counts of everybody's class begin and end, the counts of persons who shall have so many free
    edges, and how many everybody shall have.
    """
    begin, end, counts, wanted = level
    at, to = begin[person] + wanted[person], begin[person] + wanted[person] + way
    return bool(begin[person] <= to < end[person] and counts[at] > k and counts[to] >= k)


@compiled
def change_level(level: Arrays, person: Number, way: int) -> None:
    """Let a person have one free edge more or less."""
    begin, _, counts, wanted = level
    counts[begin[person] + wanted[person]] -= 1
    wanted[person] += way
    counts[begin[person] + wanted[person]] += 1


@compiled
def _pair_up(base: Arrays, free: Arrays, original: Arrays, need: Array, order: Array) -> None:
    """Remove edges between persons who have too many, and add some between persons who have too few."""
    starts, slots, sizes, _ = free
    for one in order:
        place = starts[one] + sizes[one] - 1
        while need[one] < 0 and place >= starts[one]:
            other = slots[place]
            if need[other] < 0:
                remove_edge(free, one, other)
                need[one] += 1
                need[other] += 1
            place -= 1
        for place in range(original[0][one], original[0][one + 1]):
            other = original[1][place]
            if (
                need[one] > 0
                and need[other] > 0
                and has_no_shared_neighbor(base, free, one, other)
                and add_edge(free, one, other)
            ):
                need[one] -= 1
                need[other] -= 1
    lacking = order[need[order] > 0]
    for first in range(len(lacking)):
        one = lacking[first]
        for second in range(first + 1, min(len(lacking), first + ANY)):
            other = lacking[second]
            if (
                need[one] > 0
                and need[other] > 0
                and has_no_shared_neighbor(base, free, one, other)
                and add_edge(free, one, other)
            ):
                need[one] -= 1
                need[other] -= 1


@compiled
def _rotate(base: Arrays, free: Arrays, need: Array, order: Array) -> None:
    """Give ends of edges from persons who have too many to persons who have too few."""
    starts, slots, sizes, _ = free
    lacking = order[need[order] > 0]
    for one in order[need[order] < 0]:
        place, begin = starts[one] + sizes[one] - 1, 0
        while need[one] < 0 and place >= starts[one] and len(lacking):
            middle = slots[place]
            remove_edge(free, one, middle)
            for step in range(min(len(lacking), NEAR)):
                other = lacking[(begin + step) % len(lacking)]
                if (
                    need[other] > 0
                    and other != middle
                    and has_no_shared_neighbor(base, free, other, middle)
                    and add_edge(free, other, middle)
                ):
                    need[one] += 1
                    need[other] -= 1
                    break
            else:
                add_edge(free, one, middle)
            begin += NEAR
            place -= 1
            place = min(place, starts[one] + sizes[one] - 1)


@compiled
def _adjust_levels(base: Arrays, free: Arrays, level: Arrays, need: Array, order: Array, k: int) -> None:
    """Let persons have one edge more or less where enough others do: first those who lack one, then their partners."""
    starts, slots, sizes, _ = free
    for one in order:
        while need[one] != 0 and can_change_level(level, one, -1 if need[one] > 0 else 1, k):
            way = -1 if need[one] > 0 else 1
            change_level(level, one, way)
            need[one] += way
    for one in order[need[order] != 0]:
        place = starts[one] + sizes[one] - 1
        while need[one] < 0 and place >= starts[one]:
            other = slots[place]
            if need[other] == 0 and can_change_level(level, other, -1, k):
                change_level(level, other, -1)
                remove_edge(free, one, other)
                need[one] += 1
            place -= 1
        for step in range(min(len(order), ANY)):
            other = order[(one + step) % len(order)]
            open_to = need[one] > 0 and need[other] == 0 and can_change_level(level, other, 1, k)
            if open_to and has_no_shared_neighbor(base, free, one, other) and add_edge(free, one, other):
                change_level(level, other, 1)
                need[one] -= 1


@compiled
def level_free_degrees(base: Arrays, free: Arrays, original: Arrays, level: Arrays, k: int, orders: Array) -> bool:
    """Change free edges until everybody has as many as wanted, or may have another number; False if it was in vain."""
    starts, slots, sizes, _ = free
    need = level[3] - sizes
    for turn in range(len(orders)):
        order = orders[turn]
        _pair_up(base, free, original, need, order)
        _rotate(base, free, need, order)
        _adjust_levels(base, free, level, need, order, k)
        wrong = order[need[order] != 0]
        if len(wrong) == 0:
            return True
        for one in wrong:  # the need goes on to somebody else
            while need[one] < 0:
                other = slots[starts[one] + turn % sizes[one]]
                remove_edge(free, one, other)
                need[one] += 1
                need[other] += 1
            for other in order[:ANY]:
                if (
                    need[one] > 0
                    and need[other] <= 0
                    and has_no_shared_neighbor(base, free, one, other)
                    and add_edge(free, one, other)
                ):
                    need[one] -= 1
                    need[other] -= 1
    return False


@compiled
def undo_changes(base: Arrays, free: Arrays, level: Arrays, k: int, gone: Array, fresh: Array) -> int:
    """Put original edges back and drop new ones where both ends may have another number; return how many."""
    saved = 0
    for way, edges in ((1, gone), (-1, fresh)):
        for place in range(len(edges)):
            one, other = edges[place]
            if not can_change_level(level, one, way, k):
                continue
            change_level(level, one, way)
            if not can_change_level(level, other, way, k) or (
                way > 0 and not has_no_shared_neighbor(base, free, one, other)
            ):
                change_level(level, one, -way)
                continue
            if way > 0 and not add_edge(free, one, other):
                change_level(level, one, -way)
                continue
            if way < 0:
                remove_edge(free, one, other)
            change_level(level, other, way)
            saved += 1
    return saved


@compiled
def choose_aligned_rows(
    offsets: Array, others: Array, gains: Arrays, inside: Array, words: Array, heat: float
) -> Array:
    """Choose rows whose edges all move together, by simulated annealing on the number of edges that do not change.

    `gains` has for every row beside another one the edges that this saves if both are chosen, if one is, and if none
    is; `inside` has the edges that choosing a row saves within it.
    """
    rows, turns = len(offsets) - 1, len(words) // 2
    both, one, none = gains
    chosen = np.ones(rows, dtype=np.bool_)
    for turn in range(turns):
        row = np.int64(words[2 * turn] % np.uint64(rows))
        gain = inside[row]
        for place in range(offsets[row], offsets[row + 1]):
            gain += both[place] - one[place] if chosen[others[place]] else one[place] - none[place]
        chance = ((words[2 * turn + 1] >> np.uint64(12)) + 0.5) * 2.0**-52
        chosen[row] = gain / (heat * (1 - turn / turns) + 1e-9) > np.log(1 / chance - 1)
    return chosen
