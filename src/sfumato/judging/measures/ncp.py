"""NCP: the normalized certainty penalty, averaged over all cells (also called GCP)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core.published.table import PublishedColumn
from sfumato.judging.measures.base import Metric, MetricInput
from sfumato.judging.measures.loss import mean_or_zero
from sfumato.schema.scales import Scale


@dataclass(frozen=True, kw_only=True)
class NormalizedCertaintyPenalty(Metric):
    r"""Average the penalty of all quasi-identifying cells [1]_.

    A cell of numbers costs its width divided by the range of the domain; any other cell costs the share of leaves
    that it covers, and nothing if it covers one. A suppressed record costs 1 per attribute.

    References
    ----------
    .. [1] Xu et al., "Utility-based anonymization using local recoding", KDD 2006.
       https://doi.org/10.1145/1150402.1150504
    """

    name = "ncp"
    reference = "Xu et al. 2006, https://doi.org/10.1145/1150402.1150504"
    of_covers = True

    def compute(self, measured: MetricInput) -> float:
        """Average penalties over records and attributes."""
        return mean_or_zero([_attribute_penalty(measured, column) for column in measured.columns])


def _attribute_penalty(measured: MetricInput, column: PublishedColumn) -> float:
    return (measured.total(column, _penalties(column)) + measured.suppressed) / measured.records


def _penalties(column: PublishedColumn) -> npt.NDArray[np.float64]:
    counts, domain = column.coverage.leaf_counts(), column.domain
    if domain.scale is not Scale.NUMERIC:
        return np.where(counts > 1, counts / max(1, len(domain)), 0.0)
    if not len(domain) or domain.positions[0] == domain.positions[-1]:
        return np.zeros(len(counts))
    return np.asarray(_widths(column) / (domain.positions[-1] - domain.positions[0]))


def _widths(column: PublishedColumn) -> npt.NDArray[np.float64]:
    """Measure intervals from bound to bound within the domain, other labels from their first to their last leaf."""
    coverage, places, last = column.coverage, column.domain.positions, len(column.domain) - 1
    least, greatest = places[np.clip(coverage.low, 0, last)], places[np.clip(coverage.high, 0, last)]
    widths = np.where(coverage.low <= coverage.high, greatest - least, 0.0)
    first, last_member = coverage.members.ends
    widths[coverage.members.at] = np.where(first <= last_member, places[last_member] - places[first], 0.0)
    intervals = column.all_intervals()
    low, high = (np.clip(ends, places[0], places[-1]) for ends in (intervals.low, intervals.high))
    widths[intervals.at] = np.nan_to_num(high - low)
    return widths
