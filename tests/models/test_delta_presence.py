"""Delta-presence: its own facts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.models.delta_presence import DeltaPresence
from sfumato.tables.published.groups import Groups

GROUPS = Groups(np.array([1, 2, 3, 4]), population=np.array([10, 4, 4, 4]))


def model(**changed: object) -> DeltaPresence:
    return DeltaPresence(**{"delta_min": 0.2, "delta_max": 0.75, **changed})


def test_presence_is_records_over_persons_and_bounded_on_both_sides():
    least, highest = model().parts
    assert least.levels(GROUPS).tolist() == highest.levels(GROUPS).tolist() == [0.1, 0.5, 0.75, 1]
    assert model().satisfied_by(GROUPS).tolist() == [False, True, True, False]
    assert model().levels(GROUPS).tolist() == [0.5, 1.5, 1, 0.75]


def test_whom_no_group_covers_is_surely_absent():
    absent = replace(GROUPS, uncovered=1)
    assert not model().satisfied_by(absent).any()
    assert model(delta_min=0).satisfied_by(absent).tolist() == [True, True, True, False]


def test_bounds_of_0_and_1_ask_for_nothing():
    assert model(delta_min=0, delta_max=1).satisfied_by(replace(GROUPS, uncovered=5)).all()


def test_without_a_population_there_is_nothing_to_judge_by():
    assert model().needs_population
    with pytest.raises(SchemaError, match="DeltaPresence needs a population; give the audit a population table"):
        model().levels(Groups(np.array([3])))


def test_parts_say_what_they_bound():
    assert repr(model().parts) == "(MinPresence(least=0.2), MaxPresence(highest=0.75))"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"delta_min": -0.1}, "delta_min must be a number from 0 to 1; got -0.1"),
        ({"delta_min": "0"}, "delta_min must be a number from 0 to 1; got '0'"),
        ({"delta_min": 1.5}, "delta_min must be a number from 0 to 1; got 1.5"),
        ({"delta_max": 0.1}, "delta_max must be a number from delta_min = 0.2 to 1; got 0.1"),
        ({"delta_max": 1.5}, "delta_max must be a number from delta_min = 0.2 to 1; got 1.5"),
        ({"delta_max": None}, "delta_max must be a number from delta_min = 0.2 to 1; got None"),
    ],
)
def test_bad_parameters_are_refused(changed, message):
    with pytest.raises(InvalidParameterError) as refusal:
        model(**changed)
    assert str(refusal.value) == f"DeltaPresence.{message}."
