"""Minimal distortion: how many cells no longer show their value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core.publication import Exact, MissingCell
from sfumato.core.published.table import PublishedColumn
from sfumato.judging.measures.base import Metric, MetricInput


@dataclass(frozen=True, kw_only=True)
class MinimalDistortion(Metric):
    """Count one for every quasi-identifying cell that is generalized, however far [1]_.

    A cell that shows its value, or that it has none, counts nothing; all cells of a suppressed record count.

    References
    ----------
    .. [1] Samarati, "Protecting respondents' identities in microdata release", IEEE TKDE 13(6), 2001.
       https://doi.org/10.1109/69.971193
    """

    name = "minimal-distortion"
    reference = "Samarati 2001, https://doi.org/10.1109/69.971193"
    of_covers = True

    def compute(self, measured: MetricInput) -> float:
        """Count generalized and suppressed cells."""
        cells = sum(int(measured.total(column, is_generalized(column))) for column in measured.columns)
        return float(cells + measured.suppressed * len(measured.columns))

    def combine(self, pieces: Sequence[tuple[int, float]], whole: MetricInput) -> float:
        """Add up the cells of all pieces, and those of suppressed records."""
        return sum(value for _, value in pieces) + whole.suppressed * len(whole.columns)


def is_generalized(column: PublishedColumn) -> npt.NDArray[np.bool_]:
    """Return for every distinct text of a column whether it stands for more than one value."""
    coarse = np.ones(len(column.texts), dtype=np.bool_)
    coarse[[place for place, label in column.others.items() if isinstance(label, Exact | MissingCell)]] = False
    return coarse
