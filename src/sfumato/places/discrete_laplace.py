"""Discrete Laplace noise, exactly: whole numbers drawn by comparing random bits with the digits of their chances."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sfumato.exceptions import InfeasibleError
from sfumato.randomness import KeyedRandom

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
BASE = 1024  # geometric numbers are drawn digit by digit in this base
WORD = 64  # bits that are drawn at once
MIN_RATE, MAX_RATE = 2.0**-40, 40.0
SURE = 46.0  # e to minus it is below 2**-64: all 64 bits of the chance of less are set
GUARD = 25  # decimal digits that rounding may cost at most


@dataclass(frozen=True)
class DiscreteLaplace:
    r"""Noise that is x with a chance in proportion to $e^{-rate |x|}$, for whole numbers x.

    It is the difference of two geometric numbers, the digits of which are independent in any base [1]_. Each digit is
    found by inversion: the first 64 bits of a uniform number are compared with those of the chances that the digit is
    at most 0, 1, and so on. Where they are equal, further bits of both decide. So no chance is rounded, whatever the
    rate is.

    Parameters
    ----------
    rate : from 2**-40 to 40.

    References
    ----------
    .. [1] Steutel, Thiemann, "On the independence of integer and fractional parts", Statistica Neerlandica 43(1), 1989.
    """

    rate: float

    def __post_init__(self) -> None:
        if self.rate < MIN_RATE:
            raise InfeasibleError("Such a small epsilon needs steps too many to count; give a larger one, or steps.")
        if self.rate > MAX_RATE:
            raise InfeasibleError("So large an epsilon hides nobody: nothing would move; give a smaller one.")

    def draw(self, count: int, stream: KeyedRandom) -> Integers:
        """Draw so many numbers."""
        drawn = self._geometric(2 * count, stream)
        return drawn[:count] - drawn[count:]

    def _geometric(self, count: int, stream: KeyedRandom) -> Integers:
        found = np.zeros(count, dtype=np.int64)
        for place, digit in enumerate(_geometric_digits(self.rate)):
            found += digit.draw(count, stream) * BASE**place
        return found


@dataclass(frozen=True)
class GeometricDigit:
    """A digit of a geometric number: d has a chance in proportion to e to minus d times the rate.

    Parameters
    ----------
    rate : per unit of this digit.
    first : whether there are higher ones; the first digit has no upper end, and every number of units is possible.
    """

    rate: Decimal
    first: bool

    def draw(self, count: int, stream: KeyedRandom) -> Integers:
        """Draw so many digits."""
        words, ends = stream.random_uint64(count), _cumulative_words(self)
        found = np.searchsorted(ends, words).astype(np.int64)
        for at in np.flatnonzero(np.append(ends, np.uint64(0))[found] == words):  # 0 is no word above all ends
            found[at] = self.resolve(int(found[at]), int(words[at]), stream)
        return found

    def resolve(self, least: int, bits: int, stream: KeyedRandom) -> int:
        """Return the digit of a uniform number, at least `least`, whose first bits do not tell; draw further ones."""
        digit, known = least, WORD
        while True:
            bits, known = bits << WORD | int(stream.random_uint64(1)[0]), known + WORD
            while (self.first or digit < BASE - 1) and self.cumulative(digit, known) < bits:
                digit += 1
            if not (self.first or digit < BASE - 1) or self.cumulative(digit, known) > bits:
                return digit

    def cumulative(self, digit: int, bits: int) -> int:
        """Return the first bits of the chance of at most this digit."""
        return self.cumulatives(digit, digit + 1, bits)[0]

    def cumulatives(self, start: int, stop: int, bits: int) -> list[int]:
        """Return the first bits of the chances of at most these digits, as whole numbers; no bit is wrong."""
        precision = int(bits * 0.302) + 2 * GUARD
        while True:
            low, high = self._floors(start, stop, bits, precision)
            if low == high:
                return low
            precision *= 2

    def _floors(self, start: int, stop: int, bits: int, precision: int) -> tuple[list[int], list[int]]:
        """Return first bits of chances that are surely too small, and of ones that are surely too large."""
        with localcontext(Context(prec=precision, rounding=ROUND_FLOOR)):
            share, scale = (-self.rate).exp(), Decimal(2) ** bits
            whole = Decimal(1) if self.first else 1 - (-self.rate * BASE).exp()
            slack = scale * Decimal(10) ** (GUARD - precision)
            left, low, high = (-self.rate * start).exp(), [], []
            for _ in range(start, stop):
                left *= share
                chance = (1 - left) / whole * scale
                low.append(int(chance - slack))
                high.append(int(chance + slack))
            return low, high


@lru_cache(maxsize=16)
def _geometric_digits(rate: float) -> tuple[GeometricDigit, ...]:
    """Return the digits of a geometric number, the lowest first."""
    each, found = Decimal(rate), []
    with localcontext(Context(prec=400)):  # a float has fewer digits, so nothing is rounded here
        while each * BASE < Decimal(SURE):
            found.append(GeometricDigit(each, first=False))
            each *= BASE
    return (*found, GeometricDigit(each, first=True))


@lru_cache(maxsize=32)
def _cumulative_words(digit: GeometricDigit) -> Words:
    """Return the first 64 bits of the chances of at most 0, 1, and so on."""
    stop = int(Decimal(SURE) / digit.rate) + 1 if digit.first else BASE - 1
    return np.array(digit.cumulatives(0, stop, WORD), dtype=np.uint64)
