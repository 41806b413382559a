"""Compiled order of records inside sets so that neighbors are close; the twin of `buckets.cross_groups`."""

from __future__ import annotations

import numba as nb
import numpy as np

from sfumato.coding.kernels.compiling import Array, Arrays, compiled
from sfumato.coding.kernels.cutting import order_cuts_by_width

RUN = 16  # records sorted by insertion
DEPTH = 64


@compiled
def group_start(start: int, size: int, groups: int, group: int) -> int:
    """Find where a group of a set begins; sizes of groups differ by at most one."""
    return start + group * (size // groups) + min(group, size % groups)


@compiled
def find_ranges(codes: Array, order: Array, leaves: Array, ranges: Arrays) -> None:
    """Find the smallest and largest code of some records on every axis."""
    low, high, missing = ranges
    for j in range(codes.shape[0]):
        column = codes[j]
        least, greatest, lost = leaves[j], -1, False
        for row in order:
            code = nb.int64(column[row])
            if code == leaves[j]:
                lost = True
            else:
                least = min(least, code)
                greatest = max(greatest, code)
        low[j], high[j], missing[j] = least, greatest, lost


@compiled
def sort_rows(column: Array, order: Array, room: Array) -> None:
    """Sort records by their codes, equal ones as they came: short runs by insertion, then runs by merging."""
    count = len(order)
    for start in range(0, count, RUN):
        for place in range(start + 1, min(start + RUN, count)):
            row, at = order[place], place
            while at > start and column[order[at - 1]] > column[row]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = row
    length = RUN
    while length < count:
        for start in range(0, count - length, 2 * length):
            middle, stop = start + length, min(start + 2 * length, count)
            room[start:middle] = order[start:middle]
            a, b = start, middle
            for place in range(start, stop):
                if a == middle:
                    break
                if b == stop or column[room[a]] <= column[order[b]]:
                    order[place] = room[a]
                    a += 1
                else:
                    order[place] = order[b]
                    b += 1
        length *= 2


@compiled
def order_sets(
    codes: Array, axes: Arrays, sets: tuple[Array, Array, Array], first: int, last: int, order: Array, room: Array
) -> None:
    """Order the records of the sets first..last by recursive cuts at the widest attribute until each is one group."""
    starts, sizes, groups = sets
    leaves, count = axes[0], codes.shape[0]
    low, high = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    missing = np.empty(count, dtype=np.bool_)
    width, ways = np.empty(2 * count), np.empty(2 * count, dtype=np.int64)
    stack = np.empty((DEPTH, 2), dtype=np.int64)
    for of_set in range(first, last):
        start, size, whole = starts[of_set], sizes[of_set], groups[of_set]
        stack[0] = 0, whole
        depth = 1
        while depth > 0:
            depth -= 1
            begin, end = stack[depth]
            if end - begin <= 1:
                continue
            here = slice(group_start(start, size, whole, begin), group_start(start, size, whole, end))
            find_ranges(codes, order[here], leaves, (low, high, missing))
            order_cuts_by_width(low, high, missing, axes, width, ways)
            sort_rows(codes[ways[0] % count], order[here], room[here])
            middle = (begin + end) // 2
            stack[depth] = middle, end
            stack[depth + 1] = begin, middle
            depth += 2
