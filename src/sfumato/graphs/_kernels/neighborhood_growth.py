"""Edges that are added, and never removed, until every neighborhood is that of k persons."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, Number, compiled
from sfumato.graphs._kernels.isomorphism import SAME, are_isomorphic, mix_bits

ALONE = -1  # the group of somebody who is unfinished
STEPS = 10_000  # of the comparison of two neighborhoods, which else count as different


@compiled
def _neighborhood(related: Array, person: Number) -> tuple[Array, Array, Array]:
    """Return the neighbors of a person, and their graph numbered from 0."""
    mine = np.flatnonzero(related[person])
    starts, ends = np.zeros(len(mine) + 1, dtype=np.int64), np.empty(len(mine) * len(mine), dtype=np.int64)
    at = 0
    for one in range(len(mine)):
        for other in range(len(mine)):
            if related[mine[one], mine[other]]:
                ends[at] = other
                at += 1
        starts[one + 1] = at
    return mine, starts, ends[:at]


@compiled
def _are_isomorphic(related: Array, one: Number, other: Number) -> bool:
    """Return whether two neighborhoods are the same graph, as far as it is found out."""
    _, starts, ends = _neighborhood(related, one)
    _, others, there = _neighborhood(related, other)
    size, inside = np.sort(starts[1:] - starts[:-1]), np.sort(others[1:] - others[:-1])
    if not np.array_equal(size, inside):
        return False
    labels = np.zeros(len(size), dtype=np.int64)
    return are_isomorphic((starts, ends), (others, there), labels, labels, STEPS) == SAME


@compiled
def _component_order(related: Array, person: Number) -> tuple[Array, Array, Array]:
    """Return neighbors by components, each from its best known one outwards; where these begin; and their codes."""
    mine, starts, ends = _neighborhood(related, person)
    size = len(mine)
    shades = (starts[1:] - starts[:-1] + 1).astype(np.uint64)
    for _ in range(3):
        deeper = np.empty_like(shades)
        for one in range(size):
            total = np.uint64(0)
            for place in range(starts[one], starts[one + 1]):
                total += mix_bits(shades[ends[place]])
            deeper[one] = mix_bits(shades[one] * np.uint64(3) + total)
        shades = deeper
    first = np.argsort(shades)
    best = first[np.argsort(-(starts[1:] - starts[:-1])[first], kind="mergesort")]  # by degree, then by shade
    seen, order = np.zeros(size, dtype=np.bool_), np.empty(size, dtype=np.int64)
    begins, codes, found, parts = np.zeros(size + 1, dtype=np.int64), np.zeros(size, dtype=np.uint64), 0, 0
    for root in best:
        if seen[root]:
            continue
        order[found], seen[root], at = root, True, found
        found += 1
        while at < found:
            codes[parts] += mix_bits(shades[order[at]])
            near = np.zeros(size, dtype=np.bool_)
            near[ends[starts[order[at]] : starts[order[at] + 1]]] = True
            for one in best:
                if near[one] and not seen[one]:
                    order[found], seen[one] = one, True
                    found += 1
            at += 1
        parts += 1
        begins[parts] = found
    return mine[order], begins[: parts + 1], codes[:parts]


@compiled
def _match_components(related: Array, one: Number, other: Number) -> tuple[Array, Array]:
    """Order two neighborhoods so that components of equal codes are at the same places, then all others."""
    mine, begins, codes = _component_order(related, one)
    theirs, others, there = _component_order(related, other)
    first, second = np.empty(len(mine), dtype=np.int64), np.empty(len(theirs), dtype=np.int64)
    taken, used, found = np.zeros(len(codes), dtype=np.bool_), np.zeros(len(there), dtype=np.bool_), 0
    for part in range(len(codes)):
        span = begins[part + 1] - begins[part]
        for like in range(len(there)):
            if not used[like] and there[like] == codes[part] and others[like + 1] - others[like] == span:
                first[found : found + span] = mine[begins[part] : begins[part + 1]]
                second[found : found + span] = theirs[others[like] : others[like + 1]]
                taken[part], used[like] = True, True
                found += span
                break
    at = found
    for part in range(len(codes)):
        if not taken[part]:
            first[at : at + begins[part + 1] - begins[part]] = mine[begins[part] : begins[part + 1]]
            at += begins[part + 1] - begins[part]
    at = found
    for part in range(len(there)):
        if not used[part]:
            second[at : at + others[part + 1] - others[part]] = theirs[others[part] : others[part + 1]]
            at += others[part + 1] - others[part]
    return first, second


@compiled
def _reopen_group(group: Array, person: Number) -> None:
    """Make all who share a group with a person unfinished."""
    number = group[person]
    if number != ALONE:
        for other in range(len(group)):
            if group[other] == number:
                group[other] = ALONE


@compiled
def _add_edge(state: Arrays, one: Number, other: Number) -> None:
    """Add an edge; whoever sees it in her neighborhood is unfinished again, with her group."""
    related, group, inner = state
    for person in np.flatnonzero(related[one] & related[other]):
        inner[person] += 1
        inner[one] += 1
        inner[other] += 1
        _reopen_group(group, person)
    related[one, other] = related[other, one] = True
    _reopen_group(group, one)
    _reopen_group(group, other)


@compiled
def _choose_added_neighbor(state: Arrays, person: Number, partner: Number, order: Array) -> Number:
    """Return whom to link: of those whom a person does not know the one of least degree, unfinished ones first."""
    related, group, _ = state
    best, least = -1, np.int64(1) << 40
    for other in order:
        if other not in (person, partner) and not related[person, other]:
            rank = related[other].sum() + (len(related) if group[other] != ALONE else 0)
            if rank < least:
                best, least = other, rank
    return best


@compiled
def _add_missing_edges(state: Arrays, one: Number, other: Number, order: Array) -> int:
    """Add what one of two neighborhoods has and the other lacks; return how many edges: none shows them to be alike."""
    related, added = state[0], 0
    first, second = _match_components(related, one, other)
    short, partner = (one, other) if len(first) < len(second) else (other, one)
    missing = abs(len(first) - len(second))
    fresh = np.empty(missing, dtype=np.int64)
    for place in range(missing):
        fresh[place] = _choose_added_neighbor(state, short, partner, order)
        _add_edge(state, short, fresh[place])
        added += 1
    if short == one:
        first = np.concatenate((first, fresh))
    else:
        second = np.concatenate((second, fresh))
    for place in range(len(first)):
        for step in range(place):
            here, there = related[first[place], first[step]], related[second[place], second[step]]
            if here and not there:
                _add_edge(state, second[place], second[step])
                added += 1
            elif there and not here:
                _add_edge(state, first[place], first[step])
                added += 1
    return added


@compiled
def _choose_partners(state: Arrays, person: Number, k: int, order: Array) -> Array:
    """Return whose neighborhoods shall be like a person's: the cheapest of the unfinished, or all if few remain."""
    related, group, inner = state
    mine, left = related[person].sum(), 0
    costs = np.empty(len(order), dtype=np.int64)
    for place in range(len(order)):
        other = order[place]
        left += group[other] == ALONE and other != person
        apart = abs(related[other].sum() - mine)
        costs[place] = 2 * apart + abs(inner[other] - inner[person])
        if other == person:
            costs[place] = np.int64(1) << 60
        elif group[other] != ALONE:
            costs[place] += np.int64(1) << 40
    wanted = left if k - 1 <= left < 2 * k - 1 else k - 1
    return order[np.argsort(costs, kind="mergesort")[:wanted]]


