"""(epsilon,m)-anonymity: its own facts, and why it is not monotone."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counted import named, numeric
from oracles import inverse_proximity
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.models.epsilon_m_anonymity import EpsilonMAnonymity
from sfumato.tables.published.groups import Groups
from strategies import group_counts


def model(**changed: object) -> EpsilonMAnonymity:
    return EpsilonMAnonymity(**{"epsilon": 10, "m": 2, "sensitive": "s", **changed})


def test_the_example_of_the_paper():
    """Three of four salaries lie within 20 of 1000."""
    groups = numeric([[1, 1, 1, 1]], [1000, 1010, 1020, 5000])
    assert model(epsilon=20).levels(groups).tolist() == [4 / 3]
    assert not model(epsilon=20).satisfied_by(groups).any()
    assert model(epsilon=5, m=4).satisfied_by(groups).all()


def test_close_is_up_to_epsilon_and_no_more():
    groups = numeric([[1, 1]], [0, 10])
    assert model(epsilon=10).levels(groups).tolist() == [1]
    assert model(epsilon=9.99).levels(groups).tolist() == [2]


def test_decimals_at_a_distance_of_epsilon_are_close():
    groups = numeric([[1, 1, 0], [0, 1, 1], [1, 0, 1]], [0.1, 0.3, 0.5])
    assert model(epsilon=0.2).levels(groups).tolist() == [1, 1, 2]
    assert model(epsilon=0.1).levels(numeric([[1, 1]], [0.7, 0.8])).tolist() == [1]


def test_relative_intervals_grow_with_the_number():
    groups = numeric([[1, 1, 0, 0], [0, 0, 1, 1]], [10, 12, 1000, 1002])
    assert model(epsilon=0.1, relative=True).levels(groups).tolist() == [2, 1]


def test_relative_intervals_of_negative_numbers_reach_both_ways():
    groups = numeric([[1, 1, 0], [0, 1, 1]], [-110, -100, 0])
    assert model(epsilon=0.1, relative=True).levels(groups).tolist() == [1, 2]


@given(
    group_counts(),
    st.lists(st.integers(-50, 50), min_size=6, max_size=6, unique=True),
    st.sampled_from([0, 0.5, 1, 7, 30]),
    st.booleans(),
)
def test_levels_are_the_definition_rounded_once(matrix, drawn, epsilon, relative):
    numbers = sorted(drawn[: len(matrix[0])])
    expected = [float(inverse_proximity(row, numbers, epsilon, relative=relative)) for row in matrix]
    assert model(epsilon=epsilon, relative=relative).levels(numeric(matrix, numbers)).tolist() == expected


def test_the_union_of_two_good_groups_is_bad():
    """0 of the one group is close to -10 and 10 of the other, which are not close to each other."""
    groups = numeric([[0, 1, 0, 1], [1, 0, 1, 0]], [-10, 0, 10, 100])
    assert model().satisfied_by(groups).tolist() == [True, True]
    assert model().levels(groups.merge_groups(groups.sizes * 0)).tolist() == [4 / 3]
    assert not EpsilonMAnonymity.monotone


def test_a_record_can_spoil_a_group():
    groups = numeric([[1, 1], [0, 1]], [0, 100])
    assert model().satisfied_by(groups).tolist() == [True, False]
    assert not model().satisfied_by(groups.merge_groups(groups.sizes * 0)).any()
    assert not EpsilonMAnonymity.extendable


@given(
    group_counts(most_values=5, most_groups=1),
    st.lists(st.integers(-20, 20), min_size=5, max_size=5, unique=True),
    st.integers(1, 3),
    st.sampled_from([(3, False), (10, False), (0.3, True), (1.5, True)]),
)
def test_missing_values_that_may_be_anything_are_the_worst_value_of_the_domain(matrix, drawn, lost, reach):
    numbers = sorted(drawn[: len(matrix[0])])
    epsilon, relative = reach
    worst = min(
        inverse_proximity([c + lost * (i == j) for i, c in enumerate(matrix[0])], numbers, epsilon, relative=relative)
        for j in range(len(numbers))
    )
    groups = numeric(matrix, numbers, missing={"s": [lost]})
    assert model(epsilon=epsilon, relative=relative).levels(groups).tolist() == [float(worst)]


def test_where_nothing_is_known_all_may_be_one_number():
    assert model().levels(numeric([[0, 0]], [1, 2], missing={"s": [3]})).tolist() == [1]


def test_a_missing_value_of_its_own_is_close_to_missing_ones_only():
    groups = numeric([[1, 1, 2], [2, 2, 1]], [0, 1])
    assert model(epsilon=5).levels(groups).tolist() == [2, 5 / 4]


def test_large_numbers_that_floats_cannot_tell_apart_are_close():
    groups = numeric([[1, 1]], [2**60, 2**60 + 1])
    assert model(epsilon=0).levels(groups).tolist() == [1]


def test_dates_have_distances_in_days_but_no_relative_ones():
    groups = numeric([[1, 1]], [date(1984, 2, 28), date(1984, 3, 1)])
    assert model(epsilon=1).levels(groups).tolist() == [2]
    assert model(epsilon=2).levels(groups).tolist() == [1]
    with pytest.raises(SchemaError, match="Column 's' contains dates, which have no relative distance"):
        model(relative=True).levels(groups)


def test_numbers_are_needed():
    with pytest.raises(
        SchemaError, match="Column 's' is nominal, but EpsilonMAnonymity needs numbers; make it numeric"
    ):
        model().levels(named([[1, 1]], ["a", "b"]))
    with pytest.raises(SchemaError, match="EpsilonMAnonymity needs the values of column 's'"):
        model().levels(Groups.from_counts(s=[[1, 1]]))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epsilon": -1}, "epsilon must be a number of at least 0; got -1"),
        ({"epsilon": "1"}, "epsilon must be a number of at least 0; got '1'"),
        ({"m": 0}, "m must be a whole number of at least 1; got 0"),
        ({"m": 1.5}, "m must be a whole number of at least 1; got 1.5"),
        ({"sensitive": 3}, "sensitive must be the name of an attribute; got 3"),
        ({"relative": 1}, "relative must be true or false; got 1"),
    ],
)
def test_bad_parameters_are_refused(changed, message):
    with pytest.raises(InvalidParameterError) as refusal:
        model(**changed)
    assert str(refusal.value) == f"EpsilonMAnonymity.{message}."


def test_the_smallest_group_has_m_records():
    assert model(m=3).min_group_size == 3
    assert Fraction(model(m=3).limit) == 3
