"""RAPPOR: Bloom filters in cohorts, randomized once permanently and again in every report."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, log, log1p
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.errors import SchemaError
from sfumato.io._values import format_value
from sfumato.local_dp._exact_sampling import WORD_BITS, ExactSampler, Flags, Numbers, Whole, round_probability
from sfumato.local_dp.estimates import FrequencyEstimate
from sfumato.local_dp.mechanisms.base import LocalMechanism, Reports, Tally, check_domain
from sfumato.local_dp.randomization.randomized_response import places_or_any

if TYPE_CHECKING:
    from sfumato.io._dataframes import Column
    from sfumato.local_dp.mechanisms.base import Tally


MAX_BITS = 62
MAX_HASHES = 16  # bytes of an MD5 digest


@dataclass(frozen=True, kw_only=True)
class RAPPOR(LocalMechanism):
    r"""Put the value into a Bloom filter, randomize it once permanently (PRR), and again for every report (IRR) [1]_.

    Every bit of the filter is replaced by a fair coin with probability `f`; this is done once per client and kept, so
    that even endless reports reveal no more than $\varepsilon_\infty = 2h \ln \frac{1 - f/2}{f/2}$. A report has a 1
    with probability `q` if the kept bit is 1, and with probability `p` if it is 0.

    A client reports the first value it had in a `period` until that ends, also if its value changes: filters of changed
    values, and what they cost, would disclose that and when it changed. Another period costs again.

    Parameters
    ----------
    values : the candidates to decode; what is none of them is reported as one of them, drawn at random.
    bits, hashes, cohorts : the size of a filter, the bits that a value sets, and the number of ways to set them.
    f, p, q : the probabilities above.
    period : the name of the time for which a client keeps its first value, such as "2026".

    References
    ----------
    .. [1] Erlingsson, Pihur, Korolova, "RAPPOR: Randomized aggregatable privacy-preserving ordinal response", CCS 2014.
       https://doi.org/10.1145/2660267.2660348

    Examples
    --------
    >>> rappor = RAPPOR(values=["flu", "cold"])
    >>> round(rappor.epsilon, 3), round(rappor.epsilon_permanent, 3)
    (1.074, 4.394)
    """

    name = "rappor"
    columns = ("cohort", "filter")

    values: Sequence[Any]
    bits: int = 16
    hashes: int = 2
    cohorts: int = 64
    f: float = 0.5
    p: float = 0.5
    q: float = 0.75
    period: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", check_domain(self, self.values))
        good = is_integer(self.bits) and 1 <= self.bits <= MAX_BITS
        require(good, self, "bits", f"a whole number from 1 to {MAX_BITS}", self.bits)
        good = is_integer(self.hashes) and 1 <= self.hashes <= min(MAX_HASHES, self.bits)
        require(good, self, "hashes", f"a whole number from 1 to {min(MAX_HASHES, self.bits)}", self.hashes)
        good = is_integer(self.cohorts) and self.cohorts >= 1
        require(good, self, "cohorts", "a whole number of at least 1", self.cohorts)
        require(is_finite_number(self.f) and 0 <= self.f < 1, self, "f", "at least 0 and below 1", self.f)
        require(is_finite_number(self.p) and 0 < self.p < 1, self, "p", "between 0 and 1", self.p)
        require(isinstance(self.period, str), self, "period", "a text", type(self.period).__name__)
        require(is_finite_number(self.q) and self.p < self.q < 1, self, "q", "between p and 1", self.q)

    @property
    def epsilon(self) -> float:
        """The most that the first report may reveal."""
        return self.epsilon_after(1)

    @property
    def epsilon_permanent(self) -> float:
        """The most that all reports of a period together may reveal."""
        return float("inf") if self.f == 0 else 2 * self.hashes * log((1 - self.f / 2) / (self.f / 2))

    def epsilon_after(self, times: int) -> float:
        """Return the most that a number of reports of a period may reveal together.

        In the worst case all reports agree in every bit where two values differ: 1 in the bits of one and 0 in those of
        the other.
        """
        ones, zeros = (times * log(ratio) for ratio in (self.q / self.p, (1 - self.p) / (1 - self.q)))
        return self.hashes * (_log_ratio_after_noise(ones, self.f / 2) + _log_ratio_after_noise(zeros, self.f / 2))

    def privacy_loss(self, times: int) -> Fraction:
        """Return the epsilon of a number of reports, which is the same whether values change or not."""
        return Fraction(self.epsilon_after(times)) if times else Fraction(0)

    @property
    def report_domain_sizes(self) -> tuple[int, ...]:
        """A cohort, and the bits of a filter as one number."""
        return (self.cohorts, 1 << self.bits)

    @cached_property
    def bit_probabilities(self) -> tuple[Fraction, Fraction, Fraction]:
        """The probabilities f/2, p and q as they are drawn."""
        half, low, high = Fraction(self.f) / 2, Fraction(self.p), Fraction(self.q)
        return round_probability(half, up=True), round_probability(low, up=True), round_probability(high, up=False)

    @cached_property
    def filters(self) -> Flags:
        """The Bloom filter of every value in every cohort: bit j is set if it is the remainder of a byte of MD5."""
        filled = np.zeros((self.cohorts, len(self.values), self.bits), dtype=np.bool_)
        written = [format_value(value).encode() for value in self.values]
        for cohort in range(self.cohorts):
            prefix = cohort.to_bytes(4, "big")
            for at, word in enumerate(written):
                digest = hashlib.md5(prefix + word, usedforsecurity=False).digest()
                filled[cohort, at, [byte % self.bits for byte in digest[: self.hashes]]] = True
        return filled

    def encode(self, values: Column, source: ExactSampler) -> Whole:
        """Return the indices of values among the candidates; all others count as one of them, drawn at random."""
        return places_or_any(values, self.values, source)

    def randomize(self, encoded: Whole, source: ExactSampler) -> Reports:
        """Draw cohorts, randomize filters permanently, and report once."""
        cohorts = source.integers(self.cohorts, len(encoded))
        return self._instantaneous(cohorts, self._permanent(cohorts, encoded, source), source)

    def memorized(self, encoded: npt.NDArray[Any], source: ExactSampler) -> tuple[int, ...]:
        """Draw a cohort, and randomize the filter permanently."""
        cohort = source.integers(self.cohorts, 1)
        return int(cohort[0]), int(self._packed(self._permanent(cohort, encoded, source))[0])

    def report_once(self, encoded: npt.NDArray[Any], kept: tuple[int, ...], source: ExactSampler) -> Reports:  # noqa: ARG002 - the first value is kept
        """Randomize the permanent filter again."""
        cohort, number = kept
        permanent = (number >> np.arange(self.bits)) & 1 == 1
        return self._instantaneous(np.array([cohort]), permanent[None, :], source)

    def _permanent(self, cohorts: Whole, encoded: npt.NDArray[Any], source: ExactSampler) -> Flags:
        half, _, _ = self.bit_probabilities
        filters = self.filters[cohorts, encoded]
        blurred = source.bernoulli(2 * half, filters.shape)
        return np.where(blurred, source.bernoulli(Fraction(1, 2), filters.shape), filters)

    def _instantaneous(self, cohorts: Whole, permanent: Flags, source: ExactSampler) -> Reports:
        _, low, high = self.bit_probabilities
        bits = np.where(permanent, source.bernoulli(high, permanent.shape), source.bernoulli(low, permanent.shape))
        return np.stack([cohorts, self._packed(bits)], axis=1)

    def _packed(self, bits: Flags) -> Whole:
        packed = np.zeros((len(bits), WORD_BITS // 8), dtype=np.uint8)
        packed[:, : -(-self.bits // 8)] = np.packbits(bits, axis=1, bitorder="little")
        return packed.view("<u8")[:, 0].astype(np.int64)

    def tally(self, reports: Reports) -> Tally:
        """Count reports and ones of every cohort."""
        cohorts = reports[:, 0].astype(np.intp)
        counted = np.empty((self.cohorts, self.bits + 1), dtype=np.int64)
        counted[:, 0] = np.bincount(cohorts, minlength=self.cohorts)
        filters = reports[:, 1].astype(np.int64)
        for bit in range(self.bits):
            counted[:, bit + 1] = np.bincount(cohorts[(filters >> bit) & 1 == 1], minlength=self.cohorts)
        return counted

    def estimate(self, tally: Tally, reports: int, confidence: float) -> FrequencyEstimate:
        """Decode by regression; see `sfumato.local_dp.mechanisms.rappor`."""
        return decode_reports(self, tally, reports, confidence)


def _log_ratio_after_noise(ratio: float, half: float) -> float:
    """Return the log ratio of two likelihoods after a bit was flipped with some probability: it saturates."""
    if half == 0:
        return ratio
    turned = exp(-ratio)
    return log1p((1 - 2 * half) * (1 - turned) / (half + (1 - half) * turned))


# Decode RAPPOR: explain the bits of all cohorts by a few candidates.

MAX_CHOSEN = 500
CHOSEN_SHARE = 0.8


def decode_reports(rappor: RAPPOR, tally: Tally, reports: int, confidence: float) -> FrequencyEstimate:
    """Choose candidates by nonnegative least squares, and estimate the chosen ones by weighted least squares.

    Candidates that are not chosen get 0, with the variance that they would have had alone.
    """
    from scipy.optimize import nnls

    heard = np.flatnonzero(tally[:, 0])
    if not len(heard):
        raise SchemaError("No reports arrived; there is nothing to decode.")
    shares, weights = _bit_shares(rappor, tally[heard])
    design = rappor.filters[heard].transpose(0, 2, 1).reshape(-1, len(rappor.values)).astype(np.float64)
    weighted, target = design * weights[:, None], shares * weights
    gram = weighted.T @ weighted
    found, _ = nnls(weighted, target, maxiter=max(3 * design.shape[1], 1000))
    chosen = _select_candidates(found, len(target))
    estimates = np.zeros(len(rappor.values))
    information = np.maximum(np.diagonal(gram), np.finfo(float).tiny)
    variances = 1 / information
    if len(chosen):
        inverse = np.linalg.pinv(gram[np.ix_(chosen, chosen)])
        estimates[chosen] = inverse @ (weighted[:, chosen].T @ target)
        variances[chosen] = np.diagonal(inverse)
    return FrequencyEstimate(
        values=tuple(rappor.values),
        counts=estimates * reports,
        variances=variances * reports**2,
        reports=reports,
        confidence=confidence,
    )


def detect_candidates(estimate: FrequencyEstimate, alpha: float = 0.05) -> list[object]:
    """Return the candidates that are certainly present: the tests of all of them together err with chance `alpha`."""
    from scipy.special import ndtri

    limit = ndtri(1 - alpha / len(estimate.values))
    sure = estimate.counts > limit * np.sqrt(estimate.variances)
    return [estimate.values[at] for at in np.flatnonzero(sure)]


def _bit_shares(rappor: RAPPOR, tally: Tally) -> tuple[Numbers, Numbers]:
    """Estimate the share of clients of each cohort that set each bit, and one over its standard deviation."""
    half, low, high = map(float, rappor.bit_probabilities)
    unset = low * (1 - half) + high * half
    gain = (1 - 2 * half) * (high - low)
    members = tally[:, :1].astype(np.float64)
    rates = tally[:, 1:] / members
    smoothed = (tally[:, 1:] + 1) / (members + 2)
    deviations = np.sqrt(smoothed * (1 - smoothed) / members) / gain
    return ((rates - unset) / gain).ravel(), (1 / deviations).ravel()


def _select_candidates(found: Numbers, equations: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    most = max(1, min(MAX_CHOSEN, int(CHOSEN_SHARE * equations)))
    order = np.argsort(-found, kind="stable")[:most]
    return np.sort(order[found[order] > 0])
