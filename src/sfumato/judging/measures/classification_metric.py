"""Classification metric: how many records differ from most of their group."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.judging.measures.base import Metric, MetricInput
from sfumato.judging.measures.loss import mean_or_zero


@dataclass(frozen=True, kw_only=True)
class ClassificationMetric(Metric):
    r"""Share the records that are suppressed or whose value is not the most frequent one of their group [1]_.

    The values are those of a sensitive attribute; with several, the shares are averaged. A value in a bucket counts as
    far as it is expected in the record's group. A missing value, which may be anything, is never the most frequent one.

    References
    ----------
    .. [1] Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002.
       https://doi.org/10.1145/775047.775089
    """

    name = "classification-metric"
    reference = "Iyengar 2002, https://doi.org/10.1145/775047.775089"
    of_sensitive = True

    def compute(self, measured: MetricInput) -> float:
        """Count suppressed records and minorities."""
        found = measured.minorities.values()
        return mean_or_zero([(minority + measured.suppressed) / measured.records for minority in found])
