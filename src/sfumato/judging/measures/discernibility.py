"""Discernibility: how many records each record is indistinguishable from."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.judging.measures.base import Metric, MetricInput

LARGEST_COUNT = 2**63


@dataclass(frozen=True, kw_only=True)
class Discernibility(Metric):
    r"""Sum the size of its group for every record, and all $n$ for a suppressed record [1]_.

    References
    ----------
    .. [1] Bayardo, Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005.
       https://doi.org/10.1109/ICDE.2005.42
    """

    name = "discernibility"
    reference = "Bayardo, Agrawal 2005, https://doi.org/10.1109/ICDE.2005.42"

    def compute(self, measured: MetricInput) -> float:
        """Sum squared group sizes, plus n per suppressed record."""
        sizes = measured.sizes if measured.records**2 < LARGEST_COUNT else measured.sizes.astype(object)
        return float((sizes * sizes).sum() + measured.records * measured.suppressed)
