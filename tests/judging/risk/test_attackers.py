"""Prosecutor, journalist and marketer against their definitions and the golden values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InvalidParameterError
from sfumato.tables.risk._attacker_models import journalist_risk, marketer_risk, min_group_size, prosecutor_risk

SIZES, POPULATION = np.array([1, 2, 5]), np.array([4, 8, 10])


def test_golden_prosecutor():
    found = prosecutor_risk(SIZES)
    assert (found.highest, found.average) == (1.0, 0.375)


def test_golden_journalist():
    found = journalist_risk(SIZES, POPULATION)
    assert found.highest == 0.25
    assert found.average == pytest.approx(0.136364, abs=5e-7)


def test_golden_marketer():
    found = marketer_risk(SIZES, POPULATION)
    assert found.average == 0.125
    assert found.highest is None
    assert found.share_above is None


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 50)), min_size=1, max_size=20), st.integers(1, 40))
def test_adversaries_equal_their_definitions_record_by_record(groups, size):
    sizes = np.array([f for f, _ in groups])
    population = np.array([f + others for f, others in groups])
    threshold = 1 / size
    records = [(Fraction(1, f), Fraction(1, f + others)) for f, others in groups for _ in range(f)]
    by_table, by_population = [first for first, _ in records], [second for _, second in records]
    one = prosecutor_risk(sizes, threshold=threshold)
    assert one.records == len(records)
    assert one.highest == pytest.approx(float(max(by_table)))
    assert one.average == pytest.approx(float(sum(by_table)) / len(records))
    assert one.records_above == sum(risk > Fraction(1, size) for risk in by_table)
    two = journalist_risk(sizes, population, threshold=threshold)
    mean = sum(by_population) / len(records)
    assert two.highest == pytest.approx(float(max(by_population)))
    assert two.records_above == sum(risk > Fraction(1, size) for risk in by_population)
    assert two.average == pytest.approx(float(max(Fraction(len(groups), int(population.sum())), mean)))
    assert marketer_risk(sizes, population).average == pytest.approx(float(mean))


def test_a_population_that_is_the_table_makes_the_journalist_a_prosecutor():
    one, two = prosecutor_risk(SIZES), journalist_risk(SIZES, SIZES)
    assert (one.highest, one.average, one.records_above) == (two.highest, two.average, two.records_above)
    assert marketer_risk(SIZES).average == one.average


def test_more_candidates_than_records_lower_the_risk():
    found = prosecutor_risk(SIZES, candidates=np.array([4, 4, 5]))
    assert found.highest == 0.25
    assert found.average == pytest.approx((1 / 4 + 2 / 4 + 5 / 5) / 8)


@pytest.mark.parametrize("size", [*range(1, 60), 97, 1000, 12345])
def test_one_over_a_size_asks_for_groups_of_that_size(size):
    assert min_group_size(1 / size) == size


@given(st.floats(1e-6, 1.0))
def test_the_least_size_is_the_smallest_that_keeps_the_threshold(threshold):
    size = min_group_size(threshold)
    assert 1 / size <= threshold
    assert size == 1 or 1 / (size - 1) > threshold


def test_nine_percent_taken_literally_asks_for_twelve():
    assert min_group_size(0.09) == 12


@pytest.mark.parametrize("threshold", [0, -0.1, 1.5, float("nan"), True, "0.1"])
def test_a_threshold_that_is_no_chance_is_refused(threshold):
    with pytest.raises(InvalidParameterError, match=r"threshold must be a number in \(0, 1\]"):
        prosecutor_risk(SIZES, threshold=threshold)
    with pytest.raises(InvalidParameterError, match="threshold"):
        marketer_risk(SIZES, threshold=threshold)


def test_a_population_smaller_than_its_sample_is_refused():
    with pytest.raises(InvalidParameterError, match="fewer records than the table in 1 of 3 groups"):
        journalist_risk(SIZES, np.array([4, 1, 10]))
