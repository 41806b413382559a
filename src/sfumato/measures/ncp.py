"""NCP: the normalized certainty penalty, averaged over all cells (also called GCP)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.attributes.scales import Scale
from sfumato.measures.base import Measure, Measured
from sfumato.measures.loss import mean_or_zero
from sfumato.publication import Interval
from sfumato.published.coverage import bounds
from sfumato.published.table import PublishedColumn


@dataclass(frozen=True, kw_only=True)
class NormalizedCertaintyPenalty(Measure):
    r"""Average the penalty of all quasi-identifying cells [1]_.

    A cell of numbers costs its width over the domain's range; any other cell costs the share of leaves
    that it covers, and nothing if it covers one. A suppressed record costs 1 per attribute.

    References
    ----------
    .. [1] Xu et al., "Utility-based anonymization using local recoding", KDD 2006.
       https://doi.org/10.1145/1150402.1150504
    """

    name = "ncp"
    reference = "Xu et al. 2006, https://doi.org/10.1145/1150402.1150504"

    def compute(self, measured: Measured) -> float:
        """Average penalties over records and attributes."""
        return mean_or_zero([_attribute_penalty(measured, column) for column in measured.table.columns])


def _attribute_penalty(measured: Measured, column: PublishedColumn) -> float:
    penalties = _penalties(column)[measured.table.by_group(column)]
    return (float((penalties * measured.table.grouped.counts).sum()) + measured.suppressed) / measured.records


def _penalties(column: PublishedColumn) -> npt.NDArray[np.float64]:
    coverage, domain = column.coverage, column.domain
    counts = coverage.leaf_counts()
    shares = np.where(counts > 1, counts / max(1, len(domain)), 0.0)
    if domain.scale is not Scale.NUMERIC or not len(domain):
        return shares
    least, greatest = domain.positions[0], domain.positions[-1]
    if least == greatest:
        return np.zeros(len(counts))
    penalties = np.where(counts == len(domain), 1.0, shares)
    at = [number for number, label in enumerate(column.labels) if isinstance(label, Interval)]
    intervals = [label for label in column.labels if isinstance(label, Interval)]
    low = np.clip(bounds([interval.low for interval in intervals], domain), least, greatest)
    high = np.clip(bounds([interval.high for interval in intervals], domain), least, greatest)
    penalties[at] = (high - low) / (greatest - least)
    return penalties
