"""Rows of persons who can take each other's place, improved by letting two persons change places."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, Number, compiled

Rule: TypeAlias = tuple[int, bool, bool]  # the number of columns, whether they are copies, whether edges may go


@compiled
def edge_class(row: Array, column: Array, one: Number, other: Number, wide: int) -> Number:
    """Return the number of the class of an edge: its two rows, and how many columns it goes to the right."""
    first, second = (one, other) if row[one] <= row[other] else (other, one)
    step = (column[second] - column[first]) % wide
    if row[first] == row[second]:
        step = min(step, wide - step)
    rows = len(row) // wide
    return (row[first] * rows + row[second]) * wide + step


@compiled
def edge_class_size(number: Number, wide: int, rows: int) -> Number:
    """Return how many pairs a class has: one for each column, or half as many between opposite places of a row."""
    first, second = (number // wide) // rows, (number // wide) % rows
    return wide // 2 if first == second and 2 * (number % wide) == wide else wide


@compiled
def _energy(number: Number, count: Number, rows: int, rule: Rule) -> Number:
    """Return how many edges change for a class: all pairs are joined, or none if that is allowed and cheaper.

    Copies have no edges between columns; where edges are else only added, removing one costs as much as adding k.
    """
    wide, copies, change = rule
    if copies and number % wide:
        return count if change else wide * count
    missing = (edge_class_size(number, wide, rows) - count) * (count > 0)
    return min(count, missing) if change else missing


@compiled
def count_classes(edges: Array, row: Array, column: Array, counts: Array, rule: Rule) -> int:
    """Count the edges of every class, and return how many edges change for all classes."""
    rows, total = len(row) // rule[0], 0
    for place in range(len(edges)):
        number = edge_class(row, column, edges[place, 0], edges[place, 1], rule[0])
        total += _energy(number, counts[number] + 1, rows, rule) - _energy(number, counts[number], rows, rule)
        counts[number] += 1
    return total


@compiled
def number_classes(edges: Array, row: Array, column: Array, wide: int) -> Array:
    """Return the class of every edge."""
    numbers = np.empty(len(edges), dtype=np.int64)
    for place in range(len(edges)):
        numbers[place] = edge_class(row, column, edges[place, 0], edges[place, 1], wide)
    return numbers


@compiled
def class_sizes(numbers: Array, wide: int, rows: int) -> Array:
    """Return how many pairs classes have."""
    sizes = np.empty(len(numbers), dtype=np.int64)
    for place in range(len(numbers)):
        sizes[place] = edge_class_size(numbers[place], wide, rows)
    return sizes


@compiled
def _shift(
    graph: Arrays, row: Array, column: Array, person: Number, skip: Number, counts: Array, rule: Rule, way: int
) -> int:
    """Add the edges of a person to their classes, or take them away, and return what that costs."""
    offsets, neighbors = graph
    rows, total = len(row) // rule[0], 0
    for place in range(offsets[person], offsets[person + 1]):
        other = neighbors[place]
        if other != skip:
            number = edge_class(row, column, person, other, rule[0])
            total += _energy(number, counts[number] + way, rows, rule) - _energy(number, counts[number], rows, rule)
            counts[number] += way
    return total


@compiled
def _swap_vertices(
    graph: Arrays, row: Array, column: Array, one: Number, other: Number, counts: Array, rule: Rule
) -> int:
    """Let two persons change places, and return what that costs."""
    cost = _shift(graph, row, column, one, -1, counts, rule, -1)
    cost += _shift(graph, row, column, other, one, counts, rule, -1)
    row[one], row[other] = row[other], row[one]
    column[one], column[other] = column[other], column[one]
    cost += _shift(graph, row, column, one, -1, counts, rule, 1)
    return cost + _shift(graph, row, column, other, one, counts, rule, 1)


@compiled
def anneal_alignment(
    graph: Arrays, row: Array, column: Array, counts: Array, words: Array, heats: tuple[float, float], rule: Rule
) -> int:
    """Let persons change places as long as random numbers last, and return by how much the cost fell.

    A change that costs more is taken with a chance that falls with its cost and, from the first heat to the last, with
    time. Two thirds of all partners are in the row of a neighbor or in the same row.
    """
    persons, won, wide = len(row), 0, rule[0]
    at = np.empty(persons, dtype=np.int64)  # who is at a place
    for person in range(persons):
        at[row[person] * wide + column[person]] = person
    turns = len(words) // 3
    for turn in range(turns):
        one = np.int64(words[3 * turn] % np.uint64(persons))
        drawn = words[3 * turn + 1]
        other = np.int64((drawn >> np.uint64(2)) % np.uint64(persons))
        kind = drawn & np.uint64(3)
        degree = graph[0][one + 1] - graph[0][one]
        if kind == np.uint64(0):
            other = at[row[one] * wide + other % wide]
        elif kind != np.uint64(1) and degree:
            friend = graph[1][graph[0][one] + (other // wide) % degree]
            other = at[row[friend] * wide + other % wide]
        if one == other:
            continue
        cost = _swap_vertices(graph, row, column, one, other, counts, rule)
        warmth = heats[0] + (heats[1] - heats[0]) * (turn / turns) + 1e-9
        chance = (words[3 * turn + 2] >> np.uint64(12)) * 2.0**-52
        if cost <= 0 or chance < np.exp(-cost / warmth):
            won -= cost
            at[row[one] * wide + column[one]], at[row[other] * wide + column[other]] = one, other
        else:
            _swap_vertices(graph, row, column, one, other, counts, rule)
    return won
