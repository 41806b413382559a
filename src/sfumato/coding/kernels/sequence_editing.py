"""Compiled edit distances of sequences of points in space and time, with a tolerance in both."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, Number, compiled

MATCH, FIRST, SECOND = 0, 1, 2


@compiled
def edit_distances(points: Array, times: Array, offsets: Array, pivot: int, meters: float, window: int) -> Array:
    """Return the share of points that are created or deleted to turn every way into one of them, the pivot.

    A point of either that matches none costs one. Two that match, less than `meters` and at most `window` microseconds
    apart, cost twice the share of `meters` between them. Only points within the window of each other are looked at.
    """
    found = np.empty(len(offsets) - 1)
    begin, end = offsets[pivot], offsets[pivot + 1]
    best = np.empty(end - begin + 1)
    for way in range(len(found)):
        start, stop = offsets[way], offsets[way + 1]
        saved = _max_saving(points, times, start, stop, begin, end, meters, window, best)
        found[way] = 1.0 - 2.0 * saved / (stop - start + end - begin)
    return found


@compiled
def _max_saving(
    points: Array,
    times: Array,
    start: Number,
    stop: Number,
    begin: Number,
    end: Number,
    meters: float,
    window: int,
    best: Array,
) -> float:
    """Return what matching two ways in order saves at most; best[j] is for the first j points of the second one."""
    best[0] = 0.0
    low, filled = 0, 0
    for i in range(start, stop):
        while begin + low < end and times[begin + low] < times[i] - window:
            low += 1
        high = max(low, filled)
        while begin + high < end and times[begin + high] <= times[i] + window:
            high += 1
        for j in range(filled + 1, high + 1):
            best[j] = best[filled]
        filled = high
        diagonal = best[low]
        for j in range(low + 1, high + 1):
            above = best[j]
            matched = diagonal + match_saving(points, times, i, begin + j - 1, meters, window)
            best[j] = max(above, best[j - 1], matched)
            diagonal = above
    return float(best[filled])


@compiled
def match_saving(points: Array, times: Array, first: Number, second: Number, meters: float, window: int) -> float:
    """Return what it saves to match two points: 1 at the same place, 0 where they are too far apart."""
    if abs(times[first] - times[second]) > window:
        return 0.0
    apart = np.hypot(points[first, 0] - points[second, 0], points[first, 1] - points[second, 1])
    return float(max(0.0, 1.0 - apart / meters))


@compiled
def match_points(points: Array, times: Array, way: Array, pivot: Array, meters: float, window: int) -> Array:
    """Return the point of a way that matches every point of a pivot, or -1 where one must be created.

    A way and a pivot are the first of their points and the one after their last. Of equal savings, matching is
    preferred.
    """
    start, begin = way[0], pivot[0]
    rows, columns = way[1] - start, pivot[1] - begin
    best = np.zeros(columns + 1)
    step = np.zeros((rows + 1, columns + 1), dtype=np.int8)
    for i in range(1, rows + 1):
        diagonal = best[0]
        for j in range(1, columns + 1):
            above, before = best[j], best[j - 1]
            saved = match_saving(points, times, start + i - 1, begin + j - 1, meters, window)
            if saved > 0.0 and diagonal + saved >= max(above, before):
                best[j], step[i, j] = diagonal + saved, MATCH
            elif above >= before:
                best[j], step[i, j] = above, FIRST
            else:
                best[j], step[i, j] = before, SECOND
            diagonal = above
    found = np.full(columns, -1, dtype=np.int64)
    i, j = rows, columns
    while i > 0 and j > 0:
        if step[i, j] == MATCH:
            i, j = i - 1, j - 1
            found[j] = start + i
        elif step[i, j] == FIRST:
            i -= 1
        else:
            j -= 1
    return found
