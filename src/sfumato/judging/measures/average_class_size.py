"""Average class size: records per group."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.judging.measures.base import Metric, MetricInput


@dataclass(frozen=True, kw_only=True)
class AverageClassSize(Metric):
    r"""Divide all records by the number of groups, where suppressed records form one more group [1]_.

    References
    ----------
    .. [1] LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.
       https://doi.org/10.1109/ICDE.2006.101
    """

    name = "average-class-size"
    reference = "LeFevre, DeWitt, Ramakrishnan 2006, https://doi.org/10.1109/ICDE.2006.101"

    def compute(self, measured: MetricInput) -> float:
        """Divide n by the number of groups."""
        return measured.records / (len(measured.sizes) + (measured.suppressed > 0))
