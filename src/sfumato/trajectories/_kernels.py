"""Compiled edit distances of sequences of points in space and time, with a tolerance in both."""

from __future__ import annotations

from math import log

import numpy as np

from sfumato.core._kernels.compilation import Array, Number, compiled

# Compiled alignment of two sequences in order, as texts are aligned: match two entries, or leave one out.

MATCH, FIRST, SECOND = 0, 1, 2


@compiled
def align_sequences(first: Array, second: Array, left_out: float, low: Array, high: Array) -> Array:
    """Return the cheapest alignment of two sequences of boxes within a band, as pairs of places that match.

    A box has pairs of ends along three axes. Matching two costs the logarithms by which the sides of the first box
    grow, each side and 1 more; leaving an entry of either out costs `points_to_suppress`. Of equal costs, matching is
    preferred.

    Parameters
    ----------
    first, second : the boxes of both, a row of six ends each.
    left_out : the cost of an entry that is left out.
    low, high : for every number of entries of the first sequence that are done, from none to all, the least and the
        largest number of the second; neither decreases, and both ends of the alignment are inside.
    """
    offset = np.zeros(len(first) + 2, dtype=np.int64)
    offset[1:] = np.cumsum(high - low + 1)
    step = np.full(offset[-1], SECOND, dtype=np.int8)
    before, now = np.full(len(second) + 1, np.inf), np.full(len(second) + 1, np.inf)
    now[: high[0] + 1] = left_out * np.arange(high[0] + 1)
    for i in range(1, len(first) + 1):
        before, now = now, before
        if low[i - 1] > 0:
            before[low[i - 1] - 1] = np.inf  # of an older row
        if low[i] > 0:
            now[low[i] - 1] = np.inf
        for j in range(low[i], high[i] + 1):
            least, taken = before[j] + left_out, FIRST
            if j > 0 and before[j - 1] < np.inf:
                matched = before[j - 1] + _growth(first[i - 1], second[j - 1])
                if matched <= least:
                    least, taken = matched, MATCH
            if j > 0 and now[j - 1] + left_out < least:
                least, taken = now[j - 1] + left_out, SECOND
            now[j], step[offset[i] + j - low[i]] = least, taken
    return _traced(step, offset, low, len(second))


@compiled
def _growth(first: Array, second: Array) -> float:
    """Return the logarithms by which the sides of a box grow around another one."""
    grown, own = 1.0, 1.0
    for axis in range(0, 6, 2):
        grown *= 1.0 + max(first[axis + 1], second[axis + 1]) - min(first[axis], second[axis])
        own *= 1.0 + first[axis + 1] - first[axis]
    return log(grown / own)


@compiled
def _traced(step: Array, offset: Array, low: Array, columns: int) -> Array:
    """Return the pairs of places that match on the way back from the end."""
    i, j, count = len(low) - 1, columns, 0
    pairs = np.empty((min(i, j), 2), dtype=np.int64)
    while i > 0 and j > 0:
        taken = step[offset[i] + j - low[i]]
        i -= taken != SECOND
        j -= taken != FIRST
        if taken == MATCH:
            pairs[count, 0], pairs[count, 1] = i, j
            count += 1
    return pairs[:count][::-1]


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


# Compiled search for stays: runs of points near their first one.


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


# Compiled enumeration of the ordered selections of places from ways.


@compiled
def count_extensions(places: Array, way: Array, end: Array, stops: Array, seen: Array) -> int:
    """Count the different places that come after every selection, each selection ending at a point of its way."""
    total = 0
    for number in range(len(end)):
        for at in range(end[number] + 1, stops[way[number]]):
            if seen[places[at]] != number:
                seen[places[at]] = number
                total += 1
    return total


@compiled
def extend_subsequences(
    places: Array, way: Array, end: Array, stops: Array, seen: Array, parent: Array, place: Array, last: Array
) -> None:
    """Lengthen every selection by each place that comes after it, at its first occurrence."""
    total = 0
    for number in range(len(end)):
        for at in range(end[number] + 1, stops[way[number]]):
            if seen[places[at]] != number:
                seen[places[at]] = number
                parent[total] = number
                place[total] = places[at]
                last[total] = at
                total += 1


# Compiled search for persons who have all of a few known points.


@compiled
def _contains(points: Array, begin: int, end: int, point: int) -> bool:
    """Say whether a sorted run of points contains one."""
    while begin < end:
        middle = (begin + end) // 2
        if points[middle] < point:
            begin = middle + 1
        elif points[middle] > point:
            end = middle
        else:
            return True
    return False


