"""Counts of values per group, sparse, from rows that are already coded and grouped."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.coding.grouping import group_keys

Counts = npt.NDArray[np.int64]
DENSE_CELLS = 1 << 24


def sparse_counts(
    group: npt.NDArray[np.integer],
    groups: int,
    codes: npt.NDArray[np.integer],
    width: int,
    weights: npt.NDArray[np.integer] | None = None,
) -> tuple[Counts, npt.NDArray[np.int32], Counts]:
    """Count every value in every group, weighted or not: offsets per group, values ascending, counts."""
    keys = group.astype(np.int64) * width + codes
    if groups * width <= max(DENSE_CELLS, 4 * len(keys)):
        dense = np.bincount(keys, weights, minlength=groups * width)
        found = np.flatnonzero(dense)
        counts = dense[found].astype(np.int64)
    else:
        distinct = group_keys(keys)
        summed = distinct.counts if weights is None else np.bincount(distinct.labels, weights).astype(np.int64)
        order = np.argsort(distinct.keys, kind="stable")
        order = order[summed[order] > 0]
        found, counts = distinct.keys[order], summed[order]
    offsets = np.searchsorted(found, np.arange(groups + 1, dtype=np.int64) * width)
    return offsets, (found % width).astype(np.int32), counts


def sum_by_key(keys: Counts, counts: Counts) -> tuple[Counts, Counts]:
    """Sum counts that share a key; keys come back ascending."""
    if not len(keys):
        return keys, counts
    if (keys[1:] < keys[:-1]).any():
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[first], np.add.reduceat(counts, first)
