"""Compiled sorting of keys by their digits, from the last to the first."""

from __future__ import annotations

from sfumato.coding.kernels.compiling import Array, compiled

DIGIT = 11  # bits
DIGITS = 1 << DIGIT


@compiled
def radix_sort_pass(
    keys: Array, rows: Array, shift: int, places: Array, sorted_keys: Array, sorted_rows: Array
) -> None:
    """Sort keys with their rows by the digit that begins at some bit; equal digits keep their order."""
    last = DIGITS - 1
    for digit in range(DIGITS):
        places[digit] = 0
    for i in range(len(keys)):
        places[(keys[i] >> shift) & last] += 1
    before = 0
    for digit in range(DIGITS):
        count = places[digit]
        places[digit] = before
        before += count
    for i in range(len(keys)):
        key = keys[i]
        digit = (key >> shift) & last
        place = places[digit]
        places[digit] = place + 1
        sorted_keys[place] = key
        sorted_rows[place] = rows[i]
