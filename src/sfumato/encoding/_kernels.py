"""Compiled sums of the values that groups may have when their records' values stand in buckets."""

from __future__ import annotations

from sfumato.core._kernels.compilation import Array, compiled

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
def sort_short_run(codes: Array, begin: int, end: int) -> None:
    """Sort a few values by insertion; those of a single bucket are in order already."""
    for place in range(begin + 1, end):
        code, at = codes[place], place
        while at > begin and codes[at - 1] > code:
            codes[at] = codes[at - 1]
            at -= 1
        codes[at] = code


@compiled
def sum_buckets(
    order: Array, starts: Array, bucket: Array, contents: tuple[Array, ...], first: int, last: int,
    room: tuple[Array, ...], found: Array, mixed: Array, amounts: Array,
) -> int:  # fmt: skip
    """Sum what the buckets of the groups first..last hold of every value: values ascending, with their amounts.

    Writes from the start of `mixed` and `amounts`, and the number of values of every group to `found`; returns how
    many there are in all. `room` has a place for every value and for every block of them, zero before and after.
    """
    offsets, codes, held = contents
    sums, blocks = room
    end = 0
    for group in range(first, last):
        begin = end
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
            sort_short_run(mixed, begin, end)
        else:
            place = begin
            for block in range(len(blocks)):
                for code in range(block << BLOCK, min((block + blocks[block]) << BLOCK, len(sums))):
                    if sums[code] != 0:
                        mixed[place] = code
                        place += 1
        for place in range(begin, end):
            code = mixed[place]
            amounts[place] = sums[code]
            sums[code], blocks[code >> BLOCK] = 0, 0
        found[group] = end - begin
    return end
