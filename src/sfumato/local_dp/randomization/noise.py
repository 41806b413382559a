"""Noise with a public distribution: what is added to a number before it leaves its owner."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import e, inf, log, log2, pi, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from sfumato._validation import check_confidence, is_finite_number, require
from sfumato.errors import SchemaError
from sfumato.local_dp._exact_sampling import ExactSampler

if TYPE_CHECKING:
    from sfumato.io._dataframes import Column

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Noise(ABC):
    """A public distribution of noise; see `UniformNoise`, `GaussianNoise` and `LaplaceNoise`."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """The smallest and the largest possible noise."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of the noise."""

    @property
    @abstractmethod
    def entropy(self) -> float:
        """The differential entropy of the noise, in bits."""

    @abstractmethod
    def quantile(self, shares: Numbers) -> Numbers:
        """Return the quantile of the noise at a share."""

    @abstractmethod
    def cdf_integral(self, at: Numbers) -> Numbers:
        """Integrate the distribution function from minus infinity, which gives exact probabilities of cells."""

    @abstractmethod
    def interval_privacy(self, confidence: float = 0.95) -> float:
        """Return the length of the shortest interval that contains the true value with this confidence."""

    def perturb(self, values: Column, *, secret: str | None = None) -> Numbers:
        """Add noise to numbers; it comes from the operating system unless a test gives a secret."""
        return self.perturb_from(check_finite(values), ExactSampler(secret))

    def perturb_from(self, numbers: Numbers, source: ExactSampler) -> Numbers:
        """Add noise drawn from a source of bits."""
        return np.asarray(numbers + self.quantile(source.uniform(len(numbers))), dtype=np.float64)

    @property
    def interquartile_range(self) -> float:
        """The interquartile range, which cells are compared with."""
        low, high = self.quantile(np.array([0.25, 0.75]))
        return float(high - low)


@dataclass(frozen=True, kw_only=True)
class UniformNoise(Noise):
    """Noise that is uniform between two bounds.

    >>> UniformNoise(low=-20, high=20).interval_privacy(0.95)
    38.0
    """

    name = "uniform"

    low: float
    high: float

    def __post_init__(self) -> None:
        require(is_finite_number(self.low), self, "low", "a number", self.low)
        require(is_finite_number(self.high) and self.high > self.low, self, "high", "a number above low", self.high)

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest possible noise."""
        return float(self.low), float(self.high)

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        return (self.high - self.low) ** 2 / 12

    @property
    def entropy(self) -> float:
        """The differential entropy of the noise, in bits."""
        return log2(self.high - self.low)

    def quantile(self, shares: Numbers) -> Numbers:
        """Return the quantile of the noise at a share."""
        return np.asarray(self.low + shares * (self.high - self.low), dtype=np.float64)

    def cdf_integral(self, at: Numbers) -> Numbers:
        """Integrate the distribution function from minus infinity."""
        inside = np.clip(at, self.low, self.high) - self.low
        return np.asarray(inside**2 / (2 * (self.high - self.low)) + np.maximum(at - self.high, 0), dtype=np.float64)

    def interval_privacy(self, confidence: float = 0.95) -> float:
        """Return the length of the shortest interval that contains the true value with this confidence."""
        check_confidence(self, confidence)
        return confidence * (self.high - self.low)


@dataclass(frozen=True, kw_only=True)
class ScaledNoise(Noise):
    """Noise of one shape around 0, as wide as its scale says, without bounds."""

    scale: float

    def __post_init__(self) -> None:
        require(is_finite_number(self.scale) and self.scale > 0, self, "scale", "a positive number", self.scale)

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest possible noise."""
        return -inf, inf


@dataclass(frozen=True, kw_only=True)
class GaussianNoise(ScaledNoise):
    """Normal noise around 0.

    >>> round(GaussianNoise(scale=1).interval_privacy(0.95), 2)
    3.92
    """

    name = "gaussian"

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        return self.scale**2

    @property
    def entropy(self) -> float:
        """The differential entropy of the noise, in bits."""
        return log2(self.scale * sqrt(2 * pi * e))

    def quantile(self, shares: Numbers) -> Numbers:
        """Return the quantile of the noise at a share."""
        from scipy.special import ndtri

        return np.asarray(self.scale * ndtri(shares), dtype=np.float64)

    def cdf_integral(self, at: Numbers) -> Numbers:
        """Integrate the distribution function from minus infinity."""
        from scipy.special import ndtr

        ratio = at / self.scale
        return np.asarray(at * ndtr(ratio) + self.scale * np.exp(-(ratio**2) / 2) / sqrt(2 * pi), dtype=np.float64)

    def interval_privacy(self, confidence: float = 0.95) -> float:
        """Return the length of the shortest interval that contains the true value with this confidence."""
        check_confidence(self, confidence)
        return 2 * float(self.quantile(np.array([(1 + confidence) / 2]))[0])


@dataclass(frozen=True, kw_only=True)
class LaplaceNoise(ScaledNoise):
    """Laplace noise around 0; drawn in floating point, so it blurs but is not differential privacy.

    >>> round(LaplaceNoise(scale=1).interval_privacy(0.95), 2)
    5.99
    """

    name = "laplace"

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        return 2 * self.scale**2

    @property
    def entropy(self) -> float:
        """The differential entropy of the noise, in bits."""
        return log2(2 * e * self.scale)

    def quantile(self, shares: Numbers) -> Numbers:
        """Return the quantile of the noise at a share."""
        centered = shares - 0.5
        return np.asarray(-self.scale * np.sign(centered) * np.log1p(-2 * np.abs(centered)), dtype=np.float64)

    def cdf_integral(self, at: Numbers) -> Numbers:
        """Integrate the distribution function from minus infinity."""
        tail = self.scale / 2 * np.exp(-np.abs(at) / self.scale)
        return np.asarray(np.maximum(at, 0) + tail, dtype=np.float64)

    def interval_privacy(self, confidence: float = 0.95) -> float:
        """Return the length of the shortest interval that contains the true value with this confidence."""
        check_confidence(self, confidence)
        return -2 * self.scale * log(1 - confidence)


NOISE_TYPES: dict[str, type[Noise]] = {kind.name: kind for kind in (UniformNoise, GaussianNoise, LaplaceNoise)}


def check_finite(values: Column, what: str = "The values") -> Numbers:
    """Return finite numbers; refuse anything else without repeating it."""
    given: Any = values
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise SchemaError(f"{what} must be numbers; noise cannot be added to anything else.") from None
    if numbers.ndim != 1:
        raise SchemaError(f"{what} must be one column of numbers.")
    lacking = int((~np.isfinite(numbers)).sum())
    if lacking:
        raise SchemaError(f"{what} have {lacking:,} missing or infinite cells; fill them or drop these rows.")
    return numbers
