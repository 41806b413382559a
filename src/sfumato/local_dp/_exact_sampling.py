"""Exact coins and draws: probabilities are multiples of 2**-64, and bits come from the operating system."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, floor, prod

import numpy as np
import numpy.typing as npt

from sfumato._randomness import KeyedRandom

Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]

WORD_BITS = 64
TOP_SHIFT = 56  # a coin looks at one byte first, and at 56 more bits if that byte does not decide
DIGITS = 60


def exp_lower_bound(exponent: float | Fraction) -> Fraction:
    """Return e to a power, rounded down by less than one part in 10**50, so that bounds built from it hold exactly.

    >>> float(exp_lower_bound(1))
    2.718281828459045
    """
    with localcontext() as context:
        context.prec = DIGITS
        given = Fraction(exponent)
        found = Fraction((Decimal(given.numerator) / Decimal(given.denominator)).exp())
    return found * (1 - Fraction(1, 10**52))


def round_probability(chance: Fraction, *, up: bool) -> Fraction:
    """Round a probability to the grid of 2**-64, up or down: mechanisms choose the side that reveals less.

    >>> round_probability(Fraction(3, 10), up=True) - round_probability(Fraction(3, 10), up=False) == Fraction(1, 2**64)
    True
    """
    steps = chance * (1 << WORD_BITS)
    return Fraction(ceil(steps) if up else floor(steps), 1 << WORD_BITS)


class ExactSampler(KeyedRandom):
    """A source of bits: the operating system, or a secret that makes a test repeatable.

    >>> ExactSampler("5f" * 32).integers(6, 3).tolist() == ExactSampler("5f" * 32).integers(6, 3).tolist()
    True
    """

    def __init__(self, secret: str | None = None) -> None:
        super().__init__(secret, "collecting")

    def bernoulli(self, chance: Fraction, shape: tuple[int, ...]) -> Flags:
        """Flip coins whose probability is on the grid of 2**-64, exactly."""
        steps = int(chance * (1 << WORD_BITS))
        if not 0 < steps < 1 << WORD_BITS:
            return np.full(shape, steps > 0)
        count = prod(shape)
        first = np.frombuffer(self.random_bytes(count), dtype=np.uint8)
        top = np.uint8(steps >> TOP_SHIFT)
        heads = first < top
        doubtful = np.flatnonzero(first == top)
        rest = self.random_uint64(len(doubtful)) >> np.uint64(WORD_BITS - TOP_SHIFT)
        heads[doubtful] = rest < np.uint64(steps & ((1 << TOP_SHIFT) - 1))
        return heads.reshape(shape)

    def bernoulli_each(self, steps: npt.NDArray[np.uint64]) -> Flags:
        """Flip one coin for each probability, given in steps of 2**-64."""
        return self.random_uint64(len(steps)) < steps
