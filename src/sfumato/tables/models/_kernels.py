"""Compiled distances of groups from their table: how much must move from node to node, level by level."""

from __future__ import annotations

from sfumato.core._kernels.compilation import Array, Arrays, compiled


@compiled
def measure_surplus(entries: Arrays, levels: Array, expected: Array, table: int, room: Array, moved: Array) -> None:
    """Add to every group what it has beyond its share of the table, on all levels, times both sizes.

    `levels[h, v]` is the node of value v on level h, and `expected[h, n]` is what the table has in node n. `room` has a
    place for every node, zero before and after.
    """
    offsets, codes, counts = entries
    for group in range(len(offsets) - 1):
        first, last, known = offsets[group], offsets[group + 1], 0
        for entry in range(first, last):
            known += counts[entry]
        for level in range(len(levels)):
            for entry in range(first, last):
                room[levels[level, codes[entry]]] += counts[entry]
            for entry in range(first, last):
                node = levels[level, codes[entry]]
                moved[group] += max(room[node] * table - expected[level, node] * known, 0)
                room[node] = 0
