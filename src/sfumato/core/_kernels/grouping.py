"""Group rows by equal codes: pack the codes of a row into one 64-bit key, then group the keys."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sfumato._threads import count_workers
from sfumato.core._kernels.readiness import should_compile_for

Keys = npt.NDArray[np.int64]
COMPILED_ROWS = 200_000  # below this NumPy is as fast, and nothing needs compiling
DENSE_RANGE = 1 << 22
PARTS = 256
LARGEST_KEY = np.iinfo(np.int64).max
MIX = np.uint64(0x9E3779B97F4A7C15)
PART_BITS = 56  # parts are the bits above, slots the bits just below: high bits depend on the whole key
PART_SHIFT = np.uint64(PART_BITS)


@dataclass(frozen=True, eq=False)
class Grouped:
    """Distinct keys, how often each occurs, and the index of every row's key."""

    labels: npt.NDArray[np.int32]
    keys: Keys
    counts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.keys)


def group_columns(columns: Sequence[npt.NDArray[np.integer]], widths: Sequence[int]) -> Grouped:
    """Group rows by several code columns, where column i has codes below `widths[i]`.

    >>> group_columns([np.array([0, 1, 0]), np.array([2, 0, 2])], [2, 3]).counts
    array([2, 1])
    """
    keys, span = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column, width in zip(columns, widths, strict=True):
        if span > LARGEST_KEY // width:
            grouped = group_keys(keys, span)
            keys, span = grouped.labels.astype(np.int64), len(grouped)
        keys *= width
        keys += column
        span *= width
    return group_keys(keys, span)


def group_keys(keys: Keys, span: int = LARGEST_KEY) -> Grouped:
    """Group equal keys, all at least 0 and below `span`; keys of small tables and ranges come back ascending."""
    if span <= min(DENSE_RANGE, 4 * len(keys) + 1024):
        return _group_by_counting(keys, span)
    if len(keys) < COMPILED_ROWS:
        distinct, labels, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return Grouped(labels.astype(np.int32), distinct, counts.astype(np.int64))
    return group_by_hashing(keys) if should_compile_for(len(keys), COMPILED_ROWS) else _group_by_sorting(keys)


def representative_rows(grouped: Grouped) -> npt.NDArray[np.intp]:
    """Find one row of every group."""
    rows = np.empty(len(grouped), dtype=np.intp)
    rows[grouped.labels[::-1]] = np.arange(len(grouped.labels) - 1, -1, -1)
    return rows


def _group_by_counting(keys: Keys, span: int) -> Grouped:
    counts = np.bincount(keys, minlength=span)
    present = np.flatnonzero(counts)
    number = np.zeros(span, dtype=np.int32)
    number[present] = np.arange(len(present), dtype=np.int32)
    return Grouped(number[keys], present, counts[present].astype(np.int64))


def _group_by_sorting(keys: Keys) -> Grouped:
    """Group keys by NumPy, and number the groups as `group_by_hashing` does: by part, and in a part as they come."""
    distinct, first, labels, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    part = (distinct.astype(np.uint64) * MIX) >> PART_SHIFT
    order = np.lexsort((first, part))
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return Grouped(number[labels], distinct[order], counts[order].astype(np.int64))


def group_by_hashing(keys: Keys) -> Grouped:
    """Group keys with compiled loops."""
    from sfumato.core._kernels import grouping_loops as kernel

    rows, workers = len(keys), count_workers()
    edges = np.linspace(0, rows, workers + 1).astype(int)
    piece_counts = np.zeros((workers, PARTS), dtype=np.int64)
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(kernel.count_partitions, [keys] * workers, edges[:-1], edges[1:], piece_counts))
        bounds = np.concatenate([[0], np.cumsum(piece_counts.sum(axis=0))])
        places = bounds[:-1] + np.cumsum(piece_counts, axis=0) - piece_counts
        part_keys, part_rows = np.empty_like(keys), np.empty(rows, dtype=np.int32)
        repeat = [part_keys] * workers, [part_rows] * workers
        list(pool.map(kernel.scatter, [keys] * workers, edges[:-1], edges[1:], places, *repeat))
        labels, found = np.empty(rows, dtype=np.int32), np.empty(rows, dtype=np.int64)
        counts = np.empty(rows, dtype=np.int64)
        part_edges = np.linspace(0, PARTS, 4 * workers + 1).astype(int)
        jobs = [
            pool.submit(kernel.group_partitions, part_keys, part_rows, bounds, first, last, labels, found, counts)
            for first, last in pairwise(part_edges.tolist())
        ]
        sizes = np.concatenate([job.result() for job in jobs])
        del part_keys, part_rows
        kept = np.concatenate([np.arange(b, b + s) for b, s in zip(bounds[:-1], sizes, strict=True)])
        final = np.empty(rows, dtype=np.int32)
        final[kept] = np.arange(len(kept), dtype=np.int32)
        list(pool.map(kernel.relabel, [labels] * workers, edges[:-1], edges[1:], [final] * workers))
    return Grouped(labels, found[kept], counts[kept])


# The order of rows by whole numbers: ascending, and equal ones as they came.


def stable_argsort(keys: npt.NDArray[np.integer], span: int = LARGEST_KEY + 1) -> npt.NDArray[np.int64]:
    """Order rows by keys, all at least 0 and below `span`; equal keys keep their order.

    >>> stable_argsort(np.array([5, 2, 5, 0]))
    array([3, 1, 0, 2])
    """
    if not should_compile_for(len(keys), COMPILED_ROWS):
        return np.argsort(keys, kind="stable").astype(np.int64, copy=False)
    return radix_argsort(keys, span)


def radix_argsort(keys: npt.NDArray[np.integer], span: int) -> npt.NDArray[np.int64]:
    """Order rows by keys with compiled loops."""
    from sfumato.core._kernels import grouping_loops as kernel

    mine, rows = keys.astype(np.int64), np.arange(len(keys), dtype=np.int64)
    spare, spare_rows = np.empty_like(mine), np.empty_like(rows)
    places = np.empty(kernel.DIGITS, dtype=np.int64)
    for shift in range(0, (span - 1).bit_length(), kernel.DIGIT):
        kernel.radix_sort_pass(mine, rows, shift, places, spare, spare_rows)
        mine, rows, spare, spare_rows = spare, spare_rows, mine, rows
    return rows
