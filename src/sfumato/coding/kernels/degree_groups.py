"""The cheapest groups of a sorted sequence of degrees, by dynamic programming."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled

NEVER = 1 << 60


@compiled
def raise_degrees(degrees: Array, k: int) -> tuple[Array, int, int]:
    """Raise descending degrees so that every one occurs k times and their sum grows by an even number.

    Every group of k to 2k - 1 rises to its first degree or to one more. Also returns the least sum of raises, and the
    least one if it may be odd. The sums are `NEVER` if no degree below the number of persons will do.
    """
    count = len(degrees)
    sums = np.zeros(count + 1, dtype=np.int64)
    for place in range(count):
        sums[place + 1] = sums[place] + degrees[place]
    cost = np.full((count + 1, 2), NEVER, dtype=np.int64)
    back = np.zeros((count + 1, 2, 3), dtype=np.int64)
    cost[0, 0] = 0
    for end in range(k, count + 1):
        for start in range(max(0, end - 2 * k + 1), end - k + 1):
            for more in range(2):
                if degrees[start] + more >= count:
                    continue
                own = (end - start) * (degrees[start] + more) - (sums[end] - sums[start])
                for odd in range(2):
                    if cost[start, odd] < NEVER and cost[start, odd] + own < cost[end, (odd + own) % 2]:
                        cost[end, (odd + own) % 2] = cost[start, odd] + own
                        back[end, (odd + own) % 2, 0] = start
                        back[end, (odd + own) % 2, 1] = odd
                        back[end, (odd + own) % 2, 2] = more
    target = degrees.copy()
    end, odd = count, 0
    while end > 0 and cost[count, 0] < NEVER:
        start, before, more = back[end, odd]
        target[start:end] = degrees[start] + more
        end, odd = start, before
    return target, cost[count, 0], min(cost[count, 0], cost[count, 1])


@compiled
def level_degrees(degrees: Array, k: int) -> tuple[Array, int]:
    """Move descending degrees to the medians of groups of k to 2k - 1, with the least sum of changes.

    If the sum of all degrees is odd then, the group of odd size that is cheapest to move moves by one.
    """
    count = len(degrees)
    sums = np.zeros(count + 1, dtype=np.int64)
    for place in range(count):
        sums[place + 1] = sums[place] + degrees[place]
    cost, back = np.full(count + 1, NEVER, dtype=np.int64), np.zeros(count + 1, dtype=np.int64)
    cost[0] = 0
    for end in range(k, count + 1):
        for start in range(max(0, end - 2 * k + 1), end - k + 1):
            middle = start + (end - start) // 2
            above = sums[middle] - sums[start] - (middle - start) * degrees[middle]
            below = (end - middle) * degrees[middle] - (sums[end] - sums[middle])
            if cost[start] + above + below < cost[end]:
                cost[end], back[end] = cost[start] + above + below, start
    target, end = degrees.copy(), count
    while end > 0:
        start = back[end]
        target[start:end] = degrees[start + (end - start) // 2]
        end = start
    if target.sum() % 2:
        _shift_one(degrees, target, back)
    return target, cost[count]


@compiled
def _shift_one(degrees: Array, target: Array, back: Array) -> None:
    """Move the group of odd size by one whose changes grow least."""
    count = len(degrees)
    least, first, last, way, end = NEVER, 0, 0, 0, count
    while end > 0:
        start = back[end]
        for step in (-1, 1):
            value = target[start] + step
            if (end - start) % 2 and 0 <= value < count:
                more = 0
                for place in range(start, end):
                    more += abs(degrees[place] - value) - abs(degrees[place] - target[start])
                if more < least:
                    least, first, last, way = more, start, end, step
        end = start
    target[first:last] += way


@compiled
def degree_deficit(raises: Array) -> int:
    """Return how much descending raises exceed what the other persons can take, at the worst place."""
    count, worst, head = len(raises), 0, 0
    tail = raises.sum()
    for top in range(1, count + 1):
        if raises[top - 1] == 0:
            break
        head += raises[top - 1]
        tail -= raises[top - 1]
        taken, place = tail, top
        while place < count and raises[place] > top:  # what is above `top` counts as `top`
            taken -= raises[place] - top
            place += 1
        worst = max(worst, head - top * (top - 1) - taken)
    return worst
