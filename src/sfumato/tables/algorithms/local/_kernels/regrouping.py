"""Compiled local recoding: find groups nearby, and propose better places for rows.

Arguments travel in tuples. `trees` is (first, stop, parent, cost) over nodes; `groups` is (leaves, label, offsets,
rows, box, sizes, prices) as in `sfumato.tables.algorithms.local._regrouping.RowGroups`; `index` is (boxes, names,
shared, jump, sizes, prices) over boxes in lexical order.
"""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, compiled

# Compiled gathering: merge rows under the same nodes, for one combination of levels after another.

MIX = np.uint64(0x9E3779B97F4A7C15)
KEY_BITS, WORD = 64, 32


@compiled
def narrow_candidates(
    leaves: Array, marks: Array, label: Array, least: int, stamp: int, above: tuple[Array, Array],
    below: tuple[Array, Array], work: tuple[Array, Array],
) -> int:  # fmt: skip
    """Keep the rows without a label that share the nodes of one more tree, and all before, with enough others.

    `above` and `below` are rows and their keys, `leaves` and `marks` those of the tree. A slot of the hash table is
    a key and a word: the stamp of its writer, and the count. Returns how many rows are kept; their slots are in
    the second of `work`.
    """
    rows, keys = above
    table, place = work
    count = 0
    for i in range(len(rows)):
        if label[rows[i]] < 0:
            below[0][count] = rows[i]
            below[1][count] = keys[i] + marks[leaves[rows[i]]]
            count += 1
    bits = 4
    while (1 << bits) < 2 * count:
        bits += 1
    mask, shift = np.int64((1 << bits) - 1), np.uint64(KEY_BITS - bits)
    for i in range(count):
        key = below[1][i]
        slot = np.int64((key * MIX) >> shift)
        while table[slot, 1] >> WORD == stamp and table[slot, 0] != np.int64(key):
            slot = (slot + 1) & mask
        if table[slot, 1] >> WORD != stamp:
            table[slot, 0], table[slot, 1] = np.int64(key), stamp << WORD
        table[slot, 1] += 1
        place[i] = slot
    kept = 0
    for i in range(count):
        if table[place[i], 1] - (stamp << WORD) >= least:
            below[0][kept], below[1][kept], place[kept] = below[0][i], below[1][i], place[i]
            kept += 1
    return kept


@compiled
def number_buckets(
    leaves: Array, costs: Array, slots: Array, limit: int, rows: Array, work: tuple[Array, Array], bucket: Array
) -> int:
    """Assign a number to every combination of nodes that is cheap enough; return how many there are."""
    table, place = work
    found = 0
    for i in range(len(rows)):
        if table[place[i], 1] >= 0:
            price = 0
            for j in range(len(slots)):
                price += costs[slots[j] + leaves[j, rows[i]]]
            if price <= limit:
                found += 1
            table[place[i], 1] = -found - 1 if price <= limit else -1
        bucket[i] = -table[place[i], 1] - 2
    return found


@compiled
def gather_groups(
    leaves: Array,
    marks: Array,
    costs: Array,
    slots: Array,
    visits: tuple[Array, Array, Array],
    label: Array,
    least: int,
    accept: bool,
    begin: int,
    groups: int,
    state: tuple[Array, Array, Array],
    work: tuple[Array, Array],
    bucket: Array,
) -> tuple[int, int]:
    """Visit combinations until one merges enough rows; `accept` them and go on, or leave their buckets to be judged.

    `state` has the rows that are left after each number of trees, their keys and how many they are; the last number
    is a stamp. Returns the visit and the next number of a group.
    """
    combination, limit, shared = visits
    rows, keys, counts = state
    width = leaves.shape[0]
    dead = width + 1
    for visit in range(begin, len(limit)):
        if shared[visit] >= dead:
            continue
        dead = width + 1
        slot = slots[combination[visit]]
        for j in range(shared[visit], width):
            counts[width + 1] += 1
            above, below = (rows[j, : counts[j]], keys[j, : counts[j]]), (rows[j + 1], keys[j + 1])
            counts[j + 1] = narrow_candidates(
                leaves[j], marks[slot[j] :], label, least, counts[width + 1], above, below, work
            )
            if counts[j + 1] < least:
                dead = j + 1
                break
        if dead <= width:
            continue
        last = rows[width, : counts[width]]
        found = number_buckets(leaves, costs, slot, limit[visit], last, work, bucket)
        if found > 0 and not accept:
            return visit, groups
        for i in range(len(last) if found > 0 else 0):
            if bucket[i] >= 0:
                label[last[i]] = groups + bucket[i]
        groups += found
    return len(limit), groups


