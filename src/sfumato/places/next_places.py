"""Where ways go next: what published ways teach, tested on the original."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def transitions(place: Integers, offsets: Integers) -> tuple[Integers, Integers]:
    """Return the places from which and to which ways go, wherever two that follow each other differ."""
    inner = np.ones(max(len(place) - 1, 0), dtype=np.bool_)
    inner[offsets[1:-1] - 1] = False
    moved = np.flatnonzero(inner & (np.diff(place) != 0))
    return place[moved], place[moved + 1]


def most_frequent_successor(place: Integers, offsets: Integers, places: int, weight: Integers) -> Integers:
    """Return for every place the one that ways most often go to next; where none goes on, the most visited one.

    Parameters
    ----------
    place, offsets : the places of all steps, and where ways begin.
    places : how many places there are.
    weight : how many times every way is there.
    """
    many = np.repeat(weight, np.diff(offsets))
    start, end = transitions(np.arange(len(place)), offsets)
    differ = place[start] != place[end]
    start, end = start[differ], end[differ]
    visits = np.bincount(place, weights=many, minlength=places)
    found = np.full(places, int(visits.argmax()), dtype=np.int64)
    keys, number = np.unique(place[start] * places + place[end], return_inverse=True)
    counts = np.bincount(number.ravel(), weights=many[start], minlength=len(keys))
    order = np.lexsort((-keys, counts))  # the last of a place is the most frequent, and of equal ones the first
    found[keys[order] // places] = keys[order] % places
    return found
