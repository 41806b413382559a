"""Compiled halving of parts of records, whose values are all cut at the same count.

Records are sorted along every axis once; halves keep that order, so that no part is sorted again. A *run* is a stretch
of records of one value; the runs of a part stand one after another, at the same places along all axes.
"""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, compiled

MAX_CODE = 2**31 - 1
PAIR = 2  # records of a run whose halves are leaves
FEW = 8  # records of the lower half of a run, up to which all are looked at


@compiled
def sort_runs(codes: Array, run: Array, starts: Array, axis: int, width: int, spare: Array, sorted_: Array) -> None:
    """Sort the records of every run along an axis, whose codes are below `width`; equal ones stay in their order."""
    mine, places = codes[axis], np.zeros(width + 1, dtype=np.int64)
    for i in range(len(mine)):
        places[mine[i] + 1] += 1
    for code in range(width):
        places[code + 1] += places[code]
    for i in range(len(mine)):
        code = mine[i]
        spare[places[code]] = i
        places[code] += 1
    places = starts.copy()
    for i in range(len(mine)):
        at = run[spare[i]]
        sorted_[axis, places[at]] = spare[i]
        places[at] += 1


@compiled
def measure_extent(mine: Array, positions: Array, place: int, picked: Array, begin: int, end: int) -> float:
    """Return how wide records lie along an axis, which begins at `place`."""
    if begin == end:
        return 0.0
    low = mine[picked[begin]]
    high = low
    for i in range(begin + 1, end):
        code = mine[picked[i]]
        low, high = min(low, code), max(high, code)
    return float(positions[place + high] - positions[place + low])


@compiled
def partition_runs(listed: Array, bounds: Array, runs: int, half: int, picked: Array) -> int:
    """Put the first records of all runs before the others; return how many they are."""
    below = 0
    for run in range(runs):
        begin = bounds[run]
        for i in range(begin, min(begin + half, bounds[run + 1])):
            picked[below] = listed[i]
            below += 1
    above = below
    for run in range(runs):
        for i in range(bounds[run] + half, bounds[run + 1]):
            picked[above] = listed[i]
            above += 1
    return below


@compiled
def measure_halves(
    mine: Array, listed: Array, bounds: Array, runs: int, half: int, upper: Array, spans: Array
) -> None:  # fmt: skip
    """Find the first and the last code of both halves: along a sorted run both are soon met from either end.

    `upper` marks who is in the upper half; `spans` gets both codes of the lower half, then those of the upper one.
    """
    none = np.int32(MAX_CODE)
    spans[0], spans[1], spans[2], spans[3] = none, -1, none, -1
    for run in range(runs):
        begin, end = bounds[run], bounds[run + 1]
        both = end - begin > half
        if begin == end:
            continue
        side, i = upper[listed[begin]], begin
        spans[2 * side] = min(spans[2 * side], mine[listed[begin]])
        if both:
            while upper[listed[i]] == side:
                i += 1
            spans[2 - 2 * side] = min(spans[2 - 2 * side], mine[listed[i]])
        side, i = upper[listed[end - 1]], end - 1
        spans[2 * side + 1] = max(spans[2 * side + 1], mine[listed[end - 1]])
        if both:
            while upper[listed[i]] == side:
                i -= 1
            spans[3 - 2 * side] = max(spans[3 - 2 * side], mine[listed[i]])


@compiled
def mark_upper_half(listed: Array, bounds: Array, runs: int, half: int, upper: Array) -> None:
    """Mark all but the first records of every run."""
    for run in range(runs):
        begin, end = bounds[run], bounds[run + 1]
        middle = min(begin + half, end)
        for i in range(begin, middle):
            upper[listed[i]] = 0
        for i in range(middle, end):
            upper[listed[i]] = 1