NEAR, LARGEST, SEEDS, MAX_SPARE_ROWS = 4, 32, 8, 8  # as in sfumato.tables.algorithms.local._regrouping
STAY, MOVE, SWAP, DISSOLVE, REFORM, SPLIT = 0, 1, 2, 3, 4, 5
FRESH = -2  # the target of rows that are split off
NEVER = np.iinfo(np.int64).max // 4
NOWHERE = NEVER // 4096  # the rise for a row without another place: more than any other


@compiled
def join_nodes(trees: tuple[Array, ...], node: int, other: int) -> int:
    """Find the lowest node above two nodes."""
    first, stop, parent, _ = trees
    low, high = first[other], stop[other]
    while first[node] > low or stop[node] < high:
        node = parent[node]
    return node


@compiled
def join_boxes(trees: tuple[Array, ...], box: Array, other: Array, result: Array) -> int:
    """Find the lowest nodes above two boxes and what they cost together."""
    cost = trees[3]
    total = 0
    for j in range(len(box)):
        result[j] = join_nodes(trees, box[j], other[j])
        total += cost[result[j]]
    return total


@compiled
def price_joined(trees: tuple[Array, ...], box: Array, other: Array) -> int:
    """Compute the price of the lowest nodes above two boxes."""
    cost = trees[3]
    total = 0
    for j in range(len(box)):
        total += cost[join_nodes(trees, box[j], other[j])]
    return total


@compiled
def index_boxes(boxes: Array, shared: Array, jump: Array) -> None:
    """Find for sorted boxes how many leading nodes each shares with the one before, and where each prefix ends."""
    count, width = boxes.shape
    after = np.full(width, count, dtype=np.int32)
    for i in range(count - 1, -1, -1):
        same = 0
        if i > 0:
            while same < width and boxes[i, same] == boxes[i - 1, same]:
                same += 1
        shared[i] = min(same, width - 1)
        for j in range(width):
            jump[i, j] = after[j]
        for j in range(same, width):
            after[j] = i


@compiled
def find_nearest(
    box: Array,
    weight: int,
    own: int,
    bound: int,
    least: int,
    trees: tuple[Array, ...],
    index: tuple[Array, ...],
    sums: Array,
    found: Array,
    rise: Array,
) -> int:
    """Find what a box of some weight can join at the smallest rise of the loss, all below `bound`, except itself.

    Boxes are visited in lexical order; a prefix that alone raises the loss too much, for any size of at least
    `least`, is skipped with all its boxes. Fills `found` and `rise`, best first, and returns how many there are.
    """
    cost = trees[3]
    boxes, names, shared, jump, sizes, prices = index
    most, count, width = len(found), 0, len(box)
    i = 0
    while i < len(names):
        j = shared[i]
        while True:
            here = boxes[i, j]
            node = join_nodes(trees, here, box[j])
            sums[j + 1] = sums[j] + weight * (cost[node] - cost[box[j]]) + least * (cost[node] - cost[here])
            j += 1
            if j == width or sums[j] >= bound:
                break
        if sums[j] >= bound:
            i = jump[i, j - 1]
            continue
        total = sums[width]
        if sizes[i] > least:
            total += (sizes[i] - least) * (price_joined(trees, boxes[i], box) - prices[i])
        if total < bound and names[i] != own:
            place = min(count, most - 1)
            while place > 0 and rise[place - 1] > total:
                found[place], rise[place] = found[place - 1], rise[place - 1]
                place -= 1
            found[place], rise[place] = names[i], total
            count = min(count + 1, most)
            if count == most:
                bound = rise[most - 1]
        i += 1
    return count


