"""Super-nodes of persons with alike neighbors and alike attributes, grown one person at a time."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, Number, compiled


@compiled
def add_shared_neighbors(offsets: Array, neighbors: Array, person: int, shared: Array) -> None:
    """Add to everybody how many neighbors she shares with a person, and 1 if they know each other."""
    for place in range(offsets[person], offsets[person + 1]):
        middle = neighbors[place]
        shared[middle] += 1
        for step in range(offsets[middle], offsets[middle + 1]):
            shared[neighbors[step]] += 1


@compiled
def attribute_loss(attributes: Arrays, state: Arrays, person: int) -> float:
    """Return the mean loss of the attributes of a super-node if a person joins it.

    A number loses the share of the whole width that its range covers, and everything where some are missing; a node of
    a tree loses the share of the height up to the lowest common one.
    """
    numbers, widths, nodes, starts = attributes
    low, high, levels, first = state
    count = len(widths) + len(starts) - 1
    if count == 0:
        return 0.0
    total = 0.0
    for column in range(len(widths)):
        value = numbers[column, person]
        if np.isnan(value) or np.isnan(low[column]):
            alike = np.isnan(value) and np.isnan(low[column]) and not np.isfinite(high[column])
            total += 0.0 if alike else 1.0
        elif widths[column] > 0:
            total += (max(high[column], value) - min(low[column], value)) / widths[column]
    for column in range(len(starts) - 1):
        height, level = starts[column + 1] - starts[column] - 1, levels[column]
        while nodes[starts[column] + level, person] != nodes[starts[column] + level, first[0]]:
            level += 1
        total += level / height
    return total / count


@compiled
def join_attributes(attributes: Arrays, state: Arrays, person: int, begin: bool) -> None:
    """Let a person join a super-node, or begin one."""
    numbers, widths, nodes, starts = attributes
    low, high, levels, first = state
    if begin:
        first[0] = person
        levels[:] = 0
    for column in range(len(widths)):
        value = numbers[column, person]
        if begin:
            low[column], high[column] = value, value
        elif np.isnan(value) != np.isnan(low[column]) or np.isnan(value):
            if not (np.isnan(value) and np.isnan(high[column])):
                low[column], high[column] = np.nan, 0.0  # some are missing, some are not
        else:
            low[column], high[column] = min(low[column], value), max(high[column], value)
    for column in range(len(starts) - 1):
        while nodes[starts[column] + levels[column], person] != nodes[starts[column] + levels[column], first[0]]:
            levels[column] += 1


@compiled
def empty_state(attributes: Arrays) -> Arrays:
    """Return the attributes of a super-node without anybody."""
    columns, trees = len(attributes[1]), len(attributes[3]) - 1
    return np.zeros(columns), np.zeros(columns), np.zeros(trees, dtype=np.int64), np.zeros(1, dtype=np.int64)


@compiled
def add_shared_free_neighbors(
    graph: Arrays, person: int, label: Array, shared: Array, touched: Array, count: int
) -> int:
    """Do as `add_shared_neighbors`, and append free persons to those who share any; return how many there are now."""
    offsets, neighbors = graph
    for place in range(offsets[person], offsets[person + 1]):
        middle = neighbors[place]
        count = _share_one(middle, label, shared, touched, count)
        for step in range(offsets[middle], offsets[middle + 1]):
            count = _share_one(neighbors[step], label, shared, touched, count)
    return count


@compiled
def _share_one(person: Number, label: Array, shared: Array, touched: Array, count: int) -> int:
    if label[person] < 0:
        if shared[person] == 0:
            touched[count] = person
            count += 1
        shared[person] += 1
    return count


@compiled
def grow_super_nodes(
    offsets: Array, neighbors: Array, order: Array, least: int, weight: float, attributes: Arrays, near: int
) -> tuple[Array, Array]:
    """Grow super-nodes, each from the person who comes first in an order and is free; the last may stay too small.

    `weight` is that of attributes, the rest that of the structure. In networks of more than `near` persons only those
    who share a neighbor with the super-node are looked at, and the next in the order where there is nobody. Returns the
    super-node of every person, and all persons in the order in which they joined.
    """
    persons, graph = len(order), (offsets, neighbors)
    label, joined = np.full(persons, -1, dtype=np.int64), np.empty(persons, dtype=np.int64)
    shared, looked_at = np.zeros(persons, dtype=np.int64), np.arange(persons)
    state, count, done, next_free = empty_state(attributes), 0, 0, 0
    while done < persons:
        size, degrees, found = 0, 0, 0
        while size < least and done < persons:
            chosen = -1
            if size > 0:
                candidates = looked_at[:found] if persons > near else looked_at
                chosen = _nearest(offsets, shared, label, (size, degrees, weight), attributes, state, candidates)
            if chosen < 0:
                while label[order[next_free]] >= 0:
                    next_free += 1
                chosen = order[next_free]
            join_attributes(attributes, state, chosen, size == 0)
            label[chosen], joined[done] = count, chosen
            if persons > near:
                found = add_shared_free_neighbors(graph, chosen, label, shared, looked_at, found)
            else:
                add_shared_neighbors(offsets, neighbors, chosen, shared)
            size += 1
            done += 1
            degrees += offsets[chosen + 1] - offsets[chosen]
        count += 1
        if persons > near:
            shared[looked_at[:found]] = 0
        else:
            shared[:] = 0
    return label, joined


@compiled
def _nearest(
    offsets: Array,
    shared: Array,
    label: Array,
    rule: tuple[int, int, float],
    attributes: Arrays,
    state: Arrays,
    candidates: Array,
) -> int:
    """Return the free candidate who costs least, the lowest number of several; -1 if there is none."""
    size, degrees, weight = rule
    best, least = -1, np.inf
    most = size * max(len(label) - 2, 1)
    for person in candidates:
        if label[person] >= 0:
            continue
        apart = degrees + size * (offsets[person + 1] - offsets[person]) - 2 * shared[person]
        cost = (1 - weight) * apart / most
        if cost <= least and weight > 0:
            cost += weight * attribute_loss(attributes, state, person)
        if cost < least or (cost == least and person < best):
            best, least = person, cost
    return best


@compiled
def assign_remaining(
    offsets: Array, neighbors: Array, rest: Array, weight: float, attributes: Arrays, label: Array, count: int
) -> None:
    """Let everybody of the rest join the super-node that she costs least in, one after the other."""
    persons = len(label)
    for person in rest:
        shared = np.zeros(persons, dtype=np.int64)
        add_shared_neighbors(offsets, neighbors, person, shared)
        own, members = offsets[person + 1] - offsets[person], np.argsort(label)
        best, least, place, state = 0, np.inf, 0, empty_state(attributes)
        while label[members[place]] < 0:
            place += 1
        for node in range(count):
            size, apart = 0, 0
            while place < persons and label[members[place]] == node:
                other = members[place]
                join_attributes(attributes, state, other, size == 0)
                apart += own + offsets[other + 1] - offsets[other] - 2 * shared[other]
                size += 1
                place += 1
            cost = (1 - weight) * apart / (size * max(persons - 2, 1))
            if weight > 0:
                cost += weight * attribute_loss(attributes, state, person)
            if cost < least:
                best, least = node, cost
        label[person] = best
