"""Distinct l-diversity: its own facts."""

from __future__ import annotations

import pytest

from sfumato.errors import InvalidParameterError
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.published.groups import Groups


def test_a_group_of_l_values_is_good_and_one_fewer_is_not():
    groups = Groups.from_counts(s=[[5, 5, 0], [1, 1, 1], [9, 0, 1]])
    assert DistinctLDiversity(l=3, sensitive="s").satisfied_by(groups).tolist() == [False, True, False]


def test_missing_values_that_may_be_anything_are_no_values():
    groups = Groups.from_counts(s=[[2, 1, 0], [0, 0, 0]], missing={"s": [7, 7]})
    assert DistinctLDiversity(l=2, sensitive="s").levels(groups).tolist() == [2, 1]


@pytest.mark.parametrize("l", [0, -1, 2.5, True, "3", float("nan")])
def test_l_must_be_a_whole_number_of_at_least_1(l):
    with pytest.raises(InvalidParameterError, match=r"DistinctLDiversity\.l must be a whole number of at least 1"):
        DistinctLDiversity(l=l, sensitive="s")


def test_sensitive_must_be_a_name():
    with pytest.raises(InvalidParameterError, match=r"sensitive must be the name of an attribute; got \['s'\]"):
        DistinctLDiversity(l=2, sensitive=["s"])
