"""Compiled search for persons who have all of a few known points."""

from __future__ import annotations

from sfumato.coding.kernels.compiling import Array, compiled


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
