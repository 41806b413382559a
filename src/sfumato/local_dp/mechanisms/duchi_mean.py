"""Duchi's mechanism for a mean: one bit per report."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.local_dp._exact_sampling import WORD_BITS, ExactSampler, Numbers, exp_lower_bound, round_probability
from sfumato.local_dp.mechanisms.base import MeanMechanism, Reports


@dataclass(frozen=True, kw_only=True)
class DuchiMean(MeanMechanism):
    r"""Report one bit whose probability of being 1 grows linearly with the value [1]_.

    For $t \in [-1, 1]$ the probability is $\tfrac12 + t (e^\varepsilon-1) / (2 (e^\varepsilon+1))$.
    Best for small epsilon; see `PiecewiseMean` for larger ones.

    References
    ----------
    .. [1] Duchi, Jordan, Wainwright, "Minimax optimal procedures for locally private estimation", JASA 113, 2018.
       https://doi.org/10.1080/01621459.2017.1389735

    Examples
    --------
    >>> round(DuchiMean(epsilon=1, low=-1, high=1).variance(0.3), 3)
    4.593
    """

    name = "duchi"
    columns = ("bit",)

    @cached_property
    def min_probability(self) -> Fraction:
        """The probability of a 1 at the lower bound; at the upper bound it is that of a 0."""
        return round_probability(1 / (exp_lower_bound(self.epsilon) + 1), up=True)

    @property
    def report_value(self) -> float:
        """The number that a 1 represents."""
        return 1 / (1 - 2 * float(self.min_probability))

    @property
    def report_domain_sizes(self) -> tuple[int, ...]:
        """A bit."""
        return (2,)

    def probabilities(self, encoded: Numbers) -> npt.NDArray[np.uint64]:
        """Return the probability of a 1 in steps of 2**-64, never outside what epsilon allows."""
        least = int(self.min_probability * (1 << WORD_BITS))
        wanted = 0.5 + encoded / self.report_value / 2
        below = np.nextafter(2.0**WORD_BITS, 0)  # the chance is never 1, but a float may be rounded to it
        steps = np.minimum(wanted * 2.0**WORD_BITS, below).astype(np.uint64)
        return np.clip(steps, np.uint64(least), np.uint64((1 << WORD_BITS) - least))

    def randomize(self, encoded: Numbers, source: ExactSampler) -> Reports:
        """Flip a coin for each value."""
        return source.bernoulli_each(self.probabilities(encoded)).astype(np.int64)[:, None]

    def debias(self, reports: Reports) -> Numbers:
        """Return the number that each bit represents."""
        return np.where(reports[:, 0] == 1, self.report_value, -self.report_value)

    def variance(self, value: float) -> float:
        """Return the variance of a report of a value between -1 and 1."""
        return self.report_value**2 - value**2
