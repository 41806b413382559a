"""Rows of persons who can take each other's place, and the proof that they can."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.networks.network import Graph, sort_edges


def verified_column_count(network: Graph) -> int:
    """Return how many persons each row of the alignment holds if all can move one place on; 0 if nothing is proven."""
    rows = network.alignment
    if rows is None or not np.array_equal(np.sort(rows, axis=None), np.arange(len(network))):
        return 0
    moved = np.empty(len(network), dtype=np.int64)
    moved[rows] = np.roll(rows, -1, axis=1)
    return rows.shape[1] if np.array_equal(sort_edges(moved[network.edges]), network.edges) else 0


def alignment_columns(network: Graph) -> npt.NDArray[np.int64]:
    """Return the column of every person in the alignment."""
    assert network.alignment is not None  # noqa: S101 - asked only where one was proven
    column = np.empty(len(network), dtype=np.int64)
    column[network.alignment] = np.arange(network.alignment.shape[1])[None, :]
    return column
