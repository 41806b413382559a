"""Compiled sums of the values that groups may have when their records' values stand in buckets."""

from __future__ import annotations

from sfumato.coding.kernels.compiling import Array, compiled

BLOCK = 6  # bits: values are looked for in blocks of 64
FEW = 24


@compiled
def order_by_group(group: Array, places: Array, order: Array) -> None:
    """List records by group, in their order; `places` says where each group begins, and is moved to where it ends."""
    for i in range(len(group)):
        mine = group[i]
        order[places[mine]] = i
        places[mine] += 1


@compiled
def count_values(
    order: Array, starts: Array, bucket: Array, contents: tuple[Array, ...], first: int, last: int, seen: Array,
    found: Array,
) -> None:  # fmt: skip
    """Count the different values in the buckets of the groups first..last; `seen` has a place for every value."""
    offsets, codes = contents[0], contents[1]
    for group in range(first, last):
        for i in range(starts[group], starts[group + 1]):
            mine = bucket[order[i]]
            for entry in range(offsets[mine], offsets[mine + 1]):
                if seen[codes[entry]] != group + 1:
                    seen[codes[entry]] = group + 1
                    found[group] += 1


@compiled
def mix(
    order: Array, starts: Array, bucket: Array, contents: tuple[Array, ...], first: int, last: int,
    room: tuple[Array, ...], places: Array, mixed: Array, amounts: Array,
) -> None:  # fmt: skip
    """Sum what the buckets of the groups first..last hold of every value: values ascending, with their amounts."""
    offsets, codes, held = contents
    sums, blocks = room  # both zero before and after
    for group in range(first, last):
        begin = places[group]
        end = begin
        for i in range(starts[group], starts[group + 1]):
            mine = bucket[order[i]]
            for entry in range(offsets[mine], offsets[mine + 1]):
                code = codes[entry]
                if sums[code] == 0:
                    mixed[end] = code
                    end += 1
                    blocks[code >> BLOCK] = 1
                sums[code] += held[entry]
        if end - begin <= FEW:
            for place in range(begin + 1, end):
                code, at = mixed[place], place
                while at > begin and mixed[at - 1] > code:
                    mixed[at] = mixed[at - 1]
                    at -= 1
                mixed[at] = code
            for place in range(begin, end):
                blocks[mixed[place] >> BLOCK] = 0
        else:
            place = begin
            for block in range(len(blocks)):
                if blocks[block] == 1:
                    blocks[block] = 0
                    for code in range(block << BLOCK, min((block + 1) << BLOCK, len(sums))):
                        if sums[code] != 0:
                            mixed[place] = code
                            place += 1
        for place in range(begin, end):
            amounts[place] = sums[mixed[place]]
            sums[mixed[place]] = 0
