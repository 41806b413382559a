"""What the mechanisms for means share: public bounds, and how reports are tallied."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.collecting.coins import ExactSampler, Numbers
from sfumato.collecting.local_mechanism import LocalMechanism, Reports, Tally, check_epsilon, exact_fraction
from sfumato.collecting.mean_estimate import MeanEstimate
from sfumato.exceptions import SchemaError
from sfumato.validation import is_finite_number, require

if TYPE_CHECKING:
    from sfumato.table.frames import Column

MIN_REPORTS = 2
NARROWEST = 1e-150  # the squares of smaller distances are no numbers any more


@dataclass(frozen=True, kw_only=True)
class MeanMechanism(LocalMechanism):
    """A mechanism that estimates the mean of numbers between public bounds.

    Parameters
    ----------
    epsilon : the most that one report may reveal.
    low, high : bounds that do not come from the data; numbers beyond them are clipped, and what is no number counts as
        their middle.
    """

    epsilon: float
    low: float
    high: float

    def __post_init__(self) -> None:
        check_epsilon(self, self.epsilon)
        require(is_finite_number(self.low), self, "low", "a public bound, a number", self.low)
        require(
            is_finite_number(self.high) and self.high > self.low, self, "high", "a public bound above low", self.high
        )
        apart = isfinite(self.high - self.low) and self.high - self.low >= NARROWEST
        require(apart, self, "high", f"at least {NARROWEST:g} above low, and no infinite distance", self.high)

    def encode(self, values: Column, source: ExactSampler) -> Numbers:  # noqa: ARG002 - nothing is drawn
        """Scale numbers to the range from -1 to 1; nothing is refused because of a value."""
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise SchemaError("The values must be a column; put a single value into a list.")
        clipped = np.clip(_numbers(values), self.low, self.high)
        scaled = np.clip((clipped - self.low) / (self.high - self.low) * 2 - 1, -1, 1)
        return np.where(np.isnan(scaled), 0.0, scaled)

    def privacy_loss(self, times: int) -> Fraction:
        """Add up: every report costs epsilon."""
        return times * exact_fraction(self.epsilon)

    @abstractmethod
    def debias(self, reports: Reports) -> Numbers:
        """Return the unbiased number that each report represents, on average about -1 to 1."""

    @abstractmethod
    def variance(self, value: float) -> float:
        """Return the variance of a report of a value between -1 and 1, on that scale."""

    def tally(self, reports: Reports) -> Tally:
        """Sum numbers and squares."""
        numbers = self.debias(reports)
        return np.array([numbers.sum(), (numbers**2).sum()])

    def estimate(self, tally: Tally, reports: int, confidence: float) -> MeanEstimate:
        """Compute the mean, and its observed variance."""
        if reports < MIN_REPORTS:
            raise SchemaError(f"A mean needs at least {MIN_REPORTS} reports, but only {reports} arrived.")
        mean = tally[0] / reports
        spread = max(float(tally[1] / reports - mean**2), 0.0) / (reports - 1)
        half = (self.high - self.low) / 2
        return MeanEstimate(
            mean=float(self.low + half * (mean + 1)), variance=half**2 * spread, reports=reports, confidence=confidence
        )


def _numbers(values: Any) -> Numbers:
    """Return numbers, and NaN for whatever is none."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except Exception:  # noqa: BLE001 - whatever a value does, its report leaves
        numbers = np.zeros(0)
    return numbers if numbers.shape == (len(values),) else np.array([_number(value) for value in values])


def _number(value: Any) -> float:
    try:
        return float(value.as_py() if hasattr(value, "as_py") else value)
    except Exception:  # noqa: BLE001 - the same
        return nan
