"""What every mechanism of local differential privacy can do: encode, randomize, tally and estimate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.collecting.coins import ExactSampler, Whole
from sfumato.collecting.frequency_estimate import FrequencyEstimate
from sfumato.collecting.mean_estimate import MeanEstimate
from sfumato.collecting.randomized_response import DIFFERENT_VALUES, are_different, places_or_any, told_values
from sfumato.exceptions import SchemaError
from sfumato.validation import is_finite_number, require

if TYPE_CHECKING:
    from sfumato.table.frames import Column

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
