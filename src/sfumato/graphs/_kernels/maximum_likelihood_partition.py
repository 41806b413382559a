"""Super-nodes that leave few graphs possible, improved by moving persons, and by merging and splitting super-nodes."""

from __future__ import annotations

import math

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, Number, compiled

WORDS = 4  # random numbers that each turn takes
SEVERAL = 4  # one of so many turns merges or splits


@compiled
def log_factorials(count: int) -> Array:
    """Return the natural logarithms of the first factorials."""
    found = np.zeros(count)
    for number in range(2, count):
        found[number] = found[number - 1] + math.log(number)
    return found


@compiled
def _log_binomial(known: Array, pairs: Number, edges: Number) -> Number:
    """Return the natural logarithm of the number of ways to choose so many pairs."""
    if pairs < len(known):
        return known[pairs] - known[edges] - known[pairs - edges]
    return math.lgamma(pairs + 1.0) - math.lgamma(edges + 1.0) - math.lgamma(pairs - edges + 1.0)


@compiled
def _likelihood(known: Array, edges: Array, sizes: Array, one: Number, other: Number) -> Number:
    """Return what all pairs with one of two super-nodes contribute."""
    total = _log_binomial(known, sizes[one] * (sizes[one] - 1) // 2, edges[one, one])
    total += _log_binomial(known, sizes[other] * (sizes[other] - 1) // 2, edges[other, other])
    total += _log_binomial(known, sizes[one] * sizes[other], edges[one, other])
    for node in range(len(sizes)):
        if node not in (one, other):
            if edges[one, node]:
                total += _log_binomial(known, sizes[one] * sizes[node], edges[one, node])
            if edges[other, node]:
                total += _log_binomial(known, sizes[other] * sizes[node], edges[other, node])
    return total


@compiled
def _move_vertex(graph: Arrays, state: Arrays, person: Number, to: Number) -> None:
    """Move a person to another super-node."""
    offsets, neighbors = graph
    label, edges, sizes, first, after, before = state
    source = label[person]
    for place in range(offsets[person], offsets[person + 1]):
        node = label[neighbors[place]]
        edges[source, node] -= 1
        edges[to, node] += 1
        if node != source:
            edges[node, source] -= 1
        if node != to:
            edges[node, to] += 1
    sizes[source] -= 1
    sizes[to] += 1
    label[person] = to
    if before[person] >= 0:
        after[before[person]] = after[person]
    else:
        first[source] = after[person]
    if after[person] >= 0:
        before[after[person]] = before[person]
    before[person], after[person] = -1, first[to]
    if first[to] >= 0:
        before[first[to]] = person
    first[to] = person


@compiled
def _append_members(state: Arrays, node: Number, found: Array, count: int) -> int:
    """Append the persons of a super-node to a list; return its length."""
    person = state[3][node]
    while person >= 0:
        found[count] = person
        count += 1
        person = state[4][person]
    return count


@compiled
def _count_shared_neighbors(graph: Arrays, one: Number, other: Number) -> int:
    """Return how many neighbors two persons share, and 1 more if they know each other."""
    offsets, neighbors = graph
    here, there, shared = offsets[one], offsets[other], 0
    for place in range(offsets[one], offsets[one + 1]):
        shared += neighbors[place] == other
    while here < offsets[one + 1] and there < offsets[other + 1]:
        shared += neighbors[here] == neighbors[there]
        step = neighbors[here] <= neighbors[there]
        there += neighbors[there] <= neighbors[here]
        here += step
    return shared


@compiled
def _split_members(
    graph: Arrays, state: Arrays, persons: Array, nodes: tuple[Number, Number], least: int, word: Number
) -> None:
    """Put persons who share more with one of two of them into the first of two super-nodes, the others into the second.

    Each gets as many as it must have at least.
    """
    count = np.uint64(len(persons))
    one = np.int64(word % count)
    other = np.int64((np.uint64(one) + np.uint64(1) + (word >> np.uint64(32)) % (count - np.uint64(1))) % count)
    nearer = np.empty(len(persons), dtype=np.int64)
    for place in range(len(persons)):
        to_one = _count_shared_neighbors(graph, persons[place], persons[one])
        nearer[place] = _count_shared_neighbors(graph, persons[place], persons[other]) - to_one
    nearer[one], nearer[other] = -(1 << 30), 1 << 30
    order = np.argsort(nearer)
    cut = least
    while cut < len(persons) - least and nearer[order[cut]] <= 0:
        cut += 1
    for place in range(len(persons)):
        to = nodes[0] if place < cut else nodes[1]
        if state[0][persons[order[place]]] != to:
            _move_vertex(graph, state, persons[order[place]], to)


@compiled
def _nth_member(state: Arrays, node: Number, number: Number) -> Number:
    """Return one of the persons of a super-node."""
    person = state[3][node]
    for _ in range(number):
        person = state[4][person]
    return person


@compiled
def _move_with_exchange(
    graph: Arrays, state: Arrays, lists: Arrays, one: Number, to: Number, rule: tuple[int, Number, Number]
) -> int:
    """Move a person, and let somebody take her place if hers would be too small; return how many moved."""
    (moved, homes), (least, word, _), sizes = lists, rule, state[2]
    source = state[0][one]
    moved[0], homes[0] = one, source
    if sizes[source] > least:
        _move_vertex(graph, state, one, to)
        return 1
    moved[1], homes[1] = _nth_member(state, to, word % np.uint64(sizes[to])), to
    _move_vertex(graph, state, one, to)
    _move_vertex(graph, state, moved[1], source)
    return 2


@compiled
def _regroup(
    graph: Arrays, state: Arrays, lists: Arrays, source: Number, to: Number, rule: tuple[int, Number, Number]
) -> int:
    """Merge two super-nodes or divide them in another way, or split the first if the second is empty.

    Returns how many persons may have moved.
    """
    (moved, homes), (least, word, coin), (label, _, sizes) = lists, rule, state[:3]
    own = _append_members(state, source, moved, 0)
    count = _append_members(state, to, moved, own)
    for place in range(count):
        homes[place] = label[moved[place]]
    if count >= 2 * least and (sizes[to] == 0 or coin >> np.uint64(63)):
        _split_members(graph, state, moved[:count], (source, to), least, word)
    else:
        for place in range(own, count):
            _move_vertex(graph, state, moved[place], source)
    return count


@compiled
def linked_lists(label: Array, count: int) -> Arrays:
    """Return the first person of every super-node, and who comes after and before everybody in hers."""
    persons = len(label)
    first = np.full(count, -1, dtype=np.int64)
    after, before = np.full(persons, -1, dtype=np.int64), np.full(persons, -1, dtype=np.int64)
    for person in range(persons):
        node = label[person]
        after[person] = first[node]
        if first[node] >= 0:
            before[first[node]] = person
        first[node] = person
    return first, after, before


@compiled
def anneal_partition(
    graph: Arrays, state: Arrays, known: Array, least: int, words: Array, heats: tuple[float, float]
) -> float:
    """Move persons, and merge and split super-nodes as long as random numbers last; return how much was won.

    A person goes to the super-node of a neighbor of a neighbor, and somebody of it takes her place if hers would be too
    small then. Now and then these two super-nodes become one, or are divided in another way, or, if it is one, it is
    split. What raises the logarithm of the number of graphs is undone, unless the heat allows it, which falls from the
    first to the second. `state` has the super-node of every person; a symmetric matrix of edges between super-nodes
    with those inside on its diagonal; their sizes; and what `linked` returns.
    """
    label, edges, sizes = state[:3]
    won, turns = 0.0, len(words) // WORDS
    lists = np.empty(len(label), dtype=np.int64), np.empty(len(label), dtype=np.int64)
    for turn in range(turns):
        draw = words[WORDS * turn : WORDS * turn + WORDS]
        one, near = _draw_pair(graph, draw)
        source: Number = label[one]
        to: Number = label[near]
        several = (draw[0] >> np.uint64(32)) % np.uint64(SEVERAL) == 0
        if several and source == to and sizes[source] >= 2 * least:
            to = np.argmin(sizes)  # one is empty, as so many persons could be in two
        if source == to:
            continue
        cost, rule = -_likelihood(known, edges, sizes, source, to), (least, draw[2], draw[0])
        if several:
            count = _regroup(graph, state, lists, source, to, rule)
        else:
            count = _move_with_exchange(graph, state, lists, one, to, rule)
        cost += _likelihood(known, edges, sizes, source, to)
        heat = heats[0] + (heats[1] - heats[0]) * turn / turns
        if cost <= 0 or (draw[3] >> np.uint64(12)) * 2.0**-52 < np.exp(-cost / (heat + 1e-9)):
            won -= cost
            continue
        for place in range(count):
            if label[lists[0][place]] != lists[1][place]:
                _move_vertex(graph, state, lists[0][place], lists[1][place])
    return won


@compiled
def _draw_pair(graph: Arrays, draw: Array) -> tuple[Number, Number]:
    """Draw a person, and a neighbor of a neighbor; or only her, if she has none."""
    offsets, neighbors = graph
    one = np.int64(draw[0] % np.uint64(len(offsets) - 1))
    degree = offsets[one + 1] - offsets[one]
    if degree == 0:
        return one, one
    middle = neighbors[offsets[one] + np.int64(draw[1] % np.uint64(degree))]
    span = offsets[middle + 1] - offsets[middle]
    return one, np.int64(neighbors[offsets[middle] + np.int64((draw[1] >> np.uint64(32)) % np.uint64(span))])
