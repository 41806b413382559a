"""How strongly attributes are associated, and clusters of associated attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from sfumato.coding.codes import CodedColumn
from sfumato.coding.domain import Domain
from sfumato.coding.grouping import group_keys

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
MOST_BINS = 10
DENSE_PAIRS = 1 << 22  # pairs of values, up to which all are counted
MOST_CHOICES = 20_000  # of medoids, up to which all are tried
DIGITS = 12  # to which costs are compared, so that the order of a sum does not matter


def bin_values(column: CodedColumn, most: int = MOST_BINS) -> Ints:
    """Return a number for every value of an attribute; many numbers, dates or ranks share bins of about equal counts.

    Missing cells are a value of their own. Every number below the largest occurs.
    """
    codes = column.codes.astype(np.int64)
    return _bins(column.domain, np.bincount(codes, minlength=len(column.domain) + 1), most)[codes]


def _bins(domain: Domain, counts: Ints, most: int = MOST_BINS) -> Ints:
    """Return the number of every code, given how often it occurs; those of codes that do not occur mean nothing."""
    missing, known = domain.missing, counts[: domain.missing]
    number = np.arange(missing + 1)
    if domain.scale.ordered and np.count_nonzero(known) > most:
        middle = np.cumsum(known) - known / 2
        number[:missing] = np.minimum(middle * most / known.sum(), most - 1).astype(np.int64)
        number[missing] = most
    return np.searchsorted(np.unique(number[counts > 0]), number).astype(np.int64)


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
    pairs = _PairCounts(len(columns), len(rows) * len(columns))
    pairs.add(first, second)
    return _contingency(rows, columns, pairs)


class _PairCounts:
    """How often every pair of two attributes' values occurs, added up batch by batch."""

    def __init__(self, width: int, span: int) -> None:
        self.width, self.span = width, span
        self.keys = np.arange(span) if span <= DENSE_PAIRS else np.zeros(0, dtype=np.int64)
        self.counts = np.zeros(len(self.keys), dtype=np.int64)

    def add(self, first: Ints, second: Ints) -> None:
        """Count the pairs of some more records."""
        keys = first * self.width + second
        if self.span <= DENSE_PAIRS:
            self.counts += np.bincount(keys, minlength=self.span)
            return
        found = group_keys(keys, self.span)
        together = np.concatenate([self.keys, found.keys])
        self.keys, place = np.unique(together, return_inverse=True)
        counts = np.concatenate([self.counts, found.counts])
        self.counts = np.bincount(place.ravel(), counts, len(self.keys)).astype(np.int64)


def _contingency(rows: Ints, columns: Ints, pairs: _PairCounts) -> float:
    least = min(len(rows), len(columns))
    if least < 2:  # noqa: PLR2004 - a constant
        return 0.0
    met = np.flatnonzero(pairs.counts)
    row, column = np.divmod(pairs.keys[met], pairs.width)
    total = float((pairs.counts[met].astype(np.float64) ** 2 / (rows[row] * columns[column].astype(np.float64))).sum())
    return min(max((total - 1.0) / (least - 1), 0.0), 1.0)


def contingency_matrix(tables: Callable[[], Iterable[Sequence[CodedColumn]]]) -> Floats:
    r"""Compute $\phi^2$ of every pair of attributes; 1 on the diagonal.

    Parameters
    ----------
    tables : returns the same columns of disjoint parts of a table, which are looked at twice.
    """
    domains: list[Domain] = []
    counts: list[Ints] = []
    for columns in tables():
        domains = [column.domain for column in columns]
        here = [np.bincount(column.codes, minlength=len(column.domain) + 1).astype(np.int64) for column in columns]
        counts = [before + more for before, more in zip(counts, here, strict=True)] if counts else here
    bins = [_bins(domain, many) for domain, many in zip(domains, counts, strict=True)]
    sums = [
        np.bincount(number[many > 0], many[many > 0]).astype(np.int64)
        for number, many in zip(bins, counts, strict=True)
    ]
    widths = [len(each) for each in sums]
    pairs = {
        (i, j): _PairCounts(widths[j], widths[i] * widths[j])
        for i, j in combinations(range(len(bins)), 2)
        if min(widths[i], widths[j]) > 1
    }
    for columns in tables():
        values = [number[column.codes] for number, column in zip(bins, columns, strict=True)]
        for (i, j), met in pairs.items():
            met.add(values[i], values[j])
    found = np.eye(len(bins))
    for (i, j), met in pairs.items():
        found[i, j] = found[j, i] = _contingency(sums[i], sums[j], met)
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
