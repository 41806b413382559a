"""Generalized randomized response: the true value or any other one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from sfumato.local_dp._exact_sampling import ExactSampler, Whole, exp_lower_bound, round_probability
from sfumato.local_dp.mechanisms.base import FrequencyMechanism, Reports, Tally


@dataclass(frozen=True, kw_only=True)
class GeneralizedRandomizedResponse(FrequencyMechanism):
    r"""Report the true value with probability $e^\varepsilon / (e^\varepsilon + d - 1)$, else any other one (GRR) [1]_.

    The best choice for small domains, $d < 3 e^\varepsilon + 2$. The probability is rounded down to a multiple of
    $2^{-64}$, so no report ever reveals more than epsilon.

    References
    ----------
    .. [1] Wang, Blocki, Li, Jha, "Locally differentially private protocols for frequency estimation", USENIX Security
       2017.

    Examples
    --------
    >>> from sfumato.local_dp.mechanisms.base import simulate_reports
    >>> grr = GeneralizedRandomizedResponse(epsilon=1, values=["yes", "no"])
    >>> simulate_reports(grr, ["yes", "no", "no"], secret="5f" * 32).shape
    (3, 1)
    """

    name = "grr"
    columns = ("value",)

    @cached_property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """The probabilities that a report supports a value that is the client's, and one that is not."""
        ratio = exp_lower_bound(self.epsilon)
        own = round_probability(ratio / (ratio + self.size - 1), up=False)
        return own, (1 - own) / (self.size - 1)

    @property
    def report_domain_sizes(self) -> tuple[int, ...]:
        """A report is the index of a value."""
        return (self.size,)

    def randomize(self, encoded: Whole, source: ExactSampler) -> Reports:
        """Keep the index of the value, or draw another one."""
        kept = source.bernoulli(self.support_probabilities[0], (len(encoded),))
        others = source.integers(self.size - 1, len(encoded))
        others += others >= encoded
        return np.where(kept, encoded, others)[:, None]

    def tally(self, reports: Reports) -> Tally:
        """Count the reports of every value."""
        return np.bincount(reports[:, 0].astype(np.intp), minlength=self.size)
