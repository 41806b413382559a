"""Frequency l-diversity: its own facts."""

from __future__ import annotations

import pytest
from hypothesis import given

from sfumato.errors import InvalidParameterError
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.published.groups import Groups
from strategies import group_counts


def test_a_share_of_exactly_one_over_l_is_good():
    groups = Groups.from_counts(s=[[2, 1, 1], [3, 1, 1], [2, 2, 1]])
    assert FrequencyLDiversity(l=2, sensitive="s").satisfied_by(groups).tolist() == [True, False, True]


def test_equality_with_a_decimal_is_equality():
    groups = Groups.from_counts(s=[[10, 10, 10, 3], [100, 100, 100, 29]])
    model = FrequencyLDiversity(l=3.3, sensitive="s")
    assert model.levels(groups).tolist() == [3.3, 3.29]
    assert model.satisfied_by(groups).tolist() == [True, False]


def test_equality_with_a_third_is_equality():
    assert FrequencyLDiversity(l=7 / 3, sensitive="s").satisfied_by(Groups.from_counts(s=[[3, 3, 1]])).all()


def test_missing_values_that_may_be_anything_are_the_most_frequent_value():
    groups = Groups.from_counts(s=[[2, 1, 1], [0, 0, 0]], missing={"s": [2, 3]})
    assert FrequencyLDiversity(l=2, sensitive="s").levels(groups).tolist() == [1.5, 1]


@given(group_counts())
def test_frequency_is_stricter_than_entropy_and_entropy_than_distinct(matrix):
    groups = Groups.from_counts(s=matrix)
    for l in (1, 2, 3):
        by_frequency = FrequencyLDiversity(l=l, sensitive="s").satisfied_by(groups)
        by_entropy = EntropyLDiversity(l=l, sensitive="s").satisfied_by(groups)
        by_number = DistinctLDiversity(l=l, sensitive="s").satisfied_by(groups)
        assert not (by_frequency & ~by_entropy).any()
        assert not (by_entropy & ~by_number).any()


@pytest.mark.parametrize("l", [0, 0.999, -1, True, "3", float("nan"), float("inf")])
def test_l_must_be_a_number_of_at_least_1(l):
    with pytest.raises(InvalidParameterError, match=r"FrequencyLDiversity\.l must be a number of at least 1; got"):
        FrequencyLDiversity(l=l, sensitive="s")


def test_the_smallest_group_is_l_rounded_up():
    assert FrequencyLDiversity(l=2.5, sensitive="s").min_group_size == 3
    assert FrequencyLDiversity(l=3, sensitive="s").min_group_size == 3
