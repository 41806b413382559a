"""Groups of at least k records that lie close together: cut the records in two until no part can be cut again."""

from __future__ import annotations

import numpy as np

from sfumato.condensing.statistics import Whole
from sfumato.table.numbers import Numbers

MAX_SHARE = 0.999  # keeps the largest value of a part below the smallest of the next


def partition_records(values: Numbers, classes: Whole, least: int) -> Whole:
    """Return the group number of every record: of `least` to twice as many records minus one, all of one class.

    Every part of at least twice `least` records is cut near the median of the column that varies most in it, all parts
    of one generation at once, and so that a class of n records forms as many groups as it can: n // least. A generation
    sorts the records once, so the time grows as n log n times log (n / least). Every class must have at least `least`.
    """
    order = np.argsort(classes, kind="stable")
    sizes = np.bincount(classes).astype(np.int64)
    columns = np.ascontiguousarray(values[order].T)
    while (sizes >= 2 * least).any():
        large = sizes >= 2 * least
        places = np.flatnonzero(np.repeat(large, sizes))
        found = places[_sort_parts(columns[:, places], sizes[large])]
        order[places] = order[found]
        columns[:, places] = columns[:, found]
        sizes = _split_sizes(sizes, least)
    labels = np.empty(len(values), dtype=np.int64)
    labels[order] = np.repeat(np.arange(len(sizes)), sizes)
    return labels


def _sort_parts(columns: Numbers, sizes: Whole) -> Whole:
    """Sort every part by the column that varies most in it; the parts themselves, which are adjacent, stay in place.

    Values are scaled to the range from 0 to 1 and the number of the part is added, so that a single sort suffices.
    """
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    part = np.repeat(np.arange(len(sizes)), sizes)
    spread = np.empty((len(columns), len(sizes)))
    for place, column in enumerate(columns):
        means = np.add.reduceat(column, starts) / sizes
        spread[place] = np.add.reduceat(column * column, starts) / sizes - means * means
    widest = spread.argmax(axis=0)
    keys = columns[widest[part], np.arange(len(part))]
    least = np.minimum.reduceat(keys, starts)
    width = np.maximum.reduceat(keys, starts) - least
    keys = (keys - least[part]) / np.where(width > 0, width, 1.0)[part] * MAX_SHARE + part
    return np.argsort(keys, kind="stable")


def _split_sizes(sizes: Whole, least: int) -> Whole:
    """Return the sizes of the parts of parts: each gets half of the groups to form, and records in proportion."""
    groups = sizes // least
    first = sizes * (groups // 2) // groups
    both = np.column_stack([first, sizes - first])
    return both[both > 0]
