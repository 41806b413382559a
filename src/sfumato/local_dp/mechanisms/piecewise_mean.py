"""The piecewise mechanism for a mean: a number close to the value, or anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, exp
from typing import ClassVar

import numpy as np

from sfumato.local_dp._exact_sampling import ExactSampler, Numbers, Whole, exp_lower_bound, round_probability
from sfumato.local_dp.mechanisms.base import MeanMechanism, Reports


@dataclass(frozen=True, kw_only=True)
class PiecewiseMean(MeanMechanism):
    r"""Report a cell in a window around the value with high probability, and otherwise one outside it [1]_.

    With $C = (e^{\varepsilon/2}+1) / (e^{\varepsilon/2}-1)$ the cells are $2^{32}$ parts of $[-C, C]$, the same for
    everybody: the last digits of a real number would reveal where the window was. Better than `DuchiMean` for epsilon
    above about 1.3, and below that for small values.

    References
    ----------
    .. [1] Wang et al., "Collecting and analyzing multidimensional data with local differential privacy", ICDE 2019.
       https://doi.org/10.1109/ICDE.2019.00063

    Examples
    --------
    >>> round(PiecewiseMean(epsilon=1, low=-1, high=1).variance(0.3), 3)
    3.821
    """

    name = "piecewise"
    columns = ("cell",)
    cells: ClassVar[int] = 1 << 32

    @cached_property
    def window(self) -> int:
        """The number of cells of the window."""
        return ceil(self.cells / (exp_lower_bound(Fraction(self.epsilon) / 2) + 1))

    @cached_property
    def window_probability(self) -> Fraction:
        """The probability of a cell in the window: at most e to the epsilon times that of any other cell."""
        weight = exp_lower_bound(self.epsilon) * self.window
        return round_probability(weight / (weight + self.cells - self.window), up=False)

    @property
    def report_domain_sizes(self) -> tuple[int, ...]:
        """A cell."""
        return (self.cells,)

    def window_starts(self, encoded: Numbers) -> Whole:
        """Return the first cell of each window."""
        return np.rint((encoded + 1) / 2 * (self.cells - self.window)).astype(np.int64)

    def randomize(self, encoded: Numbers, source: ExactSampler) -> Reports:
        """Draw a cell of the window, or one of the others."""
        starts, count = self.window_starts(encoded), len(encoded)
        near = source.bernoulli(self.window_probability, (count,))
        within = starts + source.integers(self.window, count)
        outside = source.integers(self.cells - self.window, count)
        outside += np.where(outside >= starts, self.window, 0)
        return np.where(near, within, outside)[:, None]

    def debias(self, reports: Reports) -> Numbers:
        """Return the number that each cell represents, so that the mean of reports is the value."""
        others = self.cells - self.window
        pull = float(self.window_probability - (1 - self.window_probability) * self.window / others)
        centered = reports[:, 0] - (self.cells - 1) / 2
        return np.asarray(centered / (others / 2 * pull), dtype=np.float64)

    @property
    def max_report(self) -> float:
        """The largest number that a report can represent."""
        return (exp(self.epsilon / 2) + 1) / (exp(self.epsilon / 2) - 1)

    def variance(self, value: float) -> float:
        """Return the variance of a report of a value between -1 and 1."""
        root = exp(self.epsilon / 2)
        return value**2 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
