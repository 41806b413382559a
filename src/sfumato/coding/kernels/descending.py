"""Compiled passes over batches of codes: down a tree of cuts to segments, and counts of codes per segment."""

from __future__ import annotations

import numba as nb
import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled

BLOCK = 4096  # rows whose nodes stay in the fastest memory


@compiled
def descend_rows(codes: Array, begin: int, rows: int, tree: tuple[Array, ...], depth: int, nodes: Array) -> None:
    """Find the leaf of some rows. A leaf is its own child, so all rows take as many steps and no step branches."""
    axis, code, children = tree
    nodes[:rows] = 0
    for _ in range(depth):
        for i in range(rows):
            node = nodes[i]
            right = nb.int64(codes[axis[node], begin + i]) > code[node]
            nodes[i] = children[2 * node + nb.int64(right)]


@compiled
def descend(codes: Array, tree: tuple[Array, ...], depth: int, number: Array, result: Array) -> None:
    """Write the number of every row's leaf."""
    nodes = np.empty(BLOCK, dtype=np.int64)
    for begin in range(0, codes.shape[1], BLOCK):
        rows = min(BLOCK, codes.shape[1] - begin)
        descend_rows(codes, begin, rows, tree, depth, nodes)
        for i in range(rows):
            result[begin + i] = number[nodes[i]]


@compiled
def add_row_counts(
    columns: Array, begin: int, chosen: Array, found: int, starts: Array, weights: Array, place: Array, counts: Array
) -> None:
    """Count the codes of a block's chosen rows in flat counts, each from the row's place and its column's start."""
    for j in range(columns.shape[0]):
        column, start = columns[j, begin:], starts[j]
        if len(weights):
            for i in range(found):
                counts[place[i] + start + nb.int64(column[chosen[i]])] += weights[begin + chosen[i]]
        else:
            for i in range(found):
                counts[place[i] + start + nb.int64(column[chosen[i]])] += 1


@compiled
def count_batch(
    codes: Array,
    watched: Array,
    weights: Array,
    tree: tuple[Array, ...],
    depth: int,
    slot: Array,
    starts: tuple[Array, Array],
    counts: tuple[Array, Array],
) -> None:
    """Add the codes of a batch to the counts of the segments that have a slot.

    `starts` and `counts` are those of the axes and of the watched attributes; a slot is a row of both counts. Without
    `weights` every row counts once.
    """
    nodes, chosen = np.empty(BLOCK, dtype=np.int64), np.empty(BLOCK, dtype=np.int64)
    slots, place = np.empty(BLOCK, dtype=np.int64), np.empty(BLOCK, dtype=np.int64)
    for begin in range(0, codes.shape[1], BLOCK):
        rows = min(BLOCK, codes.shape[1] - begin)
        descend_rows(codes, begin, rows, tree, depth, nodes)
        found = 0
        for i in range(rows):  # no branch: what is counted is as unpredictable as any side of a cut
            chosen[found], slots[found] = i, slot[nodes[i]]
            found += nb.int64(slot[nodes[i]] >= 0)
        place[:found] = slots[:found] * counts[0].shape[1]
        add_row_counts(codes, begin, chosen, found, starts[0], weights, place, counts[0].reshape(-1))
        place[:found] = slots[:found] * counts[1].shape[1]
        add_row_counts(watched, begin, chosen, found, starts[1], weights, place, counts[1].reshape(-1))
