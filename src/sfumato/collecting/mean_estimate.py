"""An estimated mean with a confidence interval."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any


@dataclass(frozen=True, kw_only=True)
class MeanEstimate:
    """The mean of the clients' values, estimated from their reports; it may lie outside the public bounds."""

    mean: float
    variance: float
    reports: int
    confidence: float

    @property
    def margin(self) -> float:
        """Half the length of the confidence interval."""
        from scipy.special import ndtri

        return float(ndtri((1 + self.confidence) / 2)) * sqrt(self.variance)

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.mean - self.margin

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.mean + self.margin

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        return {"reports": self.reports, "confidence": self.confidence, "mean": self.mean, "margin": self.margin}

    def __repr__(self) -> str:
        return f"Mean {self.mean:.4g} ± {self.margin:.2g} from {self.reports:,} reports, {self.confidence:.0%} interval"
