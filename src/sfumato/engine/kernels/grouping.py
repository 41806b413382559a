"""Compiled grouping of 64-bit keys: scatter by hash into parts, then one open-addressing table per part."""

from __future__ import annotations

import numba as nb
import numpy as np

MIX = np.uint64(0x9E3779B97F4A7C15)
PART_SHIFT = np.uint64(56)  # parts use the top bits of the hash, slots the bits below
SLOT_SHIFT = np.uint64(24)


@nb.njit(cache=True, nogil=True)
def count_parts(keys, start, stop, counts):  # noqa: ANN001, ANN201 - compiled for the arrays it meets
    """Count the keys of one piece that fall into each of 256 parts."""
    for i in range(start, stop):
        counts[(np.uint64(keys[i]) * MIX) >> PART_SHIFT] += 1


@nb.njit(cache=True, nogil=True)
def scatter(keys, start, stop, places, part_keys, part_rows):  # noqa: ANN001, ANN201
    """Move the keys of one piece, with their row numbers, to the places of their parts."""
    for i in range(start, stop):
        key = keys[i]
        part = (np.uint64(key) * MIX) >> PART_SHIFT
        place = places[part]
        part_keys[place] = key
        part_rows[place] = i
        places[part] = place + 1


@nb.njit(cache=True, nogil=True)
def group_parts(part_keys, part_rows, bounds, first, last, labels, found, counts):  # noqa: ANN001, ANN201
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
        used = 16
        while used < 2 * (stop - start):
            used *= 2
        table[:used] = -1
        mask = np.uint64(used - 1)
        groups = 0
        for i in range(start, stop):
            key = part_keys[i]
            slot = ((np.uint64(key) * MIX) >> SLOT_SHIFT) & mask
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


@nb.njit(cache=True, nogil=True)
def relabel(labels, start, stop, shift_of):  # noqa: ANN001, ANN201
    """Replace provisional labels of one piece by final ones."""
    for i in range(start, stop):
        labels[i] = shift_of[labels[i]]


@nb.njit(cache=True, nogil=True)
def count_dense(keys, start, stop, counts):  # noqa: ANN001, ANN201
    """Count keys of a small range in a table with one place for each."""
    for i in range(start, stop):
        counts[keys[i]] += 1
