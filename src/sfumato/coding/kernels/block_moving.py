"""Super-nodes that leave few graphs possible, improved by moving one person or exchanging two."""

from __future__ import annotations

import math

import numpy as np

from sfumato.coding.kernels.compiling import Array, Arrays, Number, compiled


@compiled
def log_choices(pairs: int, edges: int) -> float:
    """Return the natural logarithm of the number of ways to choose so many pairs."""
    if edges in (0, pairs):
        return 0.0
    return math.lgamma(pairs + 1.0) - math.lgamma(edges + 1.0) - math.lgamma(pairs - edges + 1.0)


@compiled
def _likelihood(edges: Array, sizes: Array, one: int, other: int) -> float:
    """Return what all pairs with one of two super-nodes contribute."""
    total = 0.0
    for node in range(len(sizes)):
        if node == one:
            total += log_choices(sizes[one] * (sizes[one] - 1) // 2, edges[one, one])
            total += log_choices(sizes[one] * sizes[other], edges[one, other])
        elif node == other:
            total += log_choices(sizes[other] * (sizes[other] - 1) // 2, edges[other, other])
        else:
            if edges[one, node]:
                total += log_choices(sizes[one] * sizes[node], edges[one, node])
            if edges[other, node]:
                total += log_choices(sizes[other] * sizes[node], edges[other, node])
    return total


@compiled
def _carry(graph: Arrays, label: Array, edges: Array, sizes: Array, person: Number, to: Number) -> None:
    """Move a person to another super-node."""
    offsets, neighbors = graph
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


@compiled
def anneal_blocks(
    graph: Arrays, label: Array, edges: Array, sizes: Array, least: int, words: Array, heat: float
) -> float:
    """Move and exchange persons as long as random numbers last; return by how much the logarithm fell.

    A person goes to the super-node of a neighbor of a neighbor. If hers would be too small then, somebody of the other
    one takes her place. `edges` is a symmetric matrix with the edges inside on its diagonal.
    """
    offsets, neighbors = graph
    persons, won, turns = len(label), 0.0, len(words) // 4
    best, lowest = label.copy(), 0.0
    for turn in range(turns):
        one = np.int64(words[4 * turn] % np.uint64(persons))
        degree = offsets[one + 1] - offsets[one]
        if degree == 0:
            continue
        middle = neighbors[offsets[one] + np.int64(words[4 * turn + 1] % np.uint64(degree))]
        span = offsets[middle + 1] - offsets[middle]
        near = neighbors[offsets[middle] + np.int64((words[4 * turn + 1] >> np.uint64(32)) % np.uint64(span))]
        source, to = label[one], label[near]
        if source == to:
            continue
        other = -1
        if sizes[source] <= least:
            other = near if words[4 * turn + 2] & np.uint64(1) else middle
            if label[other] != to or other == one:
                continue
        before = _likelihood(edges, sizes, source, to)
        _carry(graph, label, edges, sizes, one, to)
        if other >= 0:
            _carry(graph, label, edges, sizes, other, source)
        cost = _likelihood(edges, sizes, source, to) - before
        chance = (words[4 * turn + 3] >> np.uint64(12)) * 2.0**-52
        if cost <= 0 or chance < np.exp(-cost / (heat * (1 - turn / turns) + 1e-9)):
            won -= cost
            if won > lowest:
                lowest = won
                best[:] = label
        else:
            if other >= 0:
                _carry(graph, label, edges, sizes, other, to)
            _carry(graph, label, edges, sizes, one, source)
    label[:] = best
    return lowest
