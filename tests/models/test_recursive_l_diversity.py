"""Recursive (c,l)-diversity: its own facts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InvalidParameterError
from sfumato.tables.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.tables.published.groups import Groups
from strategies import group_counts


def test_equality_is_refused():
    groups = Groups.from_counts(s=[[4, 2, 1, 1], [3, 2, 1, 1], [5, 2, 1, 1]])
    model = RecursiveLDiversity(c=2, l=3, sensitive="s")
    assert model.levels(groups).tolist() == [2, 1.5, 2.5]
    assert model.satisfied_by(groups).tolist() == [False, True, False]


def test_equality_with_a_decimal_is_equality():
    groups = Groups.from_counts(s=[[33, 10], [329, 100]])
    assert RecursiveLDiversity(c=3.3, l=2, sensitive="s").satisfied_by(groups).tolist() == [False, True]


def test_fewer_values_than_l_are_infinitely_bad():
    groups = Groups.from_counts(s=[[4, 4, 0], [0, 7, 0]])
    model = RecursiveLDiversity(c=100, l=3, sensitive="s")
    assert model.levels(groups).tolist() == [math.inf, math.inf]
    assert not model.satisfied_by(groups).any()


def test_with_l_1_all_values_are_in_the_sum():
    assert RecursiveLDiversity(c=0.6, l=1, sensitive="s").levels(Groups.from_counts(s=[[1, 1, 2]])).tolist() == [0.5]


def test_missing_values_that_may_be_anything_are_the_most_frequent_value():
    groups = Groups.from_counts(s=[[1, 2, 1], [0, 0, 0]], missing={"s": [2, 3]})
    assert RecursiveLDiversity(c=3, l=2, sensitive="s").levels(groups).tolist() == [2, math.inf]


@given(group_counts(most_values=5), st.integers(2, 4), st.sampled_from([0.5, 1, 2.5, 4]))
def test_ruling_out_one_value_leaves_a_diverse_group(matrix, l, c):
    kept = RecursiveLDiversity(c=c, l=l, sensitive="s").satisfied_by(Groups.from_counts(s=matrix))
    for value in range(len(matrix[0])):
        without = [[0 if v == value else count for v, count in enumerate(row)] for row in matrix]
        left = RecursiveLDiversity(c=c, l=l - 1, sensitive="s").satisfied_by(Groups.from_counts(s=without))
        assert left[kept].all()


@pytest.mark.parametrize("c", [0, -1, True, "3", float("nan"), float("inf")])
def test_c_must_be_a_number_above_0(c):
    with pytest.raises(InvalidParameterError, match=r"RecursiveLDiversity\.c must be a number above 0; got"):
        RecursiveLDiversity(c=c, l=2, sensitive="s")


@pytest.mark.parametrize("l", [0, 2.5, True])
def test_l_must_be_a_whole_number_of_at_least_1(l):
    with pytest.raises(InvalidParameterError, match=r"RecursiveLDiversity\.l must be a whole number of at least 1"):
        RecursiveLDiversity(c=1, l=l, sensitive="s")
