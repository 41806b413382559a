"""Compiled propagation: which values the members of overlapping groups can have, looking at one group at a time."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, compiled


@compiled
def propagate(groups: Arrays, units: Arrays, cells: Arrays, masks: Array, conflicts: Array) -> None:
    """Remove values from masks until no group alone excludes another one; mark groups that no values fit.

    `groups` are starts and units of every group, `units` weights, starts and groups of every unit, `cells` starts,
    values and counts of every group.
    """
    starts, members = groups
    weight, unit_starts, unit_groups = units
    count = len(starts) - 1
    queue, waiting = np.arange(count), np.ones(count, dtype=np.bool_)
    head, length = 0, count
    while length:
        group = queue[head]
        head = (head + 1) % count
        length -= 1
        waiting[group] = False
        if conflicts[group]:
            continue
        mine = members[starts[group] : starts[group + 1]]
        begin, end = cells[0][group], cells[0][group + 1]
        changed, fits = _narrow_group(mine, weight, cells[1][begin:end], cells[2][begin:end], masks)
        if not fits:
            conflicts[group] = True
            continue
        for at in range(len(mine)):
            if changed[at]:
                for place in range(unit_starts[mine[at]], unit_starts[mine[at] + 1]):
                    other = unit_groups[place]
                    if other != group and not waiting[other]:
                        waiting[other] = True
                        queue[(head + length) % count] = other
                        length += 1


@compiled
def _narrow_group(  # noqa: C901, PLR0912 - one loop over the members of a group
    mine: Array, weight: Array, codes: Array, counts: Array, masks: Array
) -> tuple[Array, bool]:
    """Remove from the masks of a group's members what the group excludes; say whose changed, and whether any fits."""
    changed = np.zeros(len(mine), dtype=np.bool_)
    left = counts.copy()
    label = np.full(len(mine), -1)
    classes = 0
    first, supply = np.empty(len(mine), dtype=np.int64), np.zeros(len(mine), dtype=np.int64)
    for at in range(len(mine)):  # who has one value only is taken out; all others are classed by their masks
        only = _single_value(masks[mine[at]])
        if only == -1:
            return changed, False
        if only >= 0:
            place = np.searchsorted(codes, only)
            if place == len(codes) or codes[place] != only or left[place] < weight[mine[at]]:
                return changed, False
            left[place] -= weight[mine[at]]
            continue
        found = 0
        while found < classes and not _masks_equal(masks[mine[first[found]]], masks[mine[at]]):
            found += 1
        if found == classes:
            first[found] = at
            classes += 1
        label[at] = found
        supply[found] += weight[mine[at]]
    if not classes:
        return changed, left.sum() == 0
    allowed = np.zeros((classes, len(codes)), dtype=np.bool_)
    full = True
    for c in range(classes):
        mask = masks[mine[first[c]]]
        for v in range(len(codes)):
            allowed[c, v] = left[v] > 0 and (mask[codes[v] >> 6] >> np.uint64(codes[v] & 63)) & np.uint64(1)
            full &= allowed[c, v] or left[v] == 0
    if full:
        if left.sum() != supply.sum():
            return changed, False
    elif not _keep_possible(allowed, supply[:classes].copy(), left):
        return changed, False
    for at in range(len(mine)):
        if label[at] >= 0:
            changed[at] = _intersect(masks[mine[at]], codes, allowed[label[at]])
    return changed, True


@compiled
def _single_value(mask: Array) -> int:
    """Return the only value of a mask; -1 if it has none, -2 if it has several."""
    found = -1
    for block in range(len(mask)):
        bits = mask[block]
        if bits:
            if found >= 0 or bits & (bits - np.uint64(1)):
                return -2
            found = block * 64
            while bits > np.uint64(1):
                bits >>= np.uint64(1)
                found += 1
    return found


@compiled
def _masks_equal(one: Array, two: Array) -> bool:
    return not (one != two).any()


@compiled
def _intersect(mask: Array, codes: Array, allowed: Array) -> bool:
    """Keep of a mask the values that are allowed; return whether it lost one."""
    lost, v = False, 0
    for block in range(len(mask)):
        kept = np.uint64(0)
        while v < len(codes) and codes[v] < (block + 1) * 64:
            if allowed[v]:
                kept |= np.uint64(1) << np.uint64(codes[v] & 63)
            v += 1
        lost |= (mask[block] & ~kept) != 0
        mask[block] &= kept
    return lost


