"""Compiled search for stays: runs of points near their first one."""

from __future__ import annotations

from sfumato.coding.kernels.compiling import Array, compiled


@compiled
def mark_stay_points(
    x: Array, y: Array, times: Array, offsets: Array, radius: float, duration: int, first: Array, last: Array
) -> int:
    """Note the first and last point of every stay, and return how many there are."""
    count = 0
    for way in range(len(offsets) - 1):
        at, stop = offsets[way], offsets[way + 1]
        while at < stop:
            end = at
            while end + 1 < stop and (x[end + 1] - x[at]) ** 2 + (y[end + 1] - y[at]) ** 2 <= radius * radius:
                end += 1
            if end > at and times[end] - times[at] >= duration:
                first[count], last[count] = at, end
                count += 1
                at = end + 1
            else:
                at += 1
    return count
