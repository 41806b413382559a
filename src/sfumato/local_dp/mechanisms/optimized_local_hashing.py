"""Optimized local hashing: a noisy hash of the value, with a hash function of the client's own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from sfumato.local_dp._exact_sampling import ExactSampler, Whole, exp_lower_bound, round_probability
from sfumato.local_dp.mechanisms._hashing import Words, count_supports, fingerprint_values, hash_to_buckets
from sfumato.local_dp.mechanisms.base import FrequencyMechanism, Reports, Tally


@dataclass(frozen=True, kw_only=True)
class OptimizedLocalHashing(FrequencyMechanism):
    r"""Hash the true value to a few buckets with a fresh seed, and report one of them (OLH) [1]_.

    There are $g = \lfloor e^\varepsilon \rceil + 1$ buckets, and the right one is reported with probability
    $e^\varepsilon / (e^\varepsilon + g - 1)$.
    As precise as unary encoding, with two numbers per report whatever the domain. The server hashes the whole domain
    for every report. A value that is not the client's is supported with probability $1/g$.

    References
    ----------
    .. [1] Wang, Blocki, Li, Jha, "Locally differentially private protocols for frequency estimation", USENIX Security
       2017.

    Examples
    --------
    >>> OptimizedLocalHashing(epsilon=1, values=list(range(1000))).buckets
    4
    """

    name = "olh"
    columns = ("seed", "bucket")

    @cached_property
    def buckets(self) -> int:
        """The number of buckets of a hash."""
        return round(exp_lower_bound(self.epsilon)) + 1

    @cached_property
    def p(self) -> Fraction:
        """The probability of reporting the bucket of the true value."""
        ratio = exp_lower_bound(self.epsilon)
        return round_probability(ratio / (ratio + self.buckets - 1), up=False)

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """The probabilities that a report supports a value that is the client's, and one that is not."""
        return self.p, Fraction(1, self.buckets)

    @property
    def report_domain_sizes(self) -> tuple[int, ...]:
        """Seeds have 63 bits, so that every table can store them."""
        return (1 << 63, self.buckets)

    @cached_property
    def fingerprints(self) -> Words:
        """The fingerprints of the domain."""
        return fingerprint_values(self.values)

    def randomize(self, encoded: Whole, source: ExactSampler) -> Reports:
        """Draw a seed, hash, and keep the bucket or draw another one."""
        seeds = source.random_uint64(len(encoded)) >> np.uint64(1)
        buckets = hash_to_buckets(seeds, self.fingerprints[encoded], self.buckets)
        others = source.integers(self.buckets - 1, len(encoded))
        others += others >= buckets
        answers = np.where(source.bernoulli(self.p, (len(encoded),)), buckets, others)
        return np.stack([seeds.astype(np.int64), answers], axis=1)

    def tally(self, reports: Reports) -> Tally:
        """Count for every value the reports with its bucket."""
        words = reports.astype(np.uint64, copy=False)
        seeds, answers = np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1])
        return count_supports(seeds, answers, self.fingerprints, self.buckets)
