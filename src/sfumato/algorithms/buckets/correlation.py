"""How strongly attributes are associated, and clusters of associated attributes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from sfumato.coding.codes import CodedColumn
from sfumato.coding.grouping import group_columns

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
MOST_BINS = 10
MOST_CHOICES = 20_000  # of medoids, up to which all are tried
DIGITS = 12  # to which costs are compared, so that the order of a sum does not matter


def binned(column: CodedColumn, most: int = MOST_BINS) -> Ints:
    """Return a number for every value of an attribute; many numbers, dates or ranks share bins of about equal counts.

    Missing cells are a value of their own. Every number below the largest occurs.
    """
    codes, missing = column.codes.astype(np.int64), column.domain.missing
    counts = np.bincount(codes, minlength=missing + 1)
    known = counts[:missing]
    number = np.arange(missing + 1)
    if column.domain.scale.ordered and np.count_nonzero(known) > most:
        middle = np.cumsum(known) - known / 2
        number[:missing] = np.minimum(middle * most / known.sum(), most - 1).astype(np.int64)
        number[missing] = most
    return np.unique(number[codes], return_inverse=True)[1].ravel().astype(np.int64)


def mean_square_contingency(first: Ints, second: Ints) -> float:
    r"""Compute $\phi^2$ of two attributes, from 0 for independent ones to 1 if one determines the other.

    A constant is associated with nothing: 0.

    Parameters
    ----------
    first, second : the value of every record, numbered from 0; every number below the largest occurs.

    Examples
    --------
    >>> mean_square_contingency(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    >>> mean_square_contingency(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    0.0
    """
    rows, columns = np.bincount(first), np.bincount(second)
    least = min(len(rows), len(columns))
    if least < 2:  # noqa: PLR2004 - a constant
        return 0.0
    pairs = group_columns([first, second], [len(rows), len(columns)])
    row, column = np.divmod(pairs.keys, len(columns))
    total = float((pairs.counts.astype(np.float64) ** 2 / (rows[row] * columns[column].astype(np.float64))).sum())
    return min(max((total - 1.0) / (least - 1), 0.0), 1.0)


def correlations(columns: Sequence[CodedColumn]) -> Floats:
    r"""Compute $\phi^2$ of every pair of attributes; 1 on the diagonal."""
    values = [binned(column) for column in columns]
    found = np.eye(len(values))
    for i, j in combinations(range(len(values)), 2):
        found[i, j] = found[j, i] = mean_square_contingency(values[i], values[j])
    return found


def k_medoids(distances: Floats, clusters: int) -> Ints:
    """Cluster points around medoids with the smallest total distance; return the cluster of every point.

    All choices of medoids are tried if they are few; otherwise, medoids are added one by one and then swapped
    while that helps (PAM). Ties go to the lowest numbers. Clusters are numbered by their lowest points.
    """
    points = len(distances)
    clusters = min(clusters, points)
    if comb(points, clusters) <= MOST_CHOICES:
        choices = np.array(list(combinations(range(points), clusters)), dtype=np.int64).reshape(-1, clusters)
        medoids = choices[_costs(distances, choices).argmin()]
    else:
        medoids = partition_around_medoids(distances, clusters)
    owner = distances[:, medoids].argmin(axis=1)
    owner[medoids] = np.arange(clusters)
    _, first = np.unique(owner, return_index=True)
    rank = np.empty(clusters, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(clusters)
    return np.asarray(rank[owner])


def partition_around_medoids(distances: Floats, clusters: int) -> Ints:
    """Choose medoids one by one, each the best next one, then make the best swap as long as it lowers the cost."""
    points = np.arange(len(distances))
    medoids = np.zeros(0, dtype=np.int64)
    while len(medoids) < clusters:
        others = np.setdiff1d(points, medoids)
        grown = np.column_stack([np.tile(medoids, (len(others), 1)), others])
        medoids = grown[_costs(distances, grown).argmin()]
    cost = _costs(distances, medoids[None])[0]
    while True:
        others = np.setdiff1d(points, medoids)
        swapped = np.repeat(medoids[None], clusters * len(others), axis=0)
        swapped[np.arange(len(swapped)), np.repeat(np.arange(clusters), len(others))] = np.tile(others, clusters)
        costs = _costs(distances, swapped)
        if not len(costs) or costs.min() >= cost:
            return np.sort(medoids)
        medoids, cost = swapped[costs.argmin()], costs.min()


def _costs(distances: Floats, choices: Ints) -> Floats:
    """Sum the distance of every point to its nearest medoid, for every choice of medoids."""
    return np.asarray(np.round(distances[:, choices].min(axis=2).sum(axis=0), DIGITS))
