"""Rotation: columns of numbers are mixed by a random orthogonal matrix, which keeps all distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sfumato.masking.add_noise import draw_normals
from sfumato.masking.base import ColumnsStep, StepDescription, changed_share, replace_columns
from sfumato.masking.numbers import Floats, reject_missing, to_column, to_matrix
from sfumato.masking.undoing_rotation import ica_recovery, known_records_success, norm_linkage_rate, standardize
from sfumato.randomness import KeyedRandom
from sfumato.validation import require
from sfumato.words import LocalizedText

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
