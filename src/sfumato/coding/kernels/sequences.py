"""Compiled enumeration of the ordered selections of places from ways."""

from __future__ import annotations

from sfumato.coding.kernels.compiling import Array, compiled


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
