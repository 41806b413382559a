"""Counts of values per group, sparse, from rows that are already coded and grouped."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from sfumato.coding.grouping import group_keys
from sfumato.coding.ordering import stable_argsort
from sfumato.threads import count_workers

Counts = npt.NDArray[np.int64]
Sparse = tuple[Counts, npt.NDArray[np.int32], Counts]  # offsets per group, values ascending, counts
DENSE_CELLS = 1 << 24


def sparse_counts(
    group: npt.NDArray[np.integer],
    groups: int,
    codes: npt.NDArray[np.integer],
    width: int,
    weights: npt.NDArray[np.integer] | None = None,
) -> Sparse:
    """Count every value in every group, weighted or not."""
    keys = group.astype(np.int64) * width + codes
    if groups * width <= max(DENSE_CELLS, 4 * len(keys)):
        dense = np.bincount(keys, weights, minlength=groups * width)
        found = np.flatnonzero(dense)
        counts = dense[found].astype(np.int64)
    else:
        distinct = group_keys(keys)
        summed = distinct.counts if weights is None else np.bincount(distinct.labels, weights).astype(np.int64)
        order = stable_argsort(distinct.keys, groups * width)
        order = order[summed[order] > 0]
        found, counts = distinct.keys[order], summed[order]
    offsets = np.searchsorted(found, np.arange(groups + 1, dtype=np.int64) * width)
    return offsets, (found % width).astype(np.int32), counts


def sum_by_key(keys: Counts, counts: Counts) -> tuple[Counts, Counts]:
    """Sum counts that share a key; keys come back ascending."""
    if not len(keys):
        return keys, counts
    if (keys[1:] < keys[:-1]).any():
        order = stable_argsort(keys, int(keys.max()) + 1)
        keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[first], np.add.reduceat(counts, first)


def sum_bucket_contents(
    group: npt.NDArray[np.integer], groups: int, bucket: Counts, contents: Sparse, width: int
) -> Sparse:
    """Sum for every group what the buckets of its records contain; compiled, and in threads.

    Parameters
    ----------
    group, groups : the group of every record, and how many there are.
    bucket : the bucket of every record.
    contents : the values of every bucket, with amounts above 0.
    width : the number of values.
    """
    from sfumato.coding.kernels import mixing as kernel

    starts = np.append(0, np.cumsum(np.bincount(group, minlength=groups)))
    order = np.empty(len(group), dtype=np.int64)
    kernel.order_by_group(group, starts[:-1].copy(), order)
    visits = np.bincount(group, np.diff(contents[0])[bucket], groups).astype(np.int64)
    until = np.append(0, np.cumsum(visits))
    edges = np.unique(np.searchsorted(until, np.linspace(0, until[-1], 4 * count_workers() + 1)).clip(max=groups))
    found = np.zeros(groups, dtype=np.int64)

    most = np.minimum(visits, width)
    begins = np.append(0, np.cumsum(most))[edges[:-1]]
    codes, amounts = np.empty(int(most.sum()), dtype=np.int32), np.empty(int(most.sum()), dtype=np.int64)

    def mix(begin: int, first: int, last: int) -> int:
        room = np.zeros(width, dtype=np.int64), np.zeros((width >> kernel.BLOCK) + 1, dtype=np.int64)
        return kernel.sum_buckets(
            order, starts, bucket, contents, first, last, room, found, codes[begin:], amounts[begin:]
        )

    with ThreadPoolExecutor(count_workers()) as pool:
        lengths = list(pool.map(mix, begins.tolist(), edges[:-1].tolist(), edges[1:].tolist()))
    end = 0
    for begin, length in zip(begins.tolist(), lengths, strict=True):
        codes[end : end + length], amounts[end : end + length] = (
            codes[begin : begin + length],
            amounts[begin : begin + length],
        )
        end += length
    return np.append(0, np.cumsum(found)), codes[:end], amounts[:end]