@compiled
def _is_unique(person: int, known: Array, points: Array, starts: Array, holders: Array, holder_starts: Array) -> bool:
    """Say whether nobody else has all known points: whoever has the rarest one is asked for the others."""
    rarest = known[0]
    for each in known[1:]:
        if holder_starts[each + 1] - holder_starts[each] < holder_starts[rarest + 1] - holder_starts[rarest]:
            rarest = each
    for at in range(holder_starts[rarest], holder_starts[rarest + 1]):
        other = holders[at]
        if other == person:
            continue
        everything = True
        for each in known:
            if each != rarest and not _contains(points, starts[other], starts[other + 1], each):
                everything = False
                break
        if everything:
            return False
    return True


@compiled
def _next_combination(places: Array, length: int) -> bool:
    """Go to the next set of rising places below a length, in place; say whether there was one."""
    size = len(places)
    at = size - 1
    while at >= 0 and places[at] == length - size + at:
        at -= 1
    if at < 0:
        return False
    places[at] += 1
    for later in range(at + 1, size):
        places[later] = places[later - 1] + 1
    return True


@compiled
def _draw_combination(places: Array, length: int, drawn: Array) -> None:
    """Draw different places below a length, by Floyd's method, from numbers in [0, 1)."""
    size = len(places)
    for number in range(size):
        last = length - size + number
        place = int(drawn[number] * (last + 1))
        for earlier in range(number):
            if places[earlier] == place:
                place = last
                break
        places[number] = place


@compiled
def count_unique(
    points: Array,
    starts: Array,
    holders: Array,
    holder_starts: Array,
    size: int,
    sets: Array,
    drawn: Array,
    first: int,
    alone: Array,
) -> None:
    """Count for every person how many of her sets of known points nobody else has.

    `points` are the different points of every person, sorted, from `starts` on; `holders` the persons of every point.
    Persons from `first` on are asked as many sets of `size` points as `sets` says, or of all that they have: all
    different sets, or where that number is negative random ones from the numbers in `drawn`.
    """
    for number_of_person in range(len(sets)):
        person = first + number_of_person
        begin, length = starts[person], starts[person + 1] - starts[person]
        places = points[: min(size, length)].copy()
        for number in range(len(places)):
            places[number] = number
        asked = sets[number_of_person]
        for number in range(abs(asked)):
            if asked < 0:
                _draw_combination(places, length, drawn[number_of_person, number])
            known = points[begin + places]
            if _is_unique(person, known, points, starts, holders, holder_starts):
                alone[number_of_person] += 1
            if asked > 0:
                _next_combination(places, length)


# The key stream of ChaCha20, many blocks side by side.

LANES = 16  # blocks side by side, as many as registers hold
WORDS = 16  # of 32 bits, in a block
DOUBLE_ROUNDS = 10


@compiled
def _quarter_round(state: Array, a: Number, b: Number, c: Number, d: Number) -> None:
    """Mix four words of every block: a quarter of a round."""
    for lane in range(LANES):
        state[a, lane] += state[b, lane]
        mixed = state[d, lane] ^ state[a, lane]
        state[d, lane] = (mixed << np.uint32(16)) | (mixed >> np.uint32(16))
        state[c, lane] += state[d, lane]
        mixed = state[b, lane] ^ state[c, lane]
        state[b, lane] = (mixed << np.uint32(12)) | (mixed >> np.uint32(20))
        state[a, lane] += state[b, lane]
        mixed = state[d, lane] ^ state[a, lane]
        state[d, lane] = (mixed << np.uint32(8)) | (mixed >> np.uint32(24))
        state[c, lane] += state[d, lane]
        mixed = state[b, lane] ^ state[c, lane]
        state[b, lane] = (mixed << np.uint32(7)) | (mixed >> np.uint32(25))


@compiled
def fill_keystream(start: Array, stream: Array) -> None:
    """Fill an array of 32-bit words, a multiple of 256 of them, with the blocks that follow a first state."""
    state = np.empty((WORDS, LANES), dtype=np.uint32)
    for first in range(0, len(stream) // WORDS, LANES):
        for word in range(WORDS):
            for lane in range(LANES):
                state[word, lane] = start[word]
        for lane in range(LANES):
            state[12, lane] += np.uint32(first + lane)
        for _ in range(DOUBLE_ROUNDS):
            _quarter_round(state, 0, 4, 8, 12)
            _quarter_round(state, 1, 5, 9, 13)
            _quarter_round(state, 2, 6, 10, 14)
            _quarter_round(state, 3, 7, 11, 15)
            _quarter_round(state, 0, 5, 10, 15)
            _quarter_round(state, 1, 6, 11, 12)
            _quarter_round(state, 2, 7, 8, 13)
            _quarter_round(state, 3, 4, 9, 14)
        for word in range(WORDS):
            for lane in range(LANES):
                added = start[word] + np.uint32(first + lane) if word == 12 else start[word]  # noqa: PLR2004 - the counter
                stream[(first + lane) * WORDS + word] = state[word, lane] + added
