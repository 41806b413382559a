"""Confidence bounding: its own facts."""

from __future__ import annotations

import pytest
from hypothesis import given

from counted import named
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.models.confidence_bounding import ConfidenceBounding
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.published.groups import Groups
from strategies import group_counts

VALUES = ["HIV", "cold", "flu"]


def bounded(bounds: object) -> ConfidenceBounding:
    return ConfidenceBounding(bounds=bounds, sensitive="s")


def test_a_share_of_exactly_the_bound_is_good():
    groups = Groups.from_counts(s=[[3, 3, 4], [5, 3, 2], [2, 2, 2]])
    assert bounded(0.4).levels(groups).tolist() == [0.4, 0.5, 1 / 3]
    assert bounded(0.4).satisfied_by(groups).tolist() == [True, False, True]
    assert bounded(1 / 3).satisfied_by(groups).tolist() == [False, False, True]


def test_every_value_has_its_own_bound():
    groups = named([[1, 2, 7], [2, 0, 8], [1, 9, 0], [0, 0, 5]], VALUES)
    model = bounded({"HIV": 0.1, "cold": 0.5})
    assert model.levels(groups).tolist() == pytest.approx([1, 2, 1.8, 0])
    assert model.satisfied_by(groups).tolist() == [True, False, False, True]


@given(group_counts())
def test_one_number_for_all_is_frequency_diversity_of_its_inverse(matrix):
    groups = Groups.from_counts(s=matrix)
    diverse = FrequencyLDiversity(l=4, sensitive="s").satisfied_by(groups)
    values = [f"v{i}" for i in range(len(matrix[0]))]
    assert bounded(0.25).satisfied_by(groups).tolist() == diverse.tolist()
    assert bounded(dict.fromkeys(values, 0.25)).satisfied_by(named(matrix, values)).tolist() == diverse.tolist()


def test_missing_values_that_may_be_anything_are_the_worst_value():
    """The worst is a frequent value, or one with a small bound that nobody is known to have."""
    groups = named([[1, 2, 5], [0, 2, 6], [0, 0, 0]], VALUES, missing={"s": [2, 2, 2]})
    assert bounded({"HIV": 0.5, "flu": 1}).levels(groups).tolist() == [0.7, 0.8, 2]
    assert bounded({"HIV": 0.1, "flu": 1}).levels(groups).tolist() == pytest.approx([3, 2, 10])
    assert bounded(0.5).levels(groups).tolist() == [0.7, 0.8, 1]


def test_a_missing_value_of_its_own_has_no_bound_of_its_own():
    groups = named([[1, 1, 0, 8]], VALUES)
    assert bounded({"HIV": 0.1}).levels(groups).tolist() == [1]
    assert bounded(0.5).levels(groups).tolist() == [0.8]


def test_bounds_of_values_that_the_table_lacks_bind_nobody():
    assert bounded({"plague": 0.1}).levels(named([[1, 1, 1]], VALUES)).tolist() == [0]


def test_a_union_is_good_but_a_record_can_spoil_a_group():
    groups = Groups.from_counts(s=[[1, 1], [1, 0]])
    assert bounded(0.5).satisfied_by(groups).tolist() == [True, False]
    assert bounded(0.5).satisfied_by(groups.merge_groups(groups.sizes * 0)).tolist() == [False]


@pytest.mark.parametrize(("bounds", "smallest"), [(0.5, 2), (0.3, 4), (1 / 49, 49), (1, 1), ({"HIV": 0.1}, 1)])
def test_the_smallest_group_follows_from_one_bound_for_all(bounds, smallest):
    assert bounded(bounds).min_group_size == smallest


@pytest.mark.parametrize("bounds", [0, -0.1, 1.1, True, "0.5", None, float("nan")])
def test_a_bound_is_above_0_and_at_most_1(bounds):
    with pytest.raises(InvalidParameterError, match=r"bounds must be a number above 0 and at most 1, or one such"):
        bounded(bounds)


@pytest.mark.parametrize("bounds", [{}, {"HIV": 0}, {"HIV": 1.1}, {"HIV": "half"}, {3: 0.5}])
def test_every_bound_is_above_0_and_at_most_1(bounds):
    with pytest.raises(InvalidParameterError) as refusal:
        bounded(bounds)
    assert str(refusal.value) == (
        "ConfidenceBounding.bounds must be a mapping from values, as text, to numbers above 0 and at most 1."
    )


def test_bounds_per_value_need_the_values():
    with pytest.raises(SchemaError, match="ConfidenceBounding needs the values of column 's'"):
        bounded({"HIV": 0.1}).levels(Groups.from_counts(s=[[1, 1]]))


def test_a_model_does_not_tell_its_values():
    assert repr(bounded({"HIV": 0.1})) == "ConfidenceBounding(bounds=<1 values>, sensitive='s')"
    assert repr(bounded(0.1)) == "ConfidenceBounding(bounds=0.1, sensitive='s')"


def test_sensitive_must_be_a_name():
    with pytest.raises(InvalidParameterError, match="sensitive must be the name of an attribute; got 3"):
        ConfidenceBounding(bounds=0.5, sensitive=3)