@compiled
def find_partners(
    todo: Array,
    begin: int,
    end: int,
    least: int,
    trees: tuple[Array, ...],
    groups: tuple[Array, ...],
    index: tuple[Array, ...],
    found: Array,
    rise: Array,
) -> None:
    """Find for some groups the other group whose merger raises the loss least."""
    _, _, _, _, box, sizes, _ = groups
    sums = np.zeros(box.shape[1] + 1, dtype=np.int64)
    for t in range(begin, end):
        group, one, its = todo[t], found[t : t + 1], rise[t : t + 1]
        find_nearest(box[group], sizes[group], group, NEVER, least, trees, index, sums, one, its)


@compiled
def boxes_without_each(trees: tuple[Array, ...], leaves: Array, members: Array, after: Array, result: Array) -> None:
    """Find the box of a group of several rows without each of its members."""
    size = len(members)
    for j in range(leaves.shape[1]):
        after[size - 1, j] = leaves[members[size - 1], j]
        for i in range(size - 2, 0, -1):
            after[i, j] = join_nodes(trees, after[i + 1, j], leaves[members[i], j])
        result[0, j] = after[1, j]
        before = leaves[members[0], j]
        for i in range(1, size - 1):
            result[i, j] = join_nodes(trees, before, after[i + 1, j])
            before = join_nodes(trees, before, leaves[members[i], j])
        result[size - 1, j] = before


@compiled
def best_swap(
    row: int, rest: Array, size: int, have: int, other: int, gain: int, trees: tuple[Array, ...],
    groups: tuple[Array, ...], scratch: tuple[Array, ...],
) -> tuple[int, int]:  # fmt: skip
    """Find the member of another group for which a row is best exchanged: the member, or -1, and the gain."""
    leaves, _, offsets, rows, _, sizes, prices = groups
    after, others = scratch[4], scratch[5]
    members = rows[offsets[other] : offsets[other + 1]]
    both = have + sizes[other] * prices[other]
    best = -1
    if len(members) > 1:
        boxes_without_each(trees, leaves, members, after, others)
    for i in range(len(members)):
        left = both - size * price_joined(trees, rest, leaves[members[i]])
        if left > gain and len(members) > 1:
            left -= sizes[other] * price_joined(trees, others[i], leaves[row])
        if left > gain:
            best, gain = members[i], left
    return best, gain


@compiled
def leaving_cost(
    group: int, members: Array, targets: Array, trees: tuple[Array, ...], groups: tuple[Array, ...], result: Array
) -> int:
    """Return how much the loss rises when members join their targets, several perhaps the same."""
    leaves, _, _, _, box, sizes, prices = groups
    total = 0
    for i in range(len(members)):
        target, joining = targets[i], 1
        counted = target == group
        for other in range(i):
            counted = counted or targets[other] == target
        if counted:
            continue
        price = join_boxes(trees, box[target], leaves[members[i]], result)
        for other in range(i + 1, len(members)):
            if targets[other] == target:
                price = join_boxes(trees, result, leaves[members[other]], result)
                joining += 1
        total += (sizes[target] + joining) * price - sizes[target] * prices[target]
    return total


@compiled
def can_spare(row: int, group: int, label: Array, sizes: Array, least: int, lent: Array, count: int) -> bool:
    """Return whether another group can spare a row besides those that are already lent."""
    source = label[row]
    spare = sizes[source] - least
    for i in range(count):
        if lent[i] == row:
            return False
        if label[lent[i]] == source:
            spare -= 1
    return bool(source != group and spare > 0)