@compiled
def _largest_unfinished(state: Arrays, order: Array) -> Number:
    """Return the unfinished person with most neighbors, and most relations among these; -1 if all are finished."""
    related, group, inner = state
    person, most = -1, np.int64(-1)
    for other in order:
        size = related[other].sum() * (np.int64(1) << 40) + inner[other]
        if group[other] == ALONE and size > most:
            person, most = other, size
    return person


@compiled
def _join_finished_group(state: Arrays, person: Number, order: Array) -> bool:
    """Let a person join a finished group with her neighborhood, if there is one."""
    related, group, inner = state
    mine = related[person].sum()
    for other in order:
        same = group[other] == other and inner[other] == inner[person] and related[other].sum() == mine
        if same and _are_isomorphic(related, person, other):
            group[person] = other
            return True
    return False


@compiled
def grow_neighborhoods(related: Array, group: Array, k: int, order: Array, steps: int) -> int:
    """Finish persons, largest neighborhoods first, in so many steps; return how many are unfinished.

    `group` has the group of everybody, by one of its members, and `ALONE` for the unfinished.
    """
    inner = np.zeros(len(related), dtype=np.int64)  # relations among the neighbors of everybody
    for person in range(len(related)):
        inner[person] = len(_neighborhood(related, person)[2]) // 2
    state = related, group, inner
    for _ in range(steps):
        person = _largest_unfinished(state, order)
        if person < 0:
            return 0
        if _join_finished_group(state, person, order):
            continue
        others, added = _choose_partners(state, person, k, order), 1
        while added:
            added = 0
            for other in others:
                if not _are_isomorphic(related, person, other):
                    added += _add_missing_edges(state, person, other, order)
        for other in others:
            _reopen_group(group, other)
        group[others] = person
        group[person] = person
    return int((group == ALONE).sum())
