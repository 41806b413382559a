"""(k,e)-anonymity: its own facts."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counted import named, numeric
from oracles import range_of_numbers
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.models.ke_anonymity import KEAnonymity, MinRange
from sfumato.tables.published.groups import Groups
from strategies import group_counts


def model(**changed: object) -> KEAnonymity:
    return KEAnonymity(**{"k": 2, "e": 10, "sensitive": "s", **changed})


def test_different_numbers_and_their_range_are_asked_for():
    groups = numeric([[1, 1, 0, 0], [1, 0, 1, 0], [5, 0, 0, 0], [1, 1, 1, 1]], [30, 35, 40, 80])
    assert [part.levels(groups).tolist() for part in model().parts] == [[2, 2, 1, 4], [5, 10, 0, 50]]
    assert model().satisfied_by(groups).tolist() == [False, True, False, True]
    assert model().levels(groups).tolist() == [0.5, 1, 0, 2]


def test_records_that_share_one_number_are_one_of_k():
    """The seed asks for k records; the original, which is stricter, for k different numbers."""
    groups = numeric([[3, 0, 1], [1, 1, 1]], [0, 50, 100])
    assert model(k=3).satisfied_by(groups).tolist() == [False, True]


@pytest.mark.parametrize("numbers", [[0.1, 0.3], [1000.7, 1000.9], [-0.1, 0.1]])
def test_a_decimal_range_of_exactly_e_is_good(numbers):
    assert model(e=0.2).satisfied_by(numeric([[1, 1]], numbers)).all()
    assert not model(e=np.nextafter(0.2, 1).item()).satisfied_by(numeric([[1, 1]], numbers)).any()


@given(group_counts(), st.lists(st.decimals(-1000, 1000, places=3), min_size=6, max_size=6, unique=True))
def test_ranges_of_decimals_are_rounded_once(matrix, drawn):
    numbers = sorted(float(number) for number in drawn[: len(matrix[0])])
    expected = [float(range_of_numbers(row, numbers)) for row in matrix]
    assert MinRange(e=1, sensitive="s").levels(numeric(matrix, numbers)).tolist() == expected


def test_numbers_with_too_many_decimals_are_subtracted_as_they_are():
    groups = numeric([[1, 1]], [1 / 3, 2 / 3])
    assert MinRange(e=0.1, sensitive="s").levels(groups) == pytest.approx([1 / 3], abs=1e-15)


def test_days_are_counted_between_dates():
    groups = numeric([[1, 1]], [date(1984, 2, 28), date(1984, 3, 1)])
    assert MinRange(e=2, sensitive="s").levels(groups).tolist() == [2]


def test_missing_values_add_nothing_to_the_range():
    own = numeric([[1, 1, 0, 4], [0, 0, 0, 2], [1, 0, 1, 0]], [0, 5, 20])
    anything = numeric([[1, 1, 0], [0, 0, 0], [1, 0, 1]], [0, 5, 20], missing={"s": [4, 2, 0]})
    for groups in (own, anything):
        assert MinRange(e=2, sensitive="s").levels(groups).tolist() == [5, 0, 20]
    assert [part.levels(own)[0] for part in model().parts] == [3, 5]
    assert [part.levels(anything)[0] for part in model().parts] == [2, 5]


def test_numbers_are_needed():
    with pytest.raises(SchemaError, match="Column 's' is nominal, but MinRange needs numbers; make it numeric or"):
        model().levels(named([[1, 1]], ["a", "b"]))
    with pytest.raises(SchemaError, match="MinRange needs the values of column 's'"):
        model().levels(Groups.from_counts(s=[[1, 1]]))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"k": 0}, "k must be a whole number of at least 1; got 0"),
        ({"k": 1.5}, "k must be a whole number of at least 1; got 1.5"),
        ({"e": -1}, "e must be a number of at least 0; got -1"),
        ({"e": "far"}, "e must be a number of at least 0; got 'far'"),
        ({"e": float("inf")}, "e must be a number of at least 0; got inf"),
        ({"sensitive": 3}, "sensitive must be the name of an attribute; got 3"),
    ],
)
def test_bad_parameters_are_refused(changed, message):
    with pytest.raises(InvalidParameterError) as refusal:
        model(**changed)
    assert str(refusal.value) == f"KEAnonymity.{message}."


def test_a_range_of_0_is_always_reached():
    assert model(k=1, e=0).levels(numeric([[3, 0]], [1, 2])).tolist() == [1]