@compiled
def form_around(
    group: int, seed: int, members: Array, leave: Array, least: int, trees: tuple[Array, ...],
    groups: tuple[Array, ...], lenders: tuple[Array, ...], scratch: tuple[Array, ...], keep: Array, lent: Array,
) -> tuple[int, int]:  # fmt: skip
    """Rebuild a group around one of its members, from members and from rows that other groups can spare.

    A member that is not taken leaves at the rise `leave`. Returns an upper bound for the resulting loss, and how many
    rows are borrowed.
    """
    leaves, label, _, _, _, sizes, prices = groups
    sums, found, rise, current, _, _ = scratch
    current[:] = leaves[members[seed]]
    price, inside, borrowed, loss = 0, 1, 0, leave.sum() - leave[seed]
    keep[:] = False
    keep[seed] = True
    while True:
        best, taken, row = NEVER if inside < least else 0, -1, -1
        for i in range(len(members)):
            if not keep[i]:
                more = (inside + 1) * price_joined(trees, current, leaves[members[i]]) - inside * price - leave[i]
                if more < best:
                    best, taken, row = more, i, members[i]
        if inside < least and borrowed < len(lent):
            near = find_nearest(current, inside, -1, best + prices[group], 1, trees, lenders, sums, found, rise)
            for n in range(near):
                more = rise[n] - prices[label[found[n]]]
                if more < best and can_spare(found[n], group, label, sizes, least, lent, borrowed):
                    best, taken, row = more, -1, found[n]
        if row < 0:
            break
        if taken >= 0:
            keep[taken] = True
        else:
            lent[borrowed] = row
            borrowed += 1
        price = join_boxes(trees, current, leaves[row], current)
        inside += 1
        loss += best
    return loss if inside >= least else NEVER, borrowed


@compiled
def split_off(
    seed: int, members: Array, least: int, trees: tuple[Array, ...], leaves: Array, current: Array, keep: Array
) -> int:
    """Split off the members nearest to one of them, as many as a group needs; return the loss of both parts."""
    keep[:] = False
    total = 0
    for inside in range(least):
        best, chosen = NEVER, seed
        for i in range(len(members) if inside > 0 else 0):
            if not keep[i]:
                price = price_joined(trees, current, leaves[members[i]])
                if price < best:
                    best, chosen = price, i
        keep[chosen] = True
        if inside == 0:
            current[:] = leaves[members[seed]]
        total = least * join_boxes(trees, current, leaves[members[chosen]], current)
    price, others = 0, 0
    for i in range(len(members)):
        if not keep[i]:
            if others == 0:
                current[:] = leaves[members[i]]
            price = join_boxes(trees, current, leaves[members[i]], current)
            others += 1
    return total + others * price


@compiled
def plan_rows(
    t: int, group: int, least: int, trees: tuple[Array, ...], groups: tuple[Array, ...], index: tuple[Array, ...],
    scratch: tuple[Array, ...], rest: Array, aims: Array, leave: Array, plans: tuple[Array, ...],
) -> None:  # fmt: skip
    """Find the best move or swap of one row of a group, and for every row the best other place."""
    leaves, _, offsets, rows, _, sizes, prices = groups
    kinds, gains, movers, places, backs = plans
    sums, found, rise = scratch[0], scratch[1], scratch[2]
    members, size = rows[offsets[group] : offsets[group + 1]], sizes[group]
    have = size * prices[group]
    for i in range(size):
        row = members[i]
        near = find_nearest(leaves[row], 1, group, have, least, trees, index, sums, found, rise)
        aims[i] = found[0] if near > 0 else -1
        leave[i] = rise[0] if near > 0 else NOWHERE
        if size > least and near > 0:
            saved = have - (size - 1) * price_joined(trees, rest[i], rest[i]) - rise[0]
            if saved > gains[t]:
                kinds[t], gains[t], movers[t], places[t] = MOVE, saved, row, found[0]
        for n in range(near):
            if max(size, sizes[found[n]]) <= LARGEST:
                back, gain = best_swap(row, rest[i], size, have, found[n], gains[t], trees, groups, scratch)
                if back >= 0:
                    kinds[t], gains[t], movers[t], places[t], backs[t] = SWAP, gain, row, found[n], back


