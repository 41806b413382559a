"""Coins and draws: exact chances, the right side of rounding, and bits of the operating system unless a test asks."""

from __future__ import annotations

import os
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from sfumato._randomness import secret_from_seed as fixed
from sfumato.errors import InvalidParameterError
from sfumato.local_dp._exact_sampling import ExactSampler, exp_lower_bound, round_probability


@pytest.mark.parametrize("exponent", [1e-6, 0.1, 1.0, 5.5, 40.0])
def test_powers_of_e_are_lower_bounds_and_tight(exponent):
    with localcontext() as context:
        context.prec = 100
        truth = Fraction(Decimal(exponent).exp())
    found = exp_lower_bound(exponent)
    assert found < truth
    assert 1 - found / truth < Fraction(1, 10**50)


def test_rounding_goes_to_the_asked_side():
    third = Fraction(1, 3)
    assert round_probability(third, up=False) < third < round_probability(third, up=True)
    assert round_probability(Fraction(1, 2), up=True) == Fraction(1, 2)


@pytest.mark.parametrize("chance", [Fraction(1, 2), Fraction(3, 1000), Fraction(77, 256), Fraction(999, 1000)])
def test_coins_have_their_chance(chance):
    # 5.5 standard errors: a false alarm in 4 of 100 million runs, had the seed not been fixed.
    throws = 1_000_000
    grid = round_probability(chance, up=False)
    heads = int(ExactSampler(fixed(5)).bernoulli(grid, (throws,)).sum())
    share = float(chance)
    assert abs(heads - throws * share) < 5.5 * np.sqrt(throws * share * (1 - share))


class Scripted(ExactSampler):
    """A source whose bytes are given."""

    def __init__(self, script: list[bytes]) -> None:
        super().__init__()
        self.script = script

    def random_bytes(self, count: int) -> bytes:
        """Take the next bytes of the script."""
        return self.script.pop(0)[:count]


def test_a_coin_looks_at_all_64_bits():
    chance = Fraction((0x80 << 56) + 5, 1 << 64)  # the top byte decides unless it is 0x80
    first = bytes([0x7F, 0x80, 0x80, 0x81])
    rest = (np.array([4, 5], dtype=np.uint64) << np.uint64(8)).tobytes()
    assert Scripted([first, rest]).bernoulli(chance, (4,)).tolist() == [True, True, False, False]


def test_sure_coins_need_no_bits():
    assert Scripted([]).bernoulli(Fraction(1), (3,)).all()
    assert not Scripted([]).bernoulli(Fraction(0), (3,)).any()


def test_draws_below_reject_what_would_favor_small_numbers():
    limit = (1 << 64) - (1 << 64) % 10
    script = [np.array([limit, 23], dtype=np.uint64).tobytes(), np.array([47], dtype=np.uint64).tobytes()]
    assert Scripted(script).integers(10, 2).tolist() == [7, 3]


def test_without_a_secret_bits_come_from_the_operating_system(monkeypatch):
    asked = []

    def counted(count: int) -> bytes:
        asked.append(count)
        return bytes(count)

    monkeypatch.setattr(os, "urandom", counted)
    ExactSampler().random_uint64(3)
    assert asked == [24]
    ExactSampler(fixed(1)).random_uint64(3)
    assert asked == [24]


@pytest.mark.parametrize("secret", [-1, 42, "x", 1 << 255, "5f" * 31])
def test_short_secrets_are_refused(secret):
    with pytest.raises(InvalidParameterError, match="secret must be 64 hexadecimal digits"):
        ExactSampler(secret)


def test_uniform_draws_never_touch_the_ends():
    extremes = np.array([0, (1 << 64) - 1], dtype=np.uint64).tobytes()
    low, high = Scripted([extremes]).uniform(2)
    assert 0 < low < high < 1
