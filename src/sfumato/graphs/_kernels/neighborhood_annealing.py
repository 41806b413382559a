"""Edges that are added and removed by simulated annealing until neighborhoods look alike."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, Number, compiled
from sfumato.graphs._kernels.isomorphism import mix_bits

FREE = -1
WEIGHT = 0.5  # what a step apart costs in edges


@compiled
def _describe_neighborhood(related: Array, person: Number, rows: Array, colors: Array) -> None:
    """Write how many neighbors each neighbor knows, plus one, descending; and a hash of their graph."""
    mine = np.flatnonzero(related[person])
    inner = np.ones(len(mine), dtype=np.int64)
    for one in range(len(mine)):
        for other in range(len(mine)):
            inner[one] += related[mine[one], mine[other]]
    shades = inner.astype(np.uint64)
    for _ in range(3):
        deeper = np.empty_like(shades)
        for one in range(len(mine)):
            total = np.uint64(0)
            for other in range(len(mine)):
                if related[mine[one], mine[other]]:
                    total += mix_bits(shades[other])
            deeper[one] = mix_bits(shades[one] * np.uint64(3) + total)
        shades = deeper
    colors[person] = np.uint64(0)
    for shade in shades:
        colors[person] += mix_bits(shade)
    rows[person, :] = 0
    rows[person, : len(mine)] = np.sort(inner)[::-1]


@compiled
def _neighborhood_distance(rows: Array, colors: Array, one: Number, other: Number) -> int:
    """Return how far two neighborhoods are apart: by neighbors, and by relations among them."""
    total = 0
    for place in range(rows.shape[1]):
        if rows[one, place] == 0 and rows[other, place] == 0:
            break
        total += abs(rows[one, place] - rows[other, place])
    return 1 if total == 0 and colors[one] != colors[other] else total


@compiled
def _kth_distance(apart: Array, person: Number, k: int) -> Number:
    """Return the distance of a person's (k - 1)-th nearest neighborhood."""
    nearest = np.full(k - 1, np.int64(1) << 40)
    for other in range(len(apart)):
        if other != person and apart[person, other] < nearest[-1]:
            place = k - 2
            while place > 0 and nearest[place - 1] > apart[person, other]:
                nearest[place] = nearest[place - 1]
                place -= 1
            nearest[place] = apart[person, other]
    return nearest[-1]


@compiled
def measure_neighborhoods(related: Array, k: int, rows: Array, colors: Array, apart: Array, reach: Array) -> None:
    """Describe all neighborhoods, compare them, and find how far everybody is from looking like k - 1 others."""
    for person in range(len(related)):
        _describe_neighborhood(related, person, rows, colors)
    for one in range(len(related)):
        for other in range(one):
            apart[one, other] = apart[other, one] = _neighborhood_distance(rows, colors, one, other)
    for person in range(len(related)):
        reach[person] = _kth_distance(apart, person, k)


@compiled
def _toggle_edge(
    related: Array, one: Number, other: Number, k: int, rows: Array, colors: Array, apart: Array, reach: Array
) -> int:
    """Add or remove an edge, and return by how much the sum of all reaches grows."""
    related[one, other] = related[other, one] = not related[one, other]
    touched = (related[one] & related[other]).copy()
    touched[one] = touched[other] = True
    changed = np.flatnonzero(touched)
    for person in changed:
        _describe_neighborhood(related, person, rows, colors)
    stale = touched.copy()
    for person in changed:
        for two in range(len(related)):
            if two != person:
                before, after = apart[person, two], _neighborhood_distance(rows, colors, person, two)
                stale[two] |= before != after and (before <= reach[two] or after < reach[two])
                apart[person, two] = apart[two, person] = after
    grown = 0
    for person in np.flatnonzero(stale):
        after = _kth_distance(apart, person, k)
        grown += after - reach[person]
        reach[person] = after
    return grown


@compiled
def _first_true(wanted: Array, start: Number) -> Number:
    """Return the first place at or after the start, around the end, where something is wanted; `FREE` if nowhere."""
    for step in range(len(wanted)):
        place = (start + step) % len(wanted)
        if wanted[place]:
            return place
    return FREE


