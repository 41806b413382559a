"""Discrete Laplace noise has its law exactly, also where 64 random bits do not tell."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, chisquare

from drawn_examples import examples
from sfumato._randomness import KeyedRandom
from sfumato.dp.mechanisms import add_discrete_laplace
from sfumato.errors import InfeasibleError
from sfumato.trajectories.locations.planar_laplace import (
    BASE,
    WORD,
    DiscreteLaplace,
    GeometricDigit,
    _cumulative_words,
    _geometric_digits,
)

SECRET = "5f" * 32


class Written(KeyedRandom):
    """A stream that gives the numbers it is told."""

    def __init__(self, *words):
        super().__init__()
        self.left = list(words)

    def random_uint64(self, count):
        """Give the next ones."""
        given, self.left = self.left[:count], self.left[count:]
        return np.array(given, dtype=np.uint64)


def chance(digit, most):
    """Return the chance of at most so many, to 300 digits."""
    with localcontext() as context:
        context.prec = 300
        left = 1 - (-digit.rate * (most + 1)).exp()
        return left if digit.first else left / (1 - (-digit.rate * BASE).exp())


@pytest.mark.parametrize("rate", [0.7, 0.02, 1e-4])
def test_numbers_have_their_law(rate):
    drawn, width = DiscreteLaplace(rate).draw(20_000, KeyedRandom(SECRET)), max(1, round(0.4 / rate))
    edges = np.arange(-8, 9) * width
    share = exp(-rate)

    def below(number):
        """Return the chance of less."""
        return share ** (1 - number) / (1 + share) if number <= 0 else 1 - share**number / (1 + share)

    expected = np.diff([0.0, *(below(int(edge)) for edge in edges), 1.0]) * len(drawn)
    counted = np.bincount(np.searchsorted(edges, drawn, side="right"), minlength=len(edges) + 1)
    assert chisquare(counted, expected).pvalue > 1e-4


def test_numbers_are_spread_as_by_the_exact_sampler_of_another_library():
    rate, many = 0.3, 10_000
    slow = add_discrete_laplace(np.zeros(many, dtype=np.int64), sensitivity=1, epsilon=Fraction(rate)).numbers
    fast = DiscreteLaplace(rate).draw(many, KeyedRandom(SECRET))
    table = [np.bincount(np.clip(each, -10, 10) + 10, minlength=21) for each in (slow, fast)]
    assert chi2_contingency(table).pvalue > 1e-6


@given(st.floats(2.0**-40, 40.0), st.integers(0, 3), st.integers(0, BASE - 2), st.sampled_from([64, 128, 192]))
@examples(40)
def test_first_bits_of_chances_are_right(rate, place, most, bits):
    digit = _geometric_digits(rate)[min(place, len(_geometric_digits(rate)) - 1)]
    most = min(most, int(Decimal(200) / digit.rate))
    with localcontext() as context:
        context.prec = 300
        assert digit.cumulative(most, bits) == int(chance(digit, most) * 2**bits)


@given(st.floats(2.0**-40, 40.0))
@examples(20)
def test_digits_are_told_by_growing_ends(rate):
    for digit in _geometric_digits(rate):
        ends = _cumulative_words(digit)
        assert (ends[1:] >= ends[:-1]).all()
        assert len(ends) <= BASE
        assert not digit.first or int(ends[-1]) == 2**WORD - 1
    assert [digit.first for digit in _geometric_digits(rate)].count(True) == 1


def test_words_beside_an_end_are_told_at_once():
    digit, stream = GeometricDigit(Decimal("0.5"), first=True), Written()
    end = int(_cumulative_words(digit)[3])
    stream.left = [end - 1, end + 1]
    assert digit.draw(2, stream).tolist() == [3, 4]


@pytest.mark.parametrize("first", [True, False])
def test_further_bits_decide_where_a_word_equals_an_end(first):
    digit = GeometricDigit(Decimal("0.05"), first=first)
    end, next_bits = int(_cumulative_words(digit)[3]), digit.cumulative(3, 2 * WORD) % 2**WORD
    for further, found in (([next_bits - 1], 3), ([next_bits + 1], 4), ([0], 3), ([2**WORD - 1], 4)):
        assert digit.draw(1, Written(end, *further)).tolist() == [found]
    third = digit.cumulative(3, 3 * WORD) % 2**WORD
    assert digit.draw(1, Written(end, next_bits, third - 1)).tolist() == [3]
    assert digit.draw(1, Written(end, next_bits, third + 1)).tolist() == [4]


def test_the_tail_has_no_end_and_the_last_digit_nothing_above_it():
    tail = GeometricDigit(Decimal(2), first=True)
    full = 2**WORD - 1
    assert tail.draw(1, Written(full, 0)).tolist() == [22]
    assert tail.draw(1, Written(full, full, 0)).tolist() == [44]
    last = GeometricDigit(Decimal("0.001"), first=False)
    assert last.draw(1, Written(full)).tolist() == [BASE - 1]
    end = int(_cumulative_words(last)[-1])
    assert last.draw(1, Written(end, full)).tolist() == [BASE - 1]


def test_rates_that_cannot_be_are_refused():
    with pytest.raises(InfeasibleError, match="larger one"):
        DiscreteLaplace(1e-13)
    with pytest.raises(InfeasibleError, match="hides nobody"):
        DiscreteLaplace(41.0)
