"""Rows of persons who can take each other's place, improved by letting two persons change places."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, Arrays, Number, compiled


@compiled
def class_of(row: Array, column: Array, one: Number, other: Number, wide: int) -> Number:
    """Return the number of the class of an edge: its two rows, and how many columns it goes to the right."""
    first, second = (one, other) if row[one] <= row[other] else (other, one)
    step = (column[second] - column[first]) % wide
    if row[first] == row[second]:
        step = min(step, wide - step)
    rows = len(row) // wide
    return (row[first] * rows + row[second]) * wide + step


@compiled
def _energy(number: Number, count: Number, wide: int, rows: int, copies: bool) -> Number:
    """Return what a class of edges costs: its closure, or, for copies, what to add and, times k, what to remove."""
    step = number % wide
    if copies:
        return wide * count if step else (wide - count) * (count > 0)
    if count == 0:
        return 0
    first, second = (number // wide) // rows, (number // wide) % rows
    return wide // 2 if first == second and 2 * step == wide else wide


@compiled
def count_classes(edges: Array, row: Array, column: Array, wide: int, counts: Array, copies: bool) -> int:
    """Count the edges of every class, and return what all classes cost."""
    rows, total = len(row) // wide, 0
    for place in range(len(edges)):
        number = class_of(row, column, edges[place, 0], edges[place, 1], wide)
        total += _energy(number, counts[number] + 1, wide, rows, copies)
        total -= _energy(number, counts[number], wide, rows, copies)
        counts[number] += 1
    return total


@compiled
def _shift(
    graph: Arrays, row: Array, column: Array, person: Number, skip: Number, counts: Array, rule: tuple[int, bool, int]
) -> int:
    """Add the edges of a person to their classes, or take them away, and return what that costs."""
    offsets, neighbors = graph
    wide, copies, way = rule
    rows, total = len(row) // wide, 0
    for place in range(offsets[person], offsets[person + 1]):
        other = neighbors[place]
        if other != skip:
            number = class_of(row, column, person, other, wide)
            total += _energy(number, counts[number] + way, wide, rows, copies)
            total -= _energy(number, counts[number], wide, rows, copies)
            counts[number] += way
    return total


@compiled
def anneal_rows(
    graph: Arrays, row: Array, column: Array, wide: int, counts: Array, words: Array, heat: float, copies: bool
) -> int:
    """Let persons change places as long as random numbers last, and return by how much the cost fell.

    A change that costs more is taken with a chance that falls with its cost and with time. Two thirds of all partners
    are in the row of a neighbor or in the same row.
    """
    persons, won = len(row), 0
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
        cost = _shift(graph, row, column, one, -1, counts, (wide, copies, -1))
        cost += _shift(graph, row, column, other, one, counts, (wide, copies, -1))
        row[one], row[other] = row[other], row[one]
        column[one], column[other] = column[other], column[one]
        cost += _shift(graph, row, column, one, -1, counts, (wide, copies, 1))
        cost += _shift(graph, row, column, other, one, counts, (wide, copies, 1))
        warmth = heat * (1 - turn / turns) + 1e-9
        chance = (words[3 * turn + 2] >> np.uint64(12)) * 2.0**-52
        if cost <= 0 or chance < np.exp(-cost / warmth):
            won -= cost
            at[row[one] * wide + column[one]], at[row[other] * wide + column[other]] = one, other
            continue
        _shift(graph, row, column, one, -1, counts, (wide, copies, -1))
        _shift(graph, row, column, other, one, counts, (wide, copies, -1))
        row[one], row[other] = row[other], row[one]
        column[one], column[other] = column[other], column[one]
        _shift(graph, row, column, one, -1, counts, (wide, copies, 1))
        _shift(graph, row, column, other, one, counts, (wide, copies, 1))
    return won
