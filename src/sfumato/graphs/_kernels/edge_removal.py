"""Count pairs of persons who are near each other by type, and remove or add edges until few enough are."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, Number, compiled


@compiled
def count_within(offsets: Array, neighbors: Array, label: Array, classes: int, length: int) -> Array:
    """Count the pairs within some steps of each other, by the labels of both."""
    persons = len(label)
    counts = np.zeros(classes * classes, dtype=np.int64)
    seen, queue = np.full(persons, -1, dtype=np.int64), np.empty(persons, dtype=np.int64)
    for source in range(persons):
        seen[source], queue[0] = source, source
        begin, end = 0, 1
        for _ in range(length):
            level = end
            for at in range(begin, level):
                for place in range(offsets[queue[at]], offsets[queue[at] + 1]):
                    other = neighbors[place]
                    if seen[other] != source:
                        seen[other] = source
                        queue[end] = other
                        end += 1
                        if other > source:
                            counts[_pair_type(label, classes, source, other)] += 1
            begin = level
            if begin == end:
                break
    return counts


@compiled
def _pair_type(label: Array, classes: Number, one: Number, other: Number) -> Number:
    """Return the type of a pair: its lower label first."""
    a, b = label[one], label[other]
    return a * classes + b if a <= b else b * classes + a


@compiled
def steps_between(edges: Array, persons: int) -> Arrays:
    """Return lists of neighbors with their lengths, who is adjacent, and how many neighbors any two have in common."""
    degrees = np.zeros(persons, dtype=np.int64)
    adjacent = np.zeros((persons, persons), dtype=np.bool_)
    for one, other in edges:
        degrees[one] += 1
        degrees[other] += 1
        adjacent[one, other] = adjacent[other, one] = True
    rows = np.empty((persons, max(degrees.max(), 1)), dtype=np.int32)
    degrees[:] = 0
    for one, other in edges:
        rows[one, degrees[one]], rows[other, degrees[other]] = other, one
        degrees[one] += 1
        degrees[other] += 1
    common = np.zeros((persons, persons), dtype=np.int16)
    for middle in range(persons):
        for first in range(degrees[middle]):
            for second in range(degrees[middle]):
                common[rows[middle, first], rows[middle, second]] += 1
    return rows, degrees, adjacent, common


@compiled
def _count_type(kind: Number, counts: Array, touched: Array, count: Number) -> Number:
    """Count one more of a type, and list it with those that were touched; return how many these are."""
    if counts[kind] == 0:
        touched[count] = kind
        count += 1
    counts[kind] += 1
    return count


@compiled
def _removal_loss(
    graph: Arrays, one: Number, other: Number, types: Arrays, lost: Array, touched: Array
) -> tuple[Number, Number]:
    """Count what the removal of an edge takes from each type within two steps, and how much of the worst it bears."""
    rows, degrees, adjacent, common = graph
    label, worst = types
    classes, count = np.int64(np.sqrt(len(lost))), 0
    through: Number = 0
    for side in range(2):
        near, far = (one, other) if side == 0 else (other, one)
        for place in range(degrees[far]):
            third = rows[far, place]
            if third == near or adjacent[near, third]:
                continue
            kind = _pair_type(label, classes, near, third)
            through += worst[kind]
            if common[near, third] == 1:
                count = _count_type(kind, lost, touched, count)
    kind = _pair_type(label, classes, one, other)
    through += worst[kind]
    if common[one, other] == 0:
        count = _count_type(kind, lost, touched, count)
    return count, through


@compiled
def _remove_from_row(rows: Array, degrees: Array, person: int, other: int) -> None:
    """Take somebody off a list of neighbors."""
    place = 0
    while rows[person, place] != other:
        place += 1
    degrees[person] -= 1
    rows[person, place] = rows[person, degrees[person]]


@compiled
def _remove_edge(graph: Arrays, one: int, other: int) -> None:
    rows, degrees, adjacent, common = graph
    for side in range(2):
        near, far = (one, other) if side == 0 else (other, one)
        for place in range(degrees[far]):
            third = rows[far, place]
            if third != near:
                common[near, third] -= 1
                common[third, near] -= 1
    _remove_from_row(rows, degrees, one, other)
    _remove_from_row(rows, degrees, other, one)
    adjacent[one, other] = adjacent[other, one] = False


@compiled
def _opacity_after(pairs: Array, within: Array, lost: Array) -> tuple[Number, Number]:
    """Return the largest share of all types after a loss, and how many types have it."""
    largest, count = 0.0, 0
    for kind in range(len(pairs)):
        if pairs[kind] > 0:
            share = (within[kind] - lost[kind]) / pairs[kind]
            if share > largest:
                largest, count = share, 1
            elif share == largest:
                count += 1
    return largest, count


@compiled
def remove_until_opaque(edges: Array, graph: Arrays, label: Array, counts: Arrays, steps: int) -> int:
    """Remove edges until no more pairs of any type are within two steps than allowed; return how many edges stay.

    Each time that edge goes after which the largest share is smallest, then the fewest types have it, then the one that
    bears most of these. Edges that stay come first; at most some steps are made.
    """
    pairs, allowed, within = counts
    alive, lost, touched = len(edges), np.zeros(len(pairs), dtype=np.int64), np.empty(len(pairs), dtype=np.int64)
    none = np.zeros(len(pairs), dtype=np.int64)
    for _ in range(steps):
        if (within <= allowed).all() or alive == 0:
            break
        share, tied = _opacity_after(pairs, within, none)
        worst = np.zeros(len(pairs), dtype=np.int64)
        for kind in range(len(pairs)):
            worst[kind] = pairs[kind] > 0 and within[kind] / pairs[kind] == share
        best, least, fewest, most = 0, 2.0, 0, -1
        for place in range(alive):
            count, through = _removal_loss(graph, edges[place, 0], edges[place, 1], (label, worst), lost, touched)
            falls = 0
            for at in range(count):
                falls += worst[touched[at]]
            after, types = _opacity_after(pairs, within, lost) if falls == tied else (share, tied - falls)
            if (after, types, -through) < (least, fewest, -most):
                best, least, fewest, most = place, after, types, through
            for at in range(count):
                lost[touched[at]] = 0
        one, other = edges[best, 0], edges[best, 1]
        count, _through = _removal_loss(graph, one, other, (label, worst), lost, touched)
        for at in range(count):
            within[touched[at]] -= lost[touched[at]]
            lost[touched[at]] = 0
        _remove_edge(graph, one, other)
        alive -= 1
        edges[best, 0], edges[best, 1] = edges[alive, 0], edges[alive, 1]
        edges[alive, 0], edges[alive, 1] = one, other
    return alive


@compiled
def _insertion_gain(graph: Arrays, one: Number, other: Number, label: Array, gained: Array, touched: Array) -> Number:
    """Count what a new edge adds to each type within two steps; return the number of types."""
    rows, degrees, adjacent, common = graph
    classes, count = np.int64(np.sqrt(len(gained))), 0
    for side in range(2):
        near, far = (one, other) if side == 0 else (other, one)
        for place in range(-1, degrees[far]):
            third = rows[far, place] if place >= 0 else far
            if (place < 0 and side == 1) or adjacent[near, third] or common[near, third] > 0:
                continue
            kind = _pair_type(label, classes, near, third)
            count = _count_type(kind, gained, touched, count)
    return count


@compiled
def _insert_edge(graph: Arrays, one: Number, other: Number) -> None:
    rows, degrees, adjacent, common = graph
    for side in range(2):
        near, far = (one, other) if side == 0 else (other, one)
        for place in range(degrees[far]):
            third = rows[far, place]
            common[near, third] += 1
            common[third, near] += 1
    rows[one, degrees[one]], rows[other, degrees[other]] = other, one
    degrees[one] += 1
    degrees[other] += 1
    adjacent[one, other] = adjacent[other, one] = True


@compiled
def insert_while_opaque(drawn: Array, graph: Arrays, label: Array, counts: Arrays, most: int) -> int:
    """Add drawn pairs as edges if no type then has more pairs within two steps than allowed; return how many.

    Those that were added come first. Nobody gets more neighbors than anybody had before.
    """
    rows, degrees, adjacent, _common = graph
    pairs, allowed, within = counts
    added, gained, touched = 0, np.zeros(len(pairs), dtype=np.int64), np.empty(len(pairs), dtype=np.int64)
    for place in range(len(drawn)):
        one, other = drawn[place, 0], drawn[place, 1]
        full = degrees[one] == rows.shape[1] or degrees[other] == rows.shape[1]
        if added == most or full or adjacent[one, other]:
            continue
        count, fits = _insertion_gain(graph, one, other, label, gained, touched), True
        for at in range(count):
            fits = fits and within[touched[at]] + gained[touched[at]] <= allowed[touched[at]]
        for at in range(count):
            within[touched[at]] += gained[touched[at]] if fits else 0
            gained[touched[at]] = 0
        if fits:
            _insert_edge(graph, one, other)
            drawn[place, 0], drawn[place, 1] = drawn[added, 0], drawn[added, 1]
            drawn[added, 0], drawn[added, 1] = one, other
            added += 1
    return added


# Choose relations of two persons, one after the other, as long as they betray little enough.


@compiled
def select_within_limit(edge: Array, order: Array, factors: Array, left: Array, least: float) -> Array:
    """Keep each relation, in an order, if what is left of its edge times its factor is no less than the least.

    `left` is changed.
    """
    kept = np.zeros(len(edge), dtype=np.bool_)
    for relation in order:
        rest = left[edge[relation]] * factors[relation]
        if rest >= least:
            left[edge[relation]] = rest
            kept[relation] = True
    return kept
