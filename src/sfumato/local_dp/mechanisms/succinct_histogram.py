"""Succinct histogram: one noisy bit of a random projection of the value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from sfumato._validation import is_integer, require
from sfumato.local_dp._exact_sampling import ExactSampler, Whole, exp_lower_bound, round_probability
from sfumato.local_dp.estimates import FrequencyEstimate
from sfumato.local_dp.mechanisms._hashing import Words, fingerprint_values, project_onto_signs, random_signs
from sfumato.local_dp.mechanisms.base import FrequencyMechanism, Reports, Tally


@dataclass(frozen=True, kw_only=True)
class SuccinctHistogram(FrequencyMechanism):
    r"""Project the true value to random signs, and report one of them [1]_.

    The sign is kept with probability $e^\varepsilon / (e^\varepsilon + 1)$ and flipped otherwise.
    A report is the index of a sign and one bit, whatever the domain. The random matrix is public and never stored: its
    entries are hashes. Columns of it are only nearly orthogonal, which adds variance of about the sum of squared counts
    over `rows`; the intervals account for that.

    Parameters
    ----------
    rows : the number of signs that a value is projected to.
    public_seed : which random matrix; client and server must agree.

    References
    ----------
    .. [1] Bassily, Smith, "Local, private, efficient protocols for succinct histograms", STOC 2015.
       https://doi.org/10.1145/2746539.2746632

    Examples
    --------
    >>> SuccinctHistogram(epsilon=1, values=["a", "b"]).report_domain_sizes
    (65536, 2)
    """

    name = "succinct-histogram"
    columns = ("row", "bit")

    rows: int = 1 << 16
    public_seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(is_integer(self.rows) and self.rows >= 1, self, "rows", "a whole number of at least 1", self.rows)
        good = is_integer(self.public_seed) and 0 <= self.public_seed < 1 << 63
        require(good, self, "public_seed", "a nonnegative whole number of at most 63 bits", self.public_seed)

    @cached_property
    def p(self) -> Fraction:
        """The probability of reporting the sign unchanged."""
        ratio = exp_lower_bound(self.epsilon)
        return round_probability(ratio / (ratio + 1), up=False)

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """The probabilities that a report agrees with the column of the client's value, and with that of another."""
        return self.p, Fraction(1, 2)

    @property
    def report_domain_sizes(self) -> tuple[int, ...]:
        """An index, and a bit."""
        return (self.rows, 2)

    @cached_property
    def fingerprints(self) -> Words:
        """The fingerprints of the domain."""
        return fingerprint_values(self.values)

    @property
    def matrix_seed(self) -> np.uint64:
        """The public seed, spread over all bits."""
        return np.uint64((self.public_seed * 0x9E3779B97F4A7C15 + 0x2545F4914F6CDD1D) % (1 << 64))

    def randomize(self, encoded: Whole, source: ExactSampler) -> Reports:
        """Draw an index, and keep or flip the sign there."""
        rows = source.integers(self.rows, len(encoded))
        own = random_signs(rows, self.fingerprints[encoded], self.matrix_seed) > 0
        kept = source.bernoulli(self.p, (len(encoded),))
        return np.stack([rows, (own == kept).astype(np.int64)], axis=1)

    def tally(self, reports: Reports) -> Tally:
        """Sum the signs reported at every index."""
        rows, bits = (reports[:, at].astype(np.intp) for at in (0, 1))
        ones = np.bincount(rows[bits == 1], minlength=self.rows)
        return 2 * ones - np.bincount(rows, minlength=self.rows)

    def estimate(self, tally: Tally, reports: int, confidence: float) -> FrequencyEstimate:
        """Multiply the sums by the column of each value."""
        scale = 1 / (2 * float(self.p) - 1)
        counts = scale * project_onto_signs(tally, self.fingerprints, self.matrix_seed)
        noise = reports * scale**2
        squares = np.clip((counts**2 - noise).sum(), 0, float(reports) ** 2)
        variances = noise - np.clip(counts, 0, reports) + squares / self.rows
        return FrequencyEstimate(
            values=tuple(self.values), counts=counts, variances=variances, reports=reports, confidence=confidence
        )