@compiled
def _proposal(related: Array, rows: Array, apart: Array, reach: Array, drawn: Array) -> tuple[Number, Number]:
    """Return a pair whose change may bring somebody nearer to somebody else; the same person twice if there is none."""
    count = len(related)
    person = _first_true(reach > 0, drawn[0] % count)
    near = (apart[person] <= reach[person]) & (apart[person] > 0)
    near[person] = False
    partner = _first_true(near, drawn[1] % count)
    few, many = person, partner
    mine, theirs = (rows[person] > 0).sum(), (rows[partner] > 0).sum()
    if mine != theirs:
        if mine > theirs:
            few, many = partner, person
        if drawn[2] % 2:
            return many, _first_true(related[many], drawn[3] % count)
        free = ~related[few]
        free[few] = False
        wrong = free & (reach > 0)
        if drawn[2] % 4 and wrong.any():
            free = wrong
        return few, _first_true(free, drawn[3] % count)  # somebody is free: another has more neighbors
    inner, others = rows[person].sum(), rows[partner].sum()
    if inner > others or (inner == others and drawn[2] // 2 % 2):
        few, many = partner, person
    at, fresh = (many, False) if drawn[2] % 2 else (few, True)
    first = _first_true(related[at], drawn[3] % count)
    for step in range(count):
        one = (first + step) % count
        if related[at, one]:
            fits = related[at] & (related[one] != fresh)
            fits[one] = False
            if fits.any():
                return one, _first_true(fits, (drawn[3] >> 16) % count)
    return person, person


@compiled
def _find_pair(pairs: Array, made: int, one: Number, other: Number) -> int:
    """Return where a pair is among those that were changed."""
    for place in range(made):
        first, second = pairs[place]
        if (first == one and second == other) or (first == other and second == one):
            return place
    return FREE


@compiled
def initial_state(related: Array, k: int) -> tuple[Arrays, Array, Array]:
    """Return what a search keeps: neighborhoods measured, pairs that changed, and its figures."""
    count = len(related)
    rows, colors = np.zeros((count, count), dtype=np.int32), np.zeros(count, dtype=np.uint64)
    apart, reach = np.zeros((count, count), dtype=np.int32), np.zeros(count, dtype=np.int64)
    measure_neighborhoods(related, k, rows, colors, apart, reach)
    pairs = np.zeros((count * count, 2), dtype=np.int32)
    return (rows, colors, apart, reach), pairs, np.array([reach.sum(), 0, FREE])


@compiled
def anneal_neighborhoods(
    graphs: Arrays, k: int, kept: tuple[Arrays, Array, Array], words: Array, heats: tuple[float, float]
) -> None:
    """Change edges as long as random numbers last, and keep the fewest changes that make all look alike.

    A state costs one for every edge that differs from the original, and half a point for every step somebody is away
    from looking like k - 1 others. A change that costs more is taken with a chance that falls with its cost and with
    time. Hashes of neighborhoods guide the search and decide nothing: whoever publishes compares them in full.
    `graphs` are the original, the network that changes, and the best one; figures are how far all are from looking
    alike, the number of changes, and that of the best network, `FREE` if there is none.
    """
    original, related, best = graphs
    (rows, colors, apart, reach), pairs, figures = kept
    turns = len(words) // 6
    for turn in range(turns + 1):
        wrong, made, least = figures
        if wrong == 0 and (least == FREE or made < least):
            best[:], figures[2] = related, made
        if turn == turns or (wrong == 0 and made == 0):
            break
        drawn = (words[6 * turn : 6 * turn + 6] >> np.uint64(2)).astype(np.int64)
        if made > 0 and (wrong == 0 or drawn[4] % 4 == 0):
            one, other = np.int64(pairs[drawn[0] % made, 0]), np.int64(pairs[drawn[0] % made, 1])
        else:
            one, other = _proposal(related, rows, apart, reach, drawn)
        if one == other:
            continue
        cost = 1 if related[one, other] == original[one, other] else -1
        grown = _toggle_edge(related, one, other, k, rows, colors, apart, reach)
        loss, heat = cost + WEIGHT * grown, heats[0] + (heats[1] - heats[0]) * (turn / turns) + 0.05
        if loss > 0 and drawn[5] * 2.0**-62 >= np.exp(-loss / heat):
            _toggle_edge(related, one, other, k, rows, colors, apart, reach)
            continue
        figures[0] += grown
        if cost > 0:
            pairs[made, 0], pairs[made, 1] = one, other
        else:
            pairs[_find_pair(pairs, made, one, other)] = pairs[made - 1]
        figures[1] += cost
