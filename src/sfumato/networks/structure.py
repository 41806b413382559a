"""The structure of a network in figures: clustering, lengths of paths, and eigenvalues."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.neighborhoods import neighborhood_degrees
from sfumato.coding.kernels.path_summing import sum_path_lengths
from sfumato.networks.network import Graph
from sfumato.randomness import seeded_generator

SOURCES = 1_000  # persons from whom paths are measured
EIGENVALUES = 10
TOLERANCE = 1e-6  # of vectors; eigenvalues are off by its square only
SMALL = 500  # persons up to whom all eigenvalues are found: fewer by steps need more different ones than there may be
Z_95 = 1.959964  # deviations of the normal distribution, for intervals of 95 %


class Interval(NamedTuple):
    """A figure, and between which it lies."""

    value: float
    low: float
    high: float


def average_clustering(network: Graph) -> float:
    """Return the mean share of a person's pairs of neighbors who know each other; 0 for fewer than two neighbors."""
    rows = np.empty(len(network.neighbors), dtype=np.int64)
    neighborhood_degrees(network.offsets, network.neighbors, np.zeros(len(network), dtype=np.int64), 1, rows)
    sums = np.append(0, np.cumsum(rows))
    degrees = network.degrees
    pairs = degrees * (degrees - 1)
    closed = sums[network.offsets[1:]] - sums[network.offsets[:-1]]
    return float((closed / np.maximum(pairs, 1)).mean())


def average_path_length(network: Graph, *, sources: int = SOURCES, seed: int = 0) -> Interval:
    """Return the mean number of steps between two persons whom a path joins, with an interval of 95 %.

    Paths are measured from some persons to all others; from all persons if there are no more, and then the figure is
    exact. The interval is that of a ratio in a sample without replacement.
    """
    persons = len(network)
    drawn = seeded_generator(seed).choice(persons, min(sources, persons), replace=False)
    totals, reached = np.empty((2, len(drawn)), dtype=np.int64)
    sum_path_lengths(network.offsets, network.neighbors, drawn, totals, reached)
    mean = totals.sum() / max(reached.sum(), 1)
    spread = float(((totals - mean * reached) ** 2).sum()) / max(len(drawn) - 1, 1)
    error = np.sqrt((1 - len(drawn) / persons) * spread / len(drawn)) / max(reached.mean(), 1e-9)
    return Interval(float(mean), float(max(mean - Z_95 * error, 0)), float(mean + Z_95 * error))


def largest_eigenvalues(network: Graph) -> npt.NDArray[np.float64]:
    """Return the largest eigenvalues of the adjacency matrix, at most 10, descending."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import eigsh

    size = len(network)
    ones = np.ones(len(network.neighbors))
    matrix = csr_array((ones, network.neighbors, network.offsets), shape=(size, size))
    if size <= SMALL or not network.n_edges:
        return np.asarray(np.linalg.eigvalsh(matrix.toarray())[::-1][:EIGENVALUES], dtype=np.float64)
    start = seeded_generator(0).random(size)
    found = eigsh(matrix, EIGENVALUES, which="LA", v0=start, tol=TOLERANCE, return_eigenvectors=False)
    return np.sort(np.asarray(found, dtype=np.float64))[::-1]