@compiled
def narrowest_axis(
    codes: Array, positions: Array, places: Array, sorted_: Array, bounds: Array, runs: int, half: int,
    room: tuple[Array, ...],
) -> int:  # fmt: skip
    """Find the axis to cut along, so that the widths of both halves over all axes have the smallest sum.

    No width is below 0, so that an axis is left as soon as its sum is not below the smallest.
    """
    upper, picked, _, spans = room
    best, least, size = 0, np.inf, bounds[runs] - bounds[0]
    for cut in range(len(codes)):
        below, above, middle = 0.0, 0.0, 0
        if half > FEW:
            mark_upper_half(sorted_[cut], bounds, runs, half, upper)
        else:
            middle = partition_runs(sorted_[cut], bounds, runs, half, picked)
        for axis in range(len(codes)):
            place = places[axis]
            if half > FEW:
                measure_halves(codes[axis], sorted_[axis], bounds, runs, half, upper, spans)
                if spans[1] >= 0:
                    below += positions[place + spans[1]] - positions[place + spans[0]]
                if spans[3] >= 0:
                    above += positions[place + spans[3]] - positions[place + spans[2]]
            else:
                below += measure_extent(codes[axis], positions, place, picked, 0, middle)
                above += measure_extent(codes[axis], positions, place, picked, middle, size)
            if below + above >= least:
                break
        if below + above < least:
            best, least = cut, below + above
    return best


@compiled
def partition_lists(
    sorted_: Array, bounds: Array, halves: tuple[Array, Array], runs: int, upper: Array, spare: Array
) -> None:  # fmt: skip
    """Put the lower half of a part before the upper one, each by runs; write into `halves` where these begin."""
    begin, end = bounds[0], bounds[runs]
    lower = begin
    for run in range(runs):
        for i in range(bounds[run], bounds[run + 1]):
            lower += 1 - upper[sorted_[0, i]]
    for axis in range(len(sorted_)):
        mine, below, above = sorted_[axis], begin, lower
        for run in range(runs):
            halves[0][run], halves[1][run] = below, above
            for i in range(bounds[run], bounds[run + 1]):
                record = mine[i]
                side = upper[record]
                spare[above if side else below] = record
                above += side
                below += 1 - side
        for i in range(begin, end):
            mine[i] = spare[i]
    halves[0][runs], halves[1][runs] = lower, end


@compiled
def bisect_part(
    codes: Array, positions: Array, places: Array, sorted_: Array, stack: Array, sizes: Array, firsts: Array, runs: int,
    room: tuple[Array, ...], leaf: Array,
) -> None:  # fmt: skip
    """Halve a part until every record is alone with its value; `stack[0]`, `sizes[0]` and `firsts[0]` are its own.

    `stack` has a row for each depth and one more, for where the runs of a part begin, and where the last ends.
    """
    upper, spare, above, _ = room
    depth = 1
    while depth > 0:
        depth -= 1
        bounds, size, first = stack[depth], sizes[depth], firsts[depth]
        if size == 1:
            for i in range(bounds[0], bounds[runs]):
                leaf[sorted_[0, i]] = first
            continue
        half = size // 2
        best = narrowest_axis(codes, positions, places, sorted_, bounds, runs, half, room)
        if size == PAIR:
            for run in range(runs):
                for i in range(bounds[run], bounds[run + 1]):
                    leaf[sorted_[best, i]] = first + i - bounds[run]
            continue
        mark_upper_half(sorted_[best], bounds, runs, half, upper)
        partition_lists(sorted_, bounds, (stack[depth + 1], above), runs, upper, spare)
        for run in range(runs + 1):
            bounds[run] = above[run]
        sizes[depth], firsts[depth] = size - half, first + half
        sizes[depth + 1], firsts[depth + 1] = half, first
        depth += 2


@compiled
def bisect_parts(
    codes: Array, positions: Array, places: Array, run: Array, starts: Array, of_part: Array, size: Array, most: int,
    depths: int, leaf: Array,
) -> None:  # fmt: skip
    """Halve all parts, of `most` runs at most; run `i` begins at `starts[i]`, part `i` with run `of_part[i]`."""
    rows = codes.shape[1]
    sorted_, spare = np.empty(codes.shape, dtype=np.uint32), np.empty(rows, dtype=np.uint32)
    for axis in range(len(codes)):
        sort_runs(codes, run, starts, axis, codes[axis].max() + 1, spare, sorted_)
    stack, sizes = np.zeros((depths, most + 1), dtype=np.int64), np.zeros(depths, dtype=np.int64)
    firsts, spans = np.zeros(depths, dtype=np.int64), np.zeros(4, dtype=np.int32)
    room = np.zeros(rows, dtype=np.int8), spare, np.zeros(most + 1, dtype=np.int64), spans
    for part in range(len(size)):
        first, last = of_part[part], of_part[part + 1]
        if first < last:
            stack[0, : last - first + 1] = starts[first : last + 1]
            sizes[0], firsts[0] = size[part], 0
            bisect_part(codes, positions, places, sorted_, stack, sizes, firsts, last - first, room, leaf)
