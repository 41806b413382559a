"""Compiled grouping of 64-bit keys: scatter by hash into parts, then one open-addressing table per part."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, compiled
from sfumato.core._kernels.grouping import MIX, PART_BITS, PART_SHIFT


@compiled
def count_partitions(keys: Array, start: int, stop: int, counts: Array) -> None:
    """Count the keys of one piece that fall into each of 256 parts."""
    for i in range(start, stop):
        counts[(np.uint64(keys[i]) * MIX) >> PART_SHIFT] += 1


@compiled
def scatter(keys: Array, start: int, stop: int, places: Array, part_keys: Array, part_rows: Array) -> None:
    """Move the keys of one piece, with their row numbers, to the places of their parts."""
    for i in range(start, stop):
        key = keys[i]
        part = (np.uint64(key) * MIX) >> PART_SHIFT
        place = places[part]
        part_keys[place] = key
        part_rows[place] = i
        places[part] = place + 1


@compiled
def group_partitions(
    part_keys: Array, part_rows: Array, bounds: Array, first: int, last: int, labels: Array, found: Array, counts: Array
) -> Array:
    """Group the parts first..last; number the groups of each part from its own start in `found`.

    Returns the number of groups of every part. Labels are written as (start of the part + number).
    """
    largest = 0
    for part in range(first, last):
        largest = max(largest, bounds[part + 1] - bounds[part])
    slots = 16
    while slots < 2 * largest:
        slots *= 2
    table = np.empty(slots, dtype=np.int32)
    sizes = np.zeros(last - first, dtype=np.int64)
    for part in range(first, last):
        start, stop = bounds[part], bounds[part + 1]
        used, bits = 16, 4
        while used < 2 * (stop - start):
            used *= 2
            bits += 1
        table[:used] = -1
        mask, shift = np.uint64(used - 1), np.uint64(PART_BITS - bits)
        groups = 0
        for i in range(start, stop):
            key = part_keys[i]
            slot = ((np.uint64(key) * MIX) >> shift) & mask
            while True:
                group = table[slot]
                if group < 0:
                    table[slot] = groups
                    found[start + groups] = key
                    counts[start + groups] = 1
                    labels[part_rows[i]] = start + groups
                    groups += 1
                    break
                if found[start + group] == key:
                    counts[start + group] += 1
                    labels[part_rows[i]] = start + group
                    break
                slot = (slot + np.uint64(1)) & mask
        sizes[part - first] = groups
    return sizes


@compiled
def relabel(labels: Array, start: int, stop: int, shift_of: Array) -> None:
    """Replace provisional labels of one piece by final ones."""
    for i in range(start, stop):
        labels[i] = shift_of[labels[i]]


# Compiled sorting of keys by their digits, from the last to the first.

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
