"""Streams of bits: repeatable by the whole secret alone, independent by purpose, and without favor."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from sfumato._randomness import KeyedRandom, argsort_words, secret_from_seed

FALSE_ALARM = 1e-6
SECRET = secret_from_seed(1)


def test_a_stream_is_repeated_by_secret_purpose_and_matter_together():
    def drawn(secret=SECRET, purpose="a", about=str):
        return KeyedRandom(secret, purpose, about=about).random_bytes(32)

    assert drawn() == drawn()
    others = [drawn(secret_from_seed(2)), drawn(purpose="b"), drawn(about=lambda: "else"), drawn(None), drawn(None)]
    assert len({drawn(), *others}) == 6


def test_every_draw_of_a_stream_is_another():
    stream = KeyedRandom(SECRET)
    assert len({stream.random_bytes(16) for _ in range(50)}) == 50


def test_what_it_is_about_is_asked_once_and_only_when_bits_are_drawn():
    asked = []
    stream = KeyedRandom(SECRET, about=lambda: asked.append(1) or "table")
    assert not asked
    stream.random_bytes(8)
    stream.random_bytes(8)
    assert asked == [1]


def test_all_orders_are_as_likely():
    stream, draws = KeyedRandom(SECRET), 6000
    seen = Counter(tuple(stream.permutation(3).tolist()) for _ in range(draws))
    assert len(seen) == 6
    assert sum((count - draws / 6) ** 2 / (draws / 6) for count in seen.values()) < chi2.isf(FALSE_ALARM, 5)


@given(st.lists(st.integers(1, 2**62), min_size=1, max_size=20))
def test_numbers_lie_below_their_own_bounds(bounds):
    drawn = KeyedRandom(SECRET).integers(np.array(bounds), len(bounds))
    assert all(0 <= number < bound for number, bound in zip(drawn.tolist(), bounds, strict=True))


class Scripted(KeyedRandom):
    """A stream whose words are given."""

    def __init__(self, script: list[list[int]]) -> None:
        super().__init__()
        self.script = script

    def random_bytes(self, count: int) -> bytes:
        """Take the next words of the script."""
        return np.array(self.script.pop(0), dtype="<u8").tobytes()[:count]


@pytest.mark.parametrize("high", [3, 10, 2**40 + 1])
def test_what_would_favor_small_numbers_is_drawn_again(high):
    limit = (1 << 64) - (1 << 64) % high
    assert Scripted([[limit, limit - 1], [5]]).integers(high, 2).tolist() == [5 % high, high - 1]


def test_a_power_of_two_rejects_nothing():
    assert Scripted([[(1 << 64) - 1, 0]]).integers(8, 2).tolist() == [7, 0]


def test_uniform_numbers_never_touch_the_ends():
    low, high = Scripted([[0, (1 << 64) - 1]]).uniform(2)
    assert 0 < low < high < 1


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9) | st.integers(2**63, 2**63 + 9), max_size=40))
def test_words_are_ordered_exactly_even_where_their_first_bits_agree(words):
    drawn = np.array(words, dtype=np.uint64)
    assert np.array_equal(argsort_words(drawn), np.argsort(drawn, kind="stable"))
