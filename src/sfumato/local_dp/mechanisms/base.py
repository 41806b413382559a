"""What every mechanism of local differential privacy can do: encode, randomize, tally and estimate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, require
from sfumato.errors import SchemaError
from sfumato.local_dp._exact_sampling import ExactSampler, Numbers, Whole
from sfumato.local_dp.estimates import FrequencyEstimate, MeanEstimate
from sfumato.local_dp.randomization.randomized_response import (
    DIFFERENT_VALUES,
    are_different,
    places_or_any,
    told_values,
)

if TYPE_CHECKING:
    from sfumato.io._dataframes import Column


Reports = npt.NDArray[Any]
Tally = npt.NDArray[Any]
Estimate = FrequencyEstimate | MeanEstimate

MAX_EPSILON = 40


@dataclass(frozen=True, kw_only=True)
class ClientMemory:
    """What a client keeps between reports: how many it made, and what the first one drew for all others."""

    reports: int = 0
    kept: tuple[int, ...] = ()


class LocalMechanism(ABC):
    """A public agreement between clients and a server; see `LocalClient` and `LocalServer`."""

    name: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]

    @abstractmethod
    def encode(self, values: Column, source: ExactSampler) -> npt.NDArray[Any]:
        """Convert values to numbers; nothing is refused because of a value, for silence would disclose it."""

    @abstractmethod
    def randomize(self, encoded: npt.NDArray[Any], source: ExactSampler) -> Reports:
        """Make one report for each of many clients, one row each."""

    @abstractmethod
    def tally(self, reports: Reports) -> Tally:
        """Tally reports; tallies of two batches can be added."""

    @abstractmethod
    def estimate(self, tally: Tally, reports: int, confidence: float) -> Estimate:
        """Estimate from a tally."""

    @abstractmethod
    def privacy_loss(self, times: int) -> Fraction:
        """Return the total epsilon of a number of reports, whatever their values are."""

    @property
    @abstractmethod
    def report_domain_sizes(self) -> tuple[int, ...]:
        """The number of values that each column of a report can have, from 0."""

    def memorized(self, encoded: npt.NDArray[Any], source: ExactSampler) -> tuple[int, ...]:  # noqa: ARG002 - for those that memoize
        """Draw what all reports of one client are made from: nothing, unless a mechanism memoizes."""
        return ()

    def report_once(self, encoded: npt.NDArray[Any], kept: tuple[int, ...], source: ExactSampler) -> Reports:  # noqa: ARG002 - the same
        """Make the next report of one client."""
        return self.randomize(encoded, source)

    def validate_reports(self, reports: Column) -> Reports:
        """Refuse reports that no client of this mechanism sends."""
        given: Any = reports
        try:
            rows = np.asarray(given)
            rows = rows.reshape(1, -1) if rows.ndim == 1 and len(self.columns) == rows.size else rows
            rows = rows.reshape(-1, 1) if rows.ndim == 1 and len(self.columns) == 1 else rows
        except (TypeError, ValueError):
            raise SchemaError(f"The reports must be rows of {len(self.columns)} whole numbers.") from None
        if rows.ndim != 2 or rows.shape[1] != len(self.columns) or rows.dtype.kind not in "iu":  # noqa: PLR2004 - rows and columns
            raise SchemaError(f"The reports must be rows of {len(self.columns)} whole numbers.")
        for at, most in enumerate(self.report_domain_sizes):
            column = rows[:, at]
            if len(column) and (column.min() < 0 or int(column.max()) >= most):
                raise SchemaError(f"Some reports have a {self.columns[at]} that no client sends; none was counted.")
        return rows


@dataclass(frozen=True, kw_only=True)
class FrequencyMechanism(LocalMechanism):
    """A mechanism that estimates how many clients have each value of a public domain.

    Parameters
    ----------
    epsilon : the most that one report may reveal.
    values : all possible values, fixed beforehand; what is missing or none of them is reported as one of them, drawn
        at random, so that reports of a value such as "other" are worth adding.
    """

    epsilon: float
    values: Sequence[Any]

    def __post_init__(self) -> None:
        check_epsilon(self, self.epsilon)
        object.__setattr__(self, "values", check_domain(self, self.values))

    def encode(self, values: Column, source: ExactSampler) -> Whole:
        """Return the indices of values in the domain; all others count as one of them, drawn at random."""
        return places_or_any(values, self.values, source)

    def privacy_loss(self, times: int) -> Fraction:
        """Add up: every report costs epsilon."""
        return times * exact_fraction(self.epsilon)

    @cached_property
    def size(self) -> int:
        """The number of values of the domain."""
        return len(self.values)

    @property
    @abstractmethod
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """The probabilities that a report supports a value that is the client's, and one that is not."""

    def variance(self, reports: int, share: float = 0.0) -> float:
        """Return the variance of the estimated count of a value that a share of the clients have."""
        own, other = map(float, self.support_probabilities)
        spread = share * own * (1 - own) + (1 - share) * other * (1 - other)
        return reports * spread / (own - other) ** 2

    def estimate(self, tally: Tally, reports: int, confidence: float) -> FrequencyEstimate:
        """Subtract the expected support by chance from the counted one."""
        own, other = map(float, self.support_probabilities)
        counts = (tally - reports * other) / (own - other)
        shares = np.clip(counts / max(reports, 1), 0, 1)
        variances = np.array([self.variance(reports, share) for share in shares])
        return FrequencyEstimate(
            values=tuple(self.values), counts=counts, variances=variances, reports=reports, confidence=confidence
        )


def simulate_reports(mechanism: LocalMechanism, values: Column, *, secret: str | None = None) -> Reports:
    """Make the reports of many clients at once, one per value: for tests, plans and benchmarks.

    Every row is distributed exactly like the first report of a `LocalClient`. No budget is kept.
    """
    source = ExactSampler(secret)
    return mechanism.randomize(mechanism.encode(values, source), source)


def check_epsilon(owner: object, epsilon: object) -> None:
    """Refuse an epsilon that is not positive, or so large that it promises nothing."""
    good = isinstance(epsilon, int | float) and is_finite_number(epsilon) and 0 < epsilon <= MAX_EPSILON
    require(good, owner, "epsilon", f"a positive number of at most {MAX_EPSILON}", epsilon)


def check_domain(owner: object, values: object) -> tuple[Any, ...]:
    """Refuse a domain that is not a list of different values."""
    listed: Any = values
    good = isinstance(listed, Sequence | np.ndarray) and not isinstance(listed, str)
    domain = tuple(listed) if good else ()
    require(are_different(domain), owner, "values", DIFFERENT_VALUES, told_values(domain))
    return domain


def exact_fraction(number: float) -> Fraction:
    """Convert a number to the exact decimal it is written as, so that three times 0.1 is 0.3.

    >>> 3 * exact_fraction(0.1) == exact_fraction(0.3)
    True
    """
    return Fraction(repr(float(number)))


# What the mechanisms for means share: public bounds, and how reports are tallied.

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
