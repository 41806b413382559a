"""Entropy l-diversity: its own facts, above all at the limit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InvalidParameterError
from sfumato.tables.models import entropy_l_diversity
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.published.groups import Groups
from strategies import group_counts


@given(st.integers(1, 200), st.integers(1, 1000))
def test_equal_counts_reach_their_number_exactly(values, times):
    groups = Groups.from_counts(s=[[times] * values])
    model = EntropyLDiversity(l=values, sensitive="s")
    assert model.levels(groups).tolist() == [values]
    assert model.satisfied_by(groups).all()
    assert not EntropyLDiversity(l=values + 1e-12 * values, sensitive="s").satisfied_by(groups).any()


@pytest.mark.parametrize("times", [1, 3, 10**5])
def test_equality_of_unequal_counts_is_found(times):
    """Shares 1/2 and four times 1/8 have an entropy of exactly two bits."""
    groups = Groups.from_counts(s=[[4 * times, times, times, times, times]])
    assert EntropyLDiversity(l=4, sensitive="s").satisfied_by(groups).all()
    assert not EntropyLDiversity(l=np.nextafter(4, 5).item(), sensitive="s").satisfied_by(groups).any()


def test_one_record_more_or_less_is_decided_where_floats_cannot():
    even = 10**9
    groups = Groups.from_counts(s=[[even, even, even], [even, even, even - 1], [even + 1, even, even]])
    model = EntropyLDiversity(l=3, sensitive="s")
    assert model.satisfied_by(groups).tolist() == [True, False, False]
    assert (model.levels(groups)[1:] < 3).all()


def test_long_numbers_are_decided_in_digits_and_doubt_refuses(monkeypatch):
    monkeypatch.setattr(entropy_l_diversity, "MOST_BITS", 0)
    entropy_l_diversity._reaches.cache_clear()
    groups = Groups.from_counts(s=[[4, 1, 1, 1, 1], [400, 101, 100, 100, 100], [4000, 999, 1000, 1000, 1000]])
    model = EntropyLDiversity(l=4, sensitive="s")
    near = Groups.from_counts(
        s=[[4 * 10**12, 10**12 + 1, 10**12, 10**12, 10**12], [4 * 10**12, 10**12 - 1] + [10**12] * 3]
    )
    assert model.satisfied_by(groups).tolist() == [False, True, False]
    assert model.satisfied_by(near).tolist() == [True, False]
    entropy_l_diversity._reaches.cache_clear()


@given(group_counts(most=40), st.sampled_from([2.0, 2.5, 3.0]))
def test_all_three_ways_to_decide_agree(matrix, l):
    groups, level = (
        Groups.from_counts(s=matrix),
        EntropyLDiversity(l=l, sensitive="s").levels(Groups.from_counts(s=matrix)),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entropy_l_diversity, "NEAR", 1.0)
        assert np.array_equal(EntropyLDiversity(l=l, sensitive="s").satisfied_by(groups), level >= l)
        assert np.allclose(EntropyLDiversity(l=l, sensitive="s").levels(groups), level, rtol=1e-12)


def test_missing_values_that_may_be_anything_are_the_most_frequent_value():
    groups = Groups.from_counts(s=[[3, 1, 1, 1, 1], [0, 0, 0, 0, 0]], missing={"s": [1, 3]})
    assert EntropyLDiversity(l=2, sensitive="s").levels(groups) == pytest.approx([4, 1])


@pytest.mark.parametrize("l", [0, 0.999, -1, True, "3", float("nan"), float("inf")])
def test_l_must_be_a_number_of_at_least_1(l):
    with pytest.raises(InvalidParameterError, match=r"EntropyLDiversity\.l must be a number of at least 1; got"):
        EntropyLDiversity(l=l, sensitive="s")
