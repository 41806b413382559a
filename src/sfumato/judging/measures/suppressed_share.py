"""Suppressed share: the share of records that were suppressed."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.judging.measures.base import Metric, MetricInput


@dataclass(frozen=True, kw_only=True)
class SuppressedShare(Metric):
    """Divide the suppressed records by all records."""

    name = "suppressed-share"
    reference = "Samarati 2001, https://doi.org/10.1109/69.971193"

    def compute(self, measured: MetricInput) -> float:
        """Divide suppressed records by all records."""
        return measured.suppressed / measured.records
