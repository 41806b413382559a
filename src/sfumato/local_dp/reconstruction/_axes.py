"""One attribute of a reconstruction: its cells, the bins of observations, and the exact probabilities between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sfumato._validation import require
from sfumato.errors import InvalidParameterError
from sfumato.local_dp._exact_sampling import Numbers, Whole
from sfumato.local_dp.randomization.noise import Noise, check_finite
from sfumato.local_dp.randomization.randomized_response import RandomizedResponse

if TYPE_CHECKING:
    from sfumato.io._dataframes import Column

MIN_EDGES = 2
BINS_PER_WIDTH = 4
TAIL = 1e-4
BLOCK = 1 << 20


class AttributeAxis(ABC):
    """The cells of one attribute, and the probabilities of the observations given each cell."""

    name: str

    @property
    @abstractmethod
    def cells(self) -> int:
        """The number of cells."""

    @property
    @abstractmethod
    def transition_matrix(self) -> Numbers:
        """The probability of observing bin j (row) if the true value is in cell i (column)."""

    @abstractmethod
    def assign_bins(self, observed: Column) -> Whole:
        """Return the bin of every observation; -1 if no true value could have led to it."""

    @property
    @abstractmethod
    def labels(self) -> list[str]:
        """The names of the cells."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NumericAxis(AttributeAxis):
    """A numeric attribute with noise: cells between edges, uniform within.

    Observations are put into bins a few times finer than cells and noise; the outermost bins are open if the noise
    is unbounded. Probabilities are integrals over cell and bin, so noise may be narrower than a cell.
    """

    name: str
    noise: Noise
    edges: Numbers
    most_bins: int

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.edges) - 1

    @cached_property
    def observable_range(self) -> tuple[float, float]:
        """The range that can be observed, except for tails."""
        low, high = self.noise.support
        tails = self.noise.quantile(np.array([TAIL, 1 - TAIL]))
        low, high = (bound if isfinite(bound) else tail for bound, tail in zip((low, high), tails, strict=True))
        return float(self.edges[0] + low), float(self.edges[-1] + high)

    @cached_property
    def bins(self) -> int:
        """The number of bins between the ends of that range."""
        low, high = self.observable_range
        finest = min(float(np.diff(self.edges).min()), self.noise.interquartile_range)
        return int(np.clip(np.ceil(BINS_PER_WIDTH * (high - low) / finest), self.cells, self.most_bins))

    @cached_property
    def transition_matrix(self) -> Numbers:
        """The probability of observing bin j (row) if the true value is in cell i (column)."""
        below = self.probability_below(np.linspace(*self.observable_range, self.bins + 1))
        below[0], below[-1] = 0.0, 1.0
        return np.maximum(np.diff(below, axis=0), 0.0)

    def probability_below(self, cuts: Numbers) -> Numbers:
        """Return the probability of observing less than each cut (row) if the true value is in a cell (column)."""
        integral = self.noise.cdf_integral(cuts[:, None] - self.edges[None, :])
        return np.asarray(-np.diff(integral, axis=1) / np.diff(self.edges), dtype=np.float64)

    def assign_bins(self, observed: Column) -> Whole:
        """Return the bin of every observation; -1 if no true value could have led to it."""
        numbers = check_finite(observed, f"The observations of {self.name!r}" if self.name else "The observations")
        low, high = self.observable_range
        scale = self.bins / (high - low)
        bounded = isfinite(self.noise.support[0]), isfinite(self.noise.support[1])
        found = np.empty(len(numbers), dtype=np.int64)
        for start in range(0, len(numbers), BLOCK):
            part = numbers[start : start + BLOCK]
            bins = np.clip((part - low) * scale, 0, self.bins - 1).astype(np.int64)
            if bounded[0]:
                bins[part < low] = -1
            if bounded[1]:
                bins[part > high] = -1
            found[start : start + BLOCK] = bins
        return found

    @property
    def labels(self) -> list[str]:
        """The names of the cells."""
        return [f"{low:g} to {high:g}" for low, high in zip(self.edges[:-1], self.edges[1:], strict=True)]


@dataclass(frozen=True, kw_only=True, eq=False)
class CategoricalAxis(AttributeAxis):
    """An attribute with randomized response: cells are values, and so are bins."""

    name: str
    response: RandomizedResponse

    @property
    def cells(self) -> int:
        """The number of values."""
        return len(self.response.values)

    @cached_property
    def transition_matrix(self) -> Numbers:
        """The probability of report j (row) if the true value is i (column)."""
        return self.response.transition_matrix.T.copy()

    def assign_bins(self, observed: Column) -> Whole:
        """Return the index of every report."""
        codes = self.response.codes(observed, f"The reports of {self.name!r}" if self.name else "The reports")
        impossible = self.transition_matrix.sum(axis=1) == 0
        return np.where(impossible[codes], -1, codes)

    @property
    def labels(self) -> list[str]:
        """The names of the values."""
        from sfumato.io._values import format_value

        return [format_value(value) for value in self.response.values]


def make_axis(name: str, how: object, edges: object, most_bins: int) -> AttributeAxis:
    """Describe one attribute."""
    if isinstance(how, RandomizedResponse):
        require(edges is None, "reconstruct", "edges", "left out for randomized response", "edges")
        return CategoricalAxis(name=name, response=how)
    if not isinstance(how, Noise):
        raise InvalidParameterError(
            f"reconstruct.noise must be UniformNoise, GaussianNoise, LaplaceNoise or RandomizedResponse; "
            f"got {type(how).__name__}."
        )
    return NumericAxis(name=name, noise=how, edges=_edges(edges), most_bins=most_bins)


def _edges(edges: object) -> Numbers:
    given: Any = edges
    sequence = isinstance(given, Sequence | np.ndarray) and not isinstance(given, str)
    require(sequence, "reconstruct", "edges", "a list of public edges of cells, in increasing order", edges)
    try:
        cuts: npt.NDArray[np.float64] = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        cuts = np.zeros(0)
    good = cuts.ndim == 1 and len(cuts) >= MIN_EDGES and bool(np.isfinite(cuts).all() and (np.diff(cuts) > 0).all())
    require(good, "reconstruct", "edges", "a list of public edges of cells, in increasing order", "something else")
    return cuts
