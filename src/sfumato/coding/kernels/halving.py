"""Compiled halving of parts of records, whose values are all cut at the same count."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled

MOST_CODE = 2**31 - 1
FEW = 48  # records of a run that are sorted by insertion


@compiled
def last_of_few(codes: Array, axis: int, begin: int, end: int, half: int, room: Array) -> tuple[int, int]:
    """Find the last code of the lower half of a short run along an axis, and how many records have it there."""
    for i in range(begin, end):
        code, at = codes[axis, i], i - begin
        while at > 0 and room[at - 1] > code:
            room[at] = room[at - 1]
            at -= 1
        room[at] = code
    last, ties = room[half - 1], 0
    for at in range(half):
        ties += room[at] == last
    return last, ties


@compiled
def last_of_many(codes: Array, axis: int, begin: int, end: int, half: int, room: Array) -> tuple[int, int]:
    """Find the last code of the lower half of a long run along an axis, and how many records have it there."""
    most = 0
    for i in range(begin, end):
        most = max(most, codes[axis, i])
    for code in range(most + 1):
        room[code] = 0
    for i in range(begin, end):
        room[codes[axis, i]] += 1
    last, ties = 0, half
    while ties > room[last]:
        ties -= room[last]
        last += 1
    return last, ties


@compiled
def cut_run(codes: Array, axis: int, begin: int, end: int, half: int, room: Array, upper: Array) -> None:
    """Mark all but the first records of a run, sorted along an axis; equal ones stay in their order."""
    if end - begin <= half:
        upper[begin:end] = 0
        return
    if end - begin <= FEW:
        last, ties = last_of_few(codes, axis, begin, end, half, room)
    else:
        last, ties = last_of_many(codes, axis, begin, end, half, room)
    for i in range(begin, end):
        code = codes[axis, i]
        upper[i] = code > last or (code == last and ties == 0)
        ties -= code == last and ties > 0


@compiled
def sum_widths(codes: Array, positions: Array, places: Array, begin: int, end: int, upper: Array) -> float:
    """Sum the widths of both sides of a part over all axes."""
    below, above = 0.0, 0.0
    none = np.int32(MOST_CODE)
    for axis in range(len(codes)):
        mine, low, high, low_above, high_above = codes[axis], none, np.int32(-1), none, np.int32(-1)
        for i in range(begin, end):
            code, side = mine[i], upper[i]
            low = min(low, none if side else code)
            high = max(high, np.int32(-1) if side else code)
            low_above = min(low_above, code if side else none)
            high_above = max(high_above, code if side else np.int32(-1))
        place = places[axis]
        if high >= 0:
            below += positions[place + high] - positions[place + low]
        if high_above >= 0:
            above += positions[place + high_above] - positions[place + low_above]
    return below + above


@compiled
def part_rows(
    rows: Array, codes: Array, bounds: Array, halves: tuple[Array, Array], runs: int, upper: Array,
    spare: tuple[Array, Array],
) -> None:  # fmt: skip
    """Put the lower half of a part before the upper one, each by runs; write into `halves` where these begin."""
    place = bounds[0]
    for side in range(2):
        mine = halves[side]
        for run in range(runs):
            mine[run] = place
            for i in range(bounds[run], bounds[run + 1]):
                if upper[i] == side:
                    spare[0][place] = rows[i]
                    for axis in range(len(codes)):
                        spare[1][axis, place] = codes[axis, i]
                    place += 1
        mine[runs] = place
    for i in range(bounds[0], place):
        rows[i] = spare[0][i]
        for axis in range(len(codes)):
            codes[axis, i] = spare[1][axis, i]


@compiled
def halve_part(
    codes: Array, positions: Array, places: Array, rows: Array, stack: Array, sizes: Array, firsts: Array, runs: int,
    room: tuple[Array, ...], leaf: Array,
) -> None:  # fmt: skip
    """Halve a part until every record is alone with its value; `stack[0]`, `sizes[0]` and `firsts[0]` are its own.

    `codes` are put in the order of `rows`. `stack` has a row for each depth and one more, for where the runs of a part
    begin, and where the last ends.
    """
    counts, upper, best, spare, spare_codes, above = room
    depth = 1
    while depth > 0:
        depth -= 1
        bounds, size, first = stack[depth], sizes[depth], firsts[depth]
        begin, end = bounds[0], bounds[runs]
        if size == 1:
            for i in range(begin, end):
                leaf[rows[i]] = first
            continue
        half, least = size // 2, -1.0
        for axis in range(len(codes)):
            for run in range(runs):
                cut_run(codes, axis, bounds[run], bounds[run + 1], half, counts, upper)
            width = sum_widths(codes, positions, places, begin, end, upper)
            if least < 0 or width < least:
                least = width
                for i in range(begin, end):
                    best[i] = upper[i]
        part_rows(rows, codes, bounds, (stack[depth + 1], above), runs, best, (spare, spare_codes))
        for run in range(runs + 1):
            bounds[run] = above[run]
        sizes[depth], firsts[depth] = size - half, first + half
        sizes[depth + 1], firsts[depth + 1] = half, first
        depth += 2
