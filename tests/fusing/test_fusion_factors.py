"""Factors and scores are those of the text."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fusion_oracle as oracle
from sfumato.fusion.scoring import (
    attribute_sensitivities,
    count_classes,
    entropy,
    gain_ratio,
    information_gain,
    round_score,
)
from strategies import group_counts

GAINS = st.dictionaries(st.text(max_size=3), st.floats(0, 1), min_size=1, max_size=8)


def spread(counts):
    """Write counts per child and class as lists of classes."""
    return [[each for each, count in enumerate(child) for _ in range(count)] for child in counts]


def test_the_factors_of_the_text_for_two_attributes():
    assert attribute_sensitivities({"sex": 0.3, "salary": 0.7}) == pytest.approx({"sex": 0.7, "salary": 0.3})


def test_the_factors_of_the_experiment_are_of_the_form_that_sums_to_one():
    """0.1, 0.1 and five times 0.16: gains of two attributes are 0.4 of all each, and of five others 0.04."""
    gains = {"education": 0.4, "occupation": 0.4, **{f"other {number}": 0.04 for number in range(5)}}
    weighed = attribute_sensitivities(gains)
    assert weighed["education"] == weighed["occupation"] == pytest.approx(0.1)
    assert [weighed[f"other {number}"] for number in range(5)] == pytest.approx([0.16] * 5)


@given(GAINS)
def test_factors_sum_to_one_and_a_greater_gain_has_a_smaller_factor(gains):
    weighed = attribute_sensitivities(gains)
    assert sum(weighed.values()) == pytest.approx(1)
    assert all(0 <= factor <= 1 for factor in weighed.values())
    for one in gains:
        for other in gains:
            assert gains[one] >= gains[other] or weighed[one] >= weighed[other] - 1e-12


def test_attributes_that_tell_nothing_weigh_alike():
    assert attribute_sensitivities({"a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0}) == dict.fromkeys("abcd", 0.25)


@given(group_counts())
def test_gain_and_ratio_are_those_of_the_definition(counts):
    parts = spread(counts)
    whole = [each for part in parts for each in part]
    gain = oracle.entropy(whole) - oracle.inside(parts)
    assert information_gain(np.array(counts)) == pytest.approx(gain, abs=1e-9)
    split = oracle.entropy([number for number, part in enumerate(parts) for _ in part])
    assert gain_ratio(np.array(counts)) == pytest.approx(gain / split if split else 0.0, abs=1e-8)


@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 5))
def test_a_split_that_tells_nothing_gains_exactly_nothing(yes, no, times):
    assert gain_ratio(np.array([[yes, no], [yes * times, no * times]])) == 0.0


def test_a_split_into_one_part_is_useless_and_not_infinite():
    assert gain_ratio(np.array([[4, 3], [0, 0], [0, 0]])) == 0.0
    assert gain_ratio(np.array([[0, 0], [0, 0]])) == 0.0


def test_entropy_is_in_bits():
    assert entropy(np.array([1, 1, 1, 1])) == 2.0
    assert entropy(np.array([1, 3])) == pytest.approx(2 - 0.75 * math.log2(3))
    assert str(entropy(np.array([5]))) == "0.0"


def test_equal_scores_are_equal_whatever_the_computer_makes_of_them():
    assert round_score(0.1 * 3 * 0.5) == round_score(0.15)
    assert round_score(1e-9 / 3) != 0
    assert round_score(0.15) < round_score(0.15 + 1e-9)


def test_records_are_counted_by_child_and_class():
    assert count_classes(np.array([0, 2, 2, 0]), np.array([1, 0, 0, 1]), (3, 2)).tolist() == [[0, 2], [0, 0], [2, 0]]
