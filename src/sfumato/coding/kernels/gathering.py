"""Compiled gathering: merge rows under the same nodes, for one combination of levels after another."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled

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
