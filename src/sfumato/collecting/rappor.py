"""RAPPOR: Bloom filters in cohorts, randomized once permanently and again in every report."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, log, log1p
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sfumato.collecting.coins import WORD_BITS, BitSource, Flags, Whole, rounded_chance
from sfumato.collecting.frequency_estimate import FrequencyEstimate
from sfumato.collecting.local_mechanism import (
    ClientMemory,
    LocalMechanism,
    Reports,
    Tally,
    check_domain,
)
from sfumato.collecting.randomized_response import places
from sfumato.table.values import text
from sfumato.validation import is_number, is_whole, require

if TYPE_CHECKING:
    from sfumato.table.frames import Column

MOST_BITS = 62
MOST_HASHES = 16  # bytes of an MD5 digest
DIGEST_WORDS = 4  # 64-bit words of a SHA-256 digest


@dataclass(frozen=True, kw_only=True)
class Rappor(LocalMechanism):
    r"""Put the value into a Bloom filter, randomize it once permanently (PRR), and again for every report (IRR) [1]_.

    Every bit of the filter is replaced by a fair coin with probability `f`; this is done once per value and kept, so
    that even endless reports of it reveal no more than $\varepsilon_\infty = 2h \ln \frac{1 - f/2}{f/2}$. A report has
    a 1 with probability `q` if the kept bit is 1, and with probability `p` if it is 0. It is not hidden *that* a
    client's value changed: every value has a filter of its own, and costs again.

    Parameters
    ----------
    values : the candidates to decode; clients may have only these.
    bits, hashes, cohorts : the size of a filter, the bits that a value sets, and the number of ways to set them.
    f, p, q : the probabilities above.

    References
    ----------
    .. [1] Erlingsson, Pihur, Korolova, "RAPPOR: Randomized aggregatable privacy-preserving ordinal response", CCS 2014.
       https://doi.org/10.1145/2660267.2660348

    Examples
    --------
    >>> rappor = Rappor(values=["flu", "cold"])
    >>> round(rappor.epsilon, 3), round(rappor.epsilon_forever, 3)
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", check_domain(self, self.values))
        good = is_whole(self.bits) and 1 <= self.bits <= MOST_BITS
        require(good, self, "bits", f"a whole number from 1 to {MOST_BITS}", self.bits)
        good = is_whole(self.hashes) and 1 <= self.hashes <= min(MOST_HASHES, self.bits)
        require(good, self, "hashes", f"a whole number from 1 to {min(MOST_HASHES, self.bits)}", self.hashes)
        good = is_whole(self.cohorts) and self.cohorts >= 1
        require(good, self, "cohorts", "a whole number of at least 1", self.cohorts)
        require(is_number(self.f) and 0 <= self.f < 1, self, "f", "at least 0 and below 1", self.f)
        require(is_number(self.p) and 0 < self.p < 1, self, "p", "between 0 and 1", self.p)
        require(is_number(self.q) and self.p < self.q < 1, self, "q", "between p and 1", self.q)

    @property
    def epsilon(self) -> float:
        """The most that the first report of a value may reveal."""
        return self.epsilon_after(1)

    @property
    def epsilon_forever(self) -> float:
        """The most that all reports of one value together may reveal."""
        return float("inf") if self.f == 0 else 2 * self.hashes * log((1 - self.f / 2) / (self.f / 2))

    def epsilon_after(self, times: int) -> float:
        """Return the most that a number of reports of one value may reveal together.

        In the worst case all reports agree in every bit where two values differ: 1 in the bits of one and 0 in those of
        the other.
        """
        ones, zeros = (times * log(ratio) for ratio in (self.q / self.p, (1 - self.p) / (1 - self.q)))
        return self.hashes * (_blurred(ones, self.f / 2) + _blurred(zeros, self.f / 2))

    def loss(self, times: int) -> Fraction:
        """Return the epsilon of a number of reports of one value."""
        return Fraction(self.epsilon_after(times)) if times else Fraction(0)

    @property
    def ranges(self) -> tuple[int, ...]:
        """A cohort, and the bits of a filter as one number."""
        return (self.cohorts, 1 << self.bits)

    @cached_property
    def chances(self) -> tuple[Fraction, Fraction, Fraction]:
        """The probabilities f/2, p and q as they are drawn."""
        half, low, high = Fraction(self.f) / 2, Fraction(self.p), Fraction(self.q)
        return rounded_chance(half, up=True), rounded_chance(low, up=True), rounded_chance(high, up=False)

    @cached_property
    def filters(self) -> Flags:
        """The Bloom filter of every value in every cohort: bit j is set if it is the remainder of a byte of MD5."""
        filled = np.zeros((self.cohorts, len(self.values), self.bits), dtype=np.bool_)
        written = [text(value).encode() for value in self.values]
        for cohort in range(self.cohorts):
            prefix = cohort.to_bytes(4, "big")
            for at, word in enumerate(written):
                digest = hashlib.md5(prefix + word, usedforsecurity=False).digest()
                filled[cohort, at, [byte % self.bits for byte in digest[: self.hashes]]] = True
        return filled

    def encode(self, values: Column) -> Whole:
        """Return the indices of values among the candidates."""
        return places(values, self.values)

    def randomize(self, encoded: Whole, source: BitSource) -> Reports:
        """Draw cohorts, randomize filters permanently, and report once."""
        half, _, _ = self.chances
        cohorts = source.below(self.cohorts, len(encoded))
        filters = self.filters[cohorts, encoded]
        blurred = source.coins(2 * half, filters.shape)
        permanent = np.where(blurred, source.coins(Fraction(1, 2), filters.shape), filters)
        return self._instantaneous(cohorts, permanent, source)

    def _instantaneous(self, cohorts: Whole, permanent: Flags, source: BitSource) -> Reports:
        _, low, high = self.chances
        bits = np.where(permanent, source.coins(high, permanent.shape), source.coins(low, permanent.shape))
        packed = np.zeros((len(bits), WORD_BITS // 8), dtype=np.uint8)
        packed[:, : -(-self.bits // 8)] = np.packbits(bits, axis=1, bitorder="little")
        return np.stack([cohorts, packed.view("<u8")[:, 0].astype(np.int64)], axis=1)

    def cohort_of(self, memory: ClientMemory) -> int:
        """Return the cohort of a client: drawn once, from its secret."""
        digest = hmac.digest(memory.secret, b"cohort", "sha256")
        return int.from_bytes(digest, "big") % self.cohorts

    def report_key(self, encoded: npt.NDArray[Any], memory: ClientMemory) -> str:
        """Return the name of the filter of a value without revealing it: reports are counted by filter."""
        return hmac.digest(memory.secret, b"key" + self._filter(encoded, memory).tobytes(), "sha256").hex()

    def report_once(self, encoded: npt.NDArray[Any], memory: ClientMemory, source: BitSource) -> Reports:
        """Randomize the permanent filter again."""
        permanent = self.permanent(encoded, memory)
        return self._instantaneous(np.array([self.cohort_of(memory)]), permanent[None, :], source)

    def permanent(self, encoded: npt.NDArray[Any], memory: ClientMemory) -> Flags:
        """Randomize the filter of a value permanently: the coin is a keyed hash, the same in every report."""
        filled = self._filter(encoded, memory)
        blocks = -(-self.bits // DIGEST_WORDS)
        stream = b"".join(
            hmac.digest(memory.secret, b"prr" + block.to_bytes(4, "big") + filled.tobytes(), "sha256")
            for block in range(blocks)
        )
        words = [int.from_bytes(stream[8 * at : 8 * at + 8], "big") for at in range(self.bits)]
        half = int(self.chances[0] * (1 << WORD_BITS))
        return np.array(
            [word < half or (word >= 2 * half and bool(bit)) for word, bit in zip(words, filled, strict=True)]
        )

    def _filter(self, encoded: npt.NDArray[Any], memory: ClientMemory) -> Flags:
        found: Flags = self.filters[self.cohort_of(memory), int(encoded[0])]
        return found

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
        """Decode by regression; see `sfumato.collecting.rappor_decoding`."""
        from sfumato.collecting.rappor_decoding import decode

        return decode(self, tally, reports, confidence)


def _blurred(ratio: float, half: float) -> float:
    """Return the log ratio of two likelihoods after a bit was flipped with some probability: it saturates."""
    if half == 0:
        return ratio
    turned = exp(-ratio)
    return log1p((1 - 2 * half) * (1 - turned) / (half + (1 - half) * turned))
