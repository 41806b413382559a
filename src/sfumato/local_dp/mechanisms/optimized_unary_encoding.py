"""Optimized unary encoding: one noisy bit for every value of the domain."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from sfumato.local_dp._exact_sampling import ExactSampler, Whole, exp_lower_bound, round_probability
from sfumato.local_dp.mechanisms.base import FrequencyMechanism, Reports, Tally

BITS = 8
BLOCK = 1 << 22  # bits drawn at once


@dataclass(frozen=True, kw_only=True)
class OptimizedUnaryEncoding(FrequencyMechanism):
    r"""Send one noisy bit for every value (OUE) [1]_.

    The bit of the true value is 1 with probability 1/2, each other with probability $1 / (e^\varepsilon + 1)$.
    The variance does not grow with the domain, but the report does. Reports are packed, eight bits in a number.

    References
    ----------
    .. [1] Wang, Blocki, Li, Jha, "Locally differentially private protocols for frequency estimation", USENIX Security
       2017.

    Examples
    --------
    >>> from sfumato.local_dp.mechanisms.base import simulate_reports
    >>> oue = OptimizedUnaryEncoding(epsilon=1, values=list(range(20)))
    >>> simulate_reports(oue, [3, 4], secret="5f" * 32).shape
    (2, 3)
    """

    name = "oue"

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]  # as many as the domain needs
        """The packed bits."""
        return tuple(f"byte_{at}" for at in range(1, -(-self.size // BITS) + 1))

    @cached_property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """The probabilities that a report supports a value that is the client's, and one that is not."""
        return Fraction(1, 2), round_probability(1 / (exp_lower_bound(self.epsilon) + 1), up=True)

    @property
    def report_domain_sizes(self) -> tuple[int, ...]:
        """All bytes are full except the last one, whose lowest bits stay 0."""
        filled = (self.size - 1) % BITS + 1
        return (*((1 << BITS,) * (len(self.columns) - 1)), 256 - (1 << (BITS - filled)) + 1)

    def randomize(self, encoded: Whole, source: ExactSampler) -> Reports:
        """Draw all bits, and the bit of the true value with another coin."""
        own, other = self.support_probabilities
        found = np.empty((len(encoded), len(self.columns)), dtype=np.uint8)
        step = max(1, BLOCK // self.size)
        for start in range(0, len(encoded), step):
            codes = encoded[start : start + step]
            bits = source.bernoulli(other, (len(codes), self.size))
            bits[np.arange(len(codes)), codes] = source.bernoulli(own, (len(codes),))
            found[start : start + step] = np.packbits(bits, axis=1)
        return found

    def tally(self, reports: Reports) -> Tally:
        """Count the ones of every value."""
        counts = np.zeros(self.size, dtype=np.int64)
        step = max(1, BLOCK // self.size)
        for start in range(0, len(reports), step):
            part = reports[start : start + step].astype(np.uint8, copy=False)
            counts += np.unpackbits(part, axis=1, count=self.size).sum(axis=0, dtype=np.int64)
        return counts
