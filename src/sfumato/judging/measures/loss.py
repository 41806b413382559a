"""Loss: the share of its attribute's leaves that a published cell may represent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.core.published.table import PublishedColumn
from sfumato.judging.measures.base import Metric, MetricInput


@dataclass(frozen=True, kw_only=True)
class Loss(Metric):
    r"""Average over attributes $(\bar s - 1/D) / (1 - 1/D)$ with $\bar s$ the mean share of leaves [1]_.

    The share of a cell is the number of leaves that it covers, divided by all $D$ leaves of its attribute's
    hierarchy (without one: the values of the original); a suppressed record counts 1. Exact values give 0,
    full suppression 1. A cell that is published as missing reveals all there is and counts $1/D$.

    References
    ----------
    .. [1] Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002.
       https://doi.org/10.1145/775047.775089
    """

    name = "loss"
    reference = "Iyengar 2002, https://doi.org/10.1145/775047.775089"
    of_covers = True

    def compute(self, measured: MetricInput) -> float:
        """Average the normalized shares over attributes."""
        return mean_or_zero([_attribute_loss(measured, column) for column in measured.columns])


def mean_or_zero(numbers: list[float]) -> float:
    """Average numbers; a table without quasi-identifiers has nothing to lose."""
    return sum(numbers) / len(numbers) if numbers else 0.0


def _attribute_loss(measured: MetricInput, column: PublishedColumn) -> float:
    leaves = len(column.domain)
    if leaves < 2:  # noqa: PLR2004 - one value tells nothing, so nothing can be lost
        return 0.0
    covered = np.maximum(column.coverage.leaf_counts(), 1)
    total = int(measured.total(column, covered)) + measured.suppressed * leaves
    return (total / measured.records - 1) / (leaves - 1)
