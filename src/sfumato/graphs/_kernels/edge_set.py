"""A set of edges in one array, for loops that add and remove edges: a key each, found by probing."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, Number, compiled

FREE, GONE = -1, -2


@compiled
def edge_key(one: Number, other: Number, persons: int) -> Number:
    """Return the key of an edge, whichever end is named first."""
    return one * persons + other if one < other else other * persons + one


@compiled
def _probe_start(table: Array, key: int) -> Number:
    """Return where the search for a key begins."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed >> np.uint64(20)) % np.uint64(len(table)))


@compiled
def contains(table: Array, key: int) -> bool:
    """Return whether a key is in the set."""
    place = _probe_start(table, key)
    while table[place] != FREE:
        if table[place] == key:
            return True
        place = place + 1 if place + 1 < len(table) else 0
    return False


@compiled
def insert(table: Array, key: int) -> None:
    """Add a key that is not in the set; half of the places must stay free."""
    place = _probe_start(table, key)
    while table[place] >= 0:
        place = place + 1 if place + 1 < len(table) else 0
    table[place] = key


@compiled
def discard(table: Array, key: int) -> None:
    """Remove a key that is in the set."""
    place = _probe_start(table, key)
    while table[place] != key:
        place = place + 1 if place + 1 < len(table) else 0
    table[place] = GONE


@compiled
def build_edge_set(edges: Array, persons: int, room: int) -> Array:
    """Make a set of edges with room for more."""
    table = np.full(3 * (len(edges) + room) + 16, FREE, dtype=np.int64)
    for place in range(len(edges)):
        insert(table, edge_key(edges[place, 0], edges[place, 1], persons))
    return table


@compiled
def list_edges(table: Array, persons: int) -> Array:
    """Return the edges of a set, in no order."""
    count = 0
    for key in table:
        count += key >= 0
    found = np.empty((count, 2), dtype=np.int32)
    at = 0
    for key in table:
        if key >= 0:
            found[at, 0], found[at, 1] = key // persons, key % persons
            at += 1
    return found
