"""Compiled counting of combinations by keys: a key is the sum of what the code of every pack adds to it."""

from __future__ import annotations

from sfumato.coding.kernels.compiling import Array, compiled


@compiled
def add_to_keys(codes: Array, addends: Array, keys: Array) -> None:
    """Add to every key what the code at its place adds."""
    for i in range(len(keys)):
        keys[i] += addends[codes[i]]


@compiled
def add_weights(keys: Array, weights: Array, cells: Array) -> None:
    """Add the weight of every key to its cell."""
    for i in range(len(keys)):
        cells[keys[i]] += weights[i]


@compiled
def record_positions(keys: Array, start: int, places: Array) -> None:
    """Note for the cell of every key its place, counted from `start`; the last one stays."""
    for i in range(len(keys)):
        places[keys[i]] = start + i