@compiled
def _keep_possible(allowed: Array, supply: Array, demand: Array) -> bool:  # noqa: C901 - loops over one matrix
    """Keep the pairs of class and value that some assignment of all has; return whether there is one."""
    classes, values = allowed.shape
    flow = np.zeros((classes, values), dtype=np.int64)
    for c in range(classes):
        for v in range(values):
            if allowed[c, v]:
                some = min(supply[c], demand[v])
                flow[c, v] = some
                supply[c] -= some
                demand[v] -= some
    for c in range(classes):
        while supply[c] > 0:
            if not _augment(c, allowed, flow, supply, demand):
                return False
    if demand.sum() > 0:
        return False
    label = _components(allowed, flow)
    for c in range(classes):
        for v in range(values):
            if allowed[c, v] and flow[c, v] == 0 and label[c] != label[classes + v]:
                allowed[c, v] = False
    return True


@compiled
def _augment(begin: int, allowed: Array, flow: Array, supply: Array, demand: Array) -> bool:
    """Find a way from a class with members left to a value with counts left, and move as many as possible along it."""
    classes, values = allowed.shape
    before_value, before_class = np.full(values, -1), np.full(classes, -1)
    queue = np.empty(classes, dtype=np.int64)
    queue[0], head, tail = begin, 0, 1
    before_class[begin] = values
    while head < tail:
        c = queue[head]
        head += 1
        for v in range(values):
            if not allowed[c, v] or before_value[v] >= 0:
                continue
            before_value[v] = c
            if demand[v] > 0:
                _shift_flow(v, begin, before_value, before_class, flow, supply, demand)
                return True
            for other in range(classes):
                if flow[other, v] > 0 and before_class[other] < 0:
                    before_class[other] = v
                    queue[tail] = other
                    tail += 1
    return False


@compiled
def _shift_flow(
    end: int, begin: int, before_value: Array, before_class: Array, flow: Array, supply: Array, demand: Array
) -> None:
    """Move members along the way that was found."""
    amount, v, c = min(supply[begin], demand[end]), end, before_value[end]
    while c != begin:
        v = before_class[c]
        amount = min(amount, flow[c, v])
        c = before_value[v]
    v, c = end, before_value[end]
    flow[c, v] += amount
    while c != begin:
        v = before_class[c]
        flow[c, v] -= amount
        c = before_value[v]
        flow[c, v] += amount
    supply[begin] -= amount
    demand[end] -= amount


@compiled
def _components(allowed: Array, flow: Array) -> Array:  # noqa: C901 - the algorithm as it is written
    """Find the strongly connected components of the residual graph (Tarjan): of classes first, then of values."""
    classes, values = allowed.shape
    nodes = classes + values
    label, low, number = np.full(nodes, -1), np.zeros(nodes, dtype=np.int64), np.full(nodes, -1)
    following = np.zeros(nodes, dtype=np.int64)
    path, stack = np.empty(nodes, dtype=np.int64), np.empty(nodes, dtype=np.int64)
    seen, found, on_stack = 0, 0, 0
    for root in range(nodes):
        if number[root] >= 0:
            continue
        path[0], depth = root, 1
        while depth:
            node = path[depth - 1]
            if number[node] < 0:
                number[node] = low[node] = seen
                seen += 1
                stack[on_stack] = node
                on_stack += 1
            deeper = False
            ends = values if node < classes else classes
            while following[node] < ends and not deeper:
                step = following[node]
                following[node] += 1
                linked = allowed[node, step] if node < classes else flow[step, node - classes] > 0
                other = classes + step if node < classes else step
                if linked and number[other] < 0:
                    path[depth] = other
                    depth += 1
                    deeper = True
                elif linked and label[other] < 0:
                    low[node] = min(low[node], number[other])
            if deeper:
                continue
            if low[node] == number[node]:
                while True:
                    on_stack -= 1
                    label[stack[on_stack]] = found
                    if stack[on_stack] == node:
                        break
                found += 1
            depth -= 1
            if depth:
                low[path[depth - 1]] = min(low[path[depth - 1]], low[node])
    return label
