"""Rotation: columns of numbers are mixed by a random orthogonal matrix, which keeps all distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._locale.messages import LocalizedText
from sfumato._randomness import KeyedRandom, seeded_generator
from sfumato._validation import require
from sfumato.tables.masking._numbers import Floats, reject_missing, standard_deviations, to_column, to_matrix
from sfumato.tables.masking.add_noise import draw_normals
from sfumato.tables.masking.base import ColumnsStep, StepDescription, changed_share, replace_columns

# Known attacks on rotated numbers: by a few known records, by the length of a record, by independent components.

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


FEWEST = 2
DIGITS = 6
COMPARED = 200  # records whose distances are compared


@dataclass(frozen=True, kw_only=True)
class RotateNumbers(ColumnsStep):
    """Replace columns of numbers by mixtures of them: standardized, and turned by a random orthogonal matrix [1]_.

    All distances between records stay, so clusters, nearest neighbors and support vectors are those of the standardized
    original. A rotation alone protects nobody [2]_, and the measures of the step show it: publish it only to those who
    know no record, or after noise.

    Parameters
    ----------
    columns : at least two columns of numbers without missing cells.

    References
    ----------
    .. [1] Chen and Liu, "Privacy preserving data classification with rotation perturbation", ICDM 2005.
    .. [2] Liu, Giannella and Kargupta, "An attacker's view of distance preserving maps for privacy preserving data
       mining", PKDD 2006.
    """

    name = "rotate-numbers"
    reference = "Chen, Liu, ICDM 2005; attacked by Liu, Giannella, Kargupta, PKDD 2006"
    description = StepDescription(
        promise="Cells show mixtures of all these columns; distances between records, every column divided by its "
        "spread, are as they were.",
        open="Nothing is promised about persons. Whoever knows one record more than there are columns, with their "
        "rows, computes everybody's values; who knows a person's values finds her row by its distance from the mean; "
        "and where columns depend little on each other, they are found from the published numbers alone.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        mixed = len(self.columns) >= FEWEST
        require(mixed, self, "columns", "at least two columns, which are mixed", self.columns)

    @property
    def random(self) -> bool:
        """The matrix is drawn."""
        return True

    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:
        """Rotate."""
        self.check_columns(table)
        values = to_matrix(self, table, self.columns)
        reject_missing(self, values, self.columns, "fill or drop these rows first")
        turned = np.round(standardize(values) @ random_orthogonal(len(self.columns), stream), DIGITS)
        return replace_columns(
            table, {name: to_column(turned[:, at], pa.float64()) for at, name in enumerate(self.columns)}
        )

    def measure(self, before: pa.Table, after: pa.Table) -> dict[str, float]:
        """Measure what is kept, and what the three known attacks take back.

        `known-records` are how many records the first attack knows; `recovered` is the share of all others that it
        finds within 0.05 standard deviations in every column.
        """
        first, second = (to_matrix(self, table, self.columns) for table in (before, after))
        known = len(self.columns) + 1
        return {
            "changed-cells": changed_share(before, after, self.columns),
            "distance-change": _distance_change(first, second),
            "known-records": float(known),
            "recovered": known_records_success(first, second, known),
            "length-link": norm_linkage_rate(first, second),
            "component-correlation": ica_recovery(first, second),
        }

    def warnings(self, before: pa.Table, after: pa.Table, measures: Mapping[str, float]) -> tuple[str, ...]:
        """Say what a rotation is worth against whoever knows a few records."""
        known, share = measures["known-records"], measures["recovered"]
        told = LocalizedText("masking.warnings.rotation", known=round(known), share=share)
        return (*super().warnings(before, after, measures), told)


def random_orthogonal(size: int, stream: KeyedRandom) -> Floats:
    """Draw an orthogonal matrix, all being as likely (Haar measure)."""
    turn, upper = np.linalg.qr(draw_normals(stream, (size, size)))
    return np.asarray(turn * np.sign(np.diag(upper)))


def _distance_change(before: Floats, after: Floats) -> float:
    """Return the largest change of a distance between two standardized records, evenly spread, by the largest one."""
    from scipy.spatial.distance import pdist

    rows = np.unique(np.linspace(0, len(before) - 1, min(len(before), COMPARED)).astype(np.int64))
    was, now = pdist(standardize(before)[rows]), pdist(after[rows])
    return float(np.abs(was - now).max(initial=0.0) / max(float(was.max(initial=0.0)), 1e-12))
