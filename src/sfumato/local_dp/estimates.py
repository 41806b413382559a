"""Estimated frequencies with confidence intervals, and a labeled step that makes them consistent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.io._values import format_value

Numbers = npt.NDArray[np.float64]

UNBIASED = "unbiased"
NORM_SUB = "norm-sub"
SHOWN = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class FrequencyEstimate:
    """How many clients have each value, as estimated from their reports.

    `counts` are unbiased: they may be negative, and need not sum to the number of reports. `low` and `high` are the
    ends of a confidence interval for each count separately. `consistent` is a separate step, which `step` names.
    """

    values: tuple[Any, ...]
    counts: Numbers
    variances: Numbers
    reports: int
    confidence: float
    step: str = UNBIASED

    @property
    def shares(self) -> Numbers:
        """The counts as shares of all reports."""
        return self.counts / max(self.reports, 1)

    @property
    def margins(self) -> Numbers:
        """Half the length of each confidence interval."""
        from scipy.special import ndtri

        return np.asarray(ndtri((1 + self.confidence) / 2) * np.sqrt(self.variances), dtype=np.float64)

    @property
    def low(self) -> Numbers:
        """The lower ends of the intervals."""
        return self.counts - self.margins

    @property
    def high(self) -> Numbers:
        """The upper ends of the intervals."""
        return self.counts + self.margins

    def consistent(self) -> FrequencyEstimate:
        """Make counts nonnegative, with the number of reports as their sum, by the smallest change (norm-sub).

        Every count moves by the same amount, and what would be negative becomes 0: this is the nearest point of the
        simplex. The result is biased, with small counts too high, so its intervals are those of the original estimate.
        """
        return replace(self, counts=project_to_simplex(self.counts, self.reports), step=NORM_SUB)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        margins = self.margins
        return {
            "reports": self.reports,
            "confidence": self.confidence,
            "step": self.step,
            "values": [
                {"value": format_value(value), "count": float(count), "margin": float(margin)}
                for value, count, margin in zip(self.values, self.counts, margins, strict=True)
            ],
        }

    def __repr__(self) -> str:
        lines = [f"Frequencies from {self.reports:,} reports, {self.step}, {self.confidence:.0%} intervals"]
        rows = list(zip(self.values, self.counts, self.margins, strict=True))[:SHOWN]
        width = max((len(format_value(value)) for value, _, _ in rows), default=0)
        lines += [f"  {format_value(value):<{width}}  {count:>12,.0f} ± {margin:,.0f}" for value, count, margin in rows]
        if len(self.values) > SHOWN:
            lines.append(f"  and {len(self.values) - SHOWN:,} more values")
        return "\n".join(lines)


def project_to_simplex(counts: Sequence[float] | Numbers, total: float) -> Numbers:
    """Find the nearest nonnegative numbers with this sum.

    >>> project_to_simplex([5.0, -1.0, 2.0], 6.0).tolist()
    [4.5, 0.0, 1.5]
    """
    given = np.asarray(counts, dtype=np.float64)
    ordered = np.sort(given)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(ordered) + 1)
    kept = np.flatnonzero(ordered > excess)
    return np.asarray(np.maximum(given - excess[kept[-1] if len(kept) else -1], 0.0))


# An estimated mean with a confidence interval.


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