@compiled
def plan_group(
    t: int, group: int, least: int, trees: tuple[Array, ...], groups: tuple[Array, ...], lenders: tuple[Array, ...],
    scratch: tuple[Array, ...], aims: Array, leave: Array, plans: tuple[Array, ...], loans: Array,
) -> None:  # fmt: skip
    """Find out whether it is better to dissolve a group, to split it, or to rebuild it."""
    leaves, _, offsets, rows, _, sizes, prices = groups
    kinds, gains, _, _, _ = plans
    members, size = rows[offsets[group] : offsets[group + 1]], sizes[group]
    have = size * prices[group]
    if aims.min() >= 0:
        saved = have - leaving_cost(group, members, aims, trees, groups, scratch[3])
        if saved > gains[t]:
            kinds[t], gains[t] = DISSOLVE, saved
    keep, lent = np.zeros(size, dtype=np.bool_), np.empty(MAX_SPARE_ROWS, dtype=np.int64)
    trial, chosen = np.empty(size, dtype=np.int64), aims.copy()
    for seed in range(0, size if size >= 2 * least else 0, (size + SEEDS - 1) // SEEDS):
        loss = split_off(seed, members, least, trees, leaves, scratch[3], keep)
        if have - loss > gains[t]:
            kinds[t], gains[t] = SPLIT, have - loss
            chosen[:] = np.where(keep, FRESH, group)
    for seed in range(0, size if size <= LARGEST else 0, (size + SEEDS - 1) // SEEDS):
        loss, borrowed = form_around(group, seed, members, leave, least, trees, groups, lenders, scratch, keep, lent)
        if have - loss <= gains[t]:
            continue
        trial[:] = np.where(keep, group, aims)
        loss += leaving_cost(group, members, trial, trees, groups, scratch[3]) - leave[~keep].sum()
        if have - loss > gains[t]:
            kinds[t], gains[t] = REFORM, have - loss
            chosen[:] = trial
            loans[t, :] = -1
            loans[t, :borrowed] = lent[:borrowed]
    aims[:] = chosen


@compiled
def propose_changes(
    todo: Array,
    begin: int,
    end: int,
    least: int,
    trees: tuple[Array, ...],
    groups: tuple[Array, ...],
    index: tuple[Array, ...],
    lenders: tuple[Array, ...],
    plans: tuple[Array, ...],
    targets: Array,
    loans: Array,
) -> None:
    """Find for some groups, all of several rows, the best change of places; see `Regrouper.propose`."""
    leaves, _, offsets, rows, _, sizes, _ = groups
    width, largest = leaves.shape[1], 1
    for t in range(begin, end):
        largest = max(largest, sizes[todo[t]])
    after, rest = np.empty((largest, width), dtype=np.int32), np.empty((largest, width), dtype=np.int32)
    found, rise = np.empty(NEAR, dtype=np.int64), np.empty(NEAR, dtype=np.int64)
    others = np.empty((LARGEST, width), dtype=np.int32), np.empty((LARGEST, width), dtype=np.int32)
    scratch = (np.zeros(width + 1, dtype=np.int64), found, rise, np.empty(width, dtype=np.int32), others[0], others[1])
    leave = np.empty(largest, dtype=np.int64)
    for t in range(begin, end):
        group, size = todo[t], sizes[todo[t]]
        aims = targets[offsets[group] : offsets[group + 1]]
        boxes_without_each(trees, leaves, rows[offsets[group] : offsets[group + 1]], after, rest)
        plan_rows(t, group, least, trees, groups, index, scratch, rest, aims, leave[:size], plans)
        plan_group(t, group, least, trees, groups, lenders, scratch, aims, leave[:size], plans, loans)
