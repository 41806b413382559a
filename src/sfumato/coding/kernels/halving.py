"""Compiled halving of parts of records, whose values are all cut at the same count."""

from __future__ import annotations

from sfumato.coding.kernels.compiling import Array, compiled

FEW = 48  # records of a run that are sorted by insertion


@compiled
def last_of_few(codes: Array, axis: int, rows: Array, begin: int, end: int, half: int, room: Array) -> tuple[int, int]:
    """Find the last code of the lower half of a short run along an axis, and how many records have it there."""
    for i in range(begin, end):
        code, at = codes[rows[i], axis], i - begin
        while at > 0 and room[at - 1] > code:
            room[at] = room[at - 1]
            at -= 1
        room[at] = code
    last, ties = room[half - 1], 0
    for at in range(half):
        ties += room[at] == last
    return last, ties


@compiled
def last_of_many(codes: Array, axis: int, rows: Array, begin: int, end: int, half: int, room: Array) -> tuple[int, int]:
    """Find the last code of the lower half of a long run along an axis, and how many records have it there."""
    most = 0
    for i in range(begin, end):
        most = max(most, codes[rows[i], axis])
    for code in range(most + 1):
        room[code] = 0
    for i in range(begin, end):
        room[codes[rows[i], axis]] += 1
    last, ties = 0, half
    while ties > room[last]:
        ties -= room[last]
        last += 1
    return last, ties


@compiled
def cut_run(codes: Array, axis: int, rows: Array, begin: int, end: int, half: int, room: Array, upper: Array) -> None:
    """Mark all but the first records of a run, sorted along an axis; equal ones stay in their order."""
    if end - begin <= half:
        upper[begin:end] = 0
        return
    if end - begin <= FEW:
        last, ties = last_of_few(codes, axis, rows, begin, end, half, room)
    else:
        last, ties = last_of_many(codes, axis, rows, begin, end, half, room)
    for i in range(begin, end):
        code = codes[rows[i], axis]
        upper[i] = code > last or (code == last and ties == 0)
        ties -= code == last and ties > 0


@compiled
def sum_widths(codes: Array, positions: Array, places: Array, rows: Array, begin: int, end: int, upper: Array) -> float:
    """Sum the widths of both sides of a part over all axes."""
    total = 0.0
    for side in range(2):
        width = 0.0
        for axis in range(codes.shape[1]):
            low, high = -1, -1
            for i in range(begin, end):
                if upper[i] == side:
                    code = codes[rows[i], axis]
                    if low < 0 or code < low:
                        low = code
                    high = max(high, code)
            if low >= 0:
                width += positions[places[axis] + high] - positions[places[axis] + low]
        total += width
    return total


@compiled
def part_rows(rows: Array, bounds: Array, lower: Array, higher: Array, runs: int, upper: Array, spare: Array) -> None:
    """Put the lower half of a part before the upper one, each by runs; write where these begin."""
    place, begin = bounds[0], bounds[0]
    for side in range(2):
        mine = higher if side else lower
        for run in range(runs):
            mine[run] = place
            for i in range(bounds[run], bounds[run + 1]):
                if upper[i] == side:
                    spare[place] = rows[i]
                    place += 1
        mine[runs] = place
    for i in range(begin, place):
        rows[i] = spare[i]


@compiled
def halve_part(
    codes: Array, positions: Array, places: Array, rows: Array, stack: Array, sizes: Array, firsts: Array, runs: int,
    room: tuple[Array, ...], leaf: Array,
) -> None:  # fmt: skip
    """Halve a part until every record is alone with its value; `stack[0]`, `sizes[0]` and `firsts[0]` are its own.

    `stack` has a row for each depth and one more, for where the runs of a part begin, and where the last ends.
    """
    counts, upper, best, spare, above = room
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
        for axis in range(codes.shape[1]):
            for run in range(runs):
                cut_run(codes, axis, rows, bounds[run], bounds[run + 1], half, counts, upper)
            width = sum_widths(codes, positions, places, rows, begin, end, upper)
            if least < 0 or width < least:
                least = width
                for i in range(begin, end):
                    best[i] = upper[i]
        part_rows(rows, bounds, stack[depth + 1], above, runs, best, spare)
        for run in range(runs + 1):
            bounds[run] = above[run]
        sizes[depth], firsts[depth] = size - half, first + half
        sizes[depth + 1], firsts[depth + 1] = half, first
        depth += 2
