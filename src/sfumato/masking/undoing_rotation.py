"""Known attacks on rotated numbers: by a few known records, by the length of a record, by independent components."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.masking.numbers import Floats, standard_deviations
from sfumato.randomness import seeded_generator

NEAR = 0.05  # of a standard deviation
TIE = 1e-9
MOST_ROWS = 20_000  # records that components are found in
ROUNDS = 300
STILL = 1e-7
START = 7


def standardize(values: Floats) -> Floats:
    """Return columns with mean 0 and standard deviation 1; a constant column becomes 0."""
    sds = standard_deviations(values)
    return np.asarray((values - values.mean(axis=0)) / np.where(sds > 0, sds, 1.0))


def known_records_attack(published: Floats, known: Floats, rows: npt.NDArray[np.int64]) -> Floats:
    """Estimate all records from a few that are known with their rows, by least squares from published numbers.

    One record more than there are columns is enough: what was published is a linear function of what was there.

    >>> turned = np.array([[0.0, -1], [1, 0]])
    >>> x = np.array([[1.0, 2], [3, 5], [2, 2], [7, 1]])
    >>> known_records_attack(x @ turned, x[:3], np.arange(3)).round(6).tolist()[3]
    [7.0, 1.0]
    """
    design = np.column_stack([np.ones(len(published)), published])
    return np.asarray(design @ np.linalg.lstsq(design[rows], known, rcond=None)[0])


def known_records_success(before: Floats, after: Floats, known: int) -> float:
    """Return the share of records that so many known ones, evenly spread, give back near what they were.

    A column that never varies is known to everybody, and is not asked for.
    """
    rows = np.unique(np.linspace(0, len(before) - 1, known).astype(np.int64))
    others = np.setdiff1d(np.arange(len(before)), rows)
    if not len(others):
        return 0.0
    gaps = np.abs(known_records_attack(after, before[rows], rows) - before)[others]
    varied = standard_deviations(before) > 0
    return float((gaps[:, varied] <= NEAR * standard_deviations(before)[varied]).all(axis=1).mean())


def norm_linkage_rate(before: Floats, after: Floats) -> float:
    """Return the share of persons whose published record is the one that is as far from the mean as theirs.

    A rotation keeps lengths. So who knows a person's values, and means and spreads, needs no row; ties count in part.
    """
    lengths, shown = (np.linalg.norm(each, axis=1) for each in (standardize(before), after))
    ordered = np.sort(shown)
    own = np.abs(lengths - shown)
    within = np.searchsorted(ordered, lengths + own + TIE, "right") - np.searchsorted(ordered, lengths - own - TIE)
    nearer = np.searchsorted(ordered, lengths + own - TIE) - np.searchsorted(ordered, lengths - own + TIE, "right")
    return float(np.where(nearer <= 0, 1 / np.maximum(within, 1), 0.0).mean())


def ica_recovery(before: Floats, after: Floats) -> float:
    """Return how well independent components of published numbers, told which is which, correlate with the columns.

    Nothing but the published numbers is used, and it works the better the less the columns depend on each other.
    """
    from scipy.optimize import linear_sum_assignment

    rows = np.unique(np.linspace(0, len(before) - 1, min(len(before), MOST_ROWS)).astype(np.int64))
    columns, found = standardize(before[rows]), standardize(fast_ica(after[rows]))
    if len(rows) < 3 or not found.size:  # noqa: PLR2004 - two records lie on a line, whatever they are
        return 0.0
    match = np.abs(columns.T @ found) / (len(rows) - 1)
    return float(match[linear_sum_assignment(-match)].sum() / columns.shape[1])


def fast_ica(values: Floats) -> Floats:
    """Find directions in which numbers look least like a bell curve (FastICA with tanh, all at once)."""
    centered = values - values.mean(axis=0)
    weights, vectors = np.linalg.eigh(centered.T @ centered / max(1, len(values) - 1))
    kept = weights > max(float(weights.max(initial=0.0)), 1.0) * TIE
    white = centered @ (vectors[:, kept] / np.sqrt(weights[kept]))
    turn = _orthogonal(seeded_generator(START).normal(size=(white.shape[1], white.shape[1])))
    for _ in range(ROUNDS):
        bent = np.tanh(white @ turn.T)
        step = _orthogonal(bent.T @ white / max(1, len(white)) - (1 - bent**2).mean(axis=0)[:, None] * turn)
        change = 1 - np.abs((step * turn).sum(axis=1)).min(initial=1.0)
        turn = step
        if change < STILL:
            break
    return np.asarray(white @ turn.T)


def _orthogonal(matrix: Floats) -> Floats:
    """Return the nearest orthogonal matrix."""
    left, _, right = np.linalg.svd(matrix)
    return np.asarray(left @ right)
