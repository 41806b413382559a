"""(X,Y)-anonymity and (X,Y)-privacy: their own facts."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.errors import InvalidParameterError
from sfumato.tables.models.xy_anonymity import XYAnonymity
from sfumato.tables.published.groups import Groups


def model(**changed: object) -> XYAnonymity:
    return XYAnonymity(**{"k": 2, "y": "person", **changed})


def test_persons_count_once_however_many_records_they_have():
    groups = Groups.from_counts(person=[[5, 0, 0], [1, 1, 0], [4, 1, 1]])
    assert model().satisfied_by(groups).tolist() == [False, True, True]
    assert model(k=3).levels(groups).tolist() == [1 / 3, 2 / 3, 1]


def test_privacy_bounds_the_share_of_every_person_too():
    groups = Groups.from_counts(person=[[2, 2], [3, 1], [4, 0]])
    assert model(h=0.5).satisfied_by(groups).tolist() == [True, False, False]
    assert model(h=0.75).satisfied_by(groups).tolist() == [True, True, False]


@pytest.mark.parametrize("largest", range(1, 60))
def test_a_share_that_equals_the_bound_is_kept_whatever_its_decimals(largest):
    groups = Groups.from_counts(person=[[largest, 100 - largest], [largest + 1, 99 - largest]])
    most = max(largest, 100 - largest)
    assert model(h=most / 100).satisfied_by(groups)[0]
    assert not model(h=(most - 1) / 100).satisfied_by(groups)[0]


def test_only_a_bound_on_shares_can_be_spoiled():
    assert model().extendable
    assert not model(h=0.5).extendable
    assert model().monotone
    assert model(h=0.5).monotone


def test_x_is_where_groups_are_formed():
    assert model(x=["age"]).scope == ("age",)
    assert model().scope == ()
    assert model(x=["age"]).sensitive_attributes == ("person",)


def test_what_is_left_open_is_no_parameter():
    assert model().parameters() == {"k": 2, "y": "person"}
    assert model(x=("age", "zip"), h=0.5).parameters() == {"k": 2, "y": "person", "x": ["age", "zip"], "h": 0.5}
    assert repr(model(x=["age"])) == "XYAnonymity(k=2, y='person', x=['age'])"


def test_a_y_that_is_not_sensitive_is_refused():
    table = sf.datasets.generate_hospital(20, seed=1)
    with pytest.raises(sf.errors.SchemaError, match="XYAnonymity names 'sex', but its role is not sensitive"):
        sf.audit(table.select(["age", "sex"]), sf.Schema(quasi_identifiers=["age", "sex"]), [model(y="sex", x=["age"])])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"k": 0}, "k must be a whole number of at least 1; got 0"),
        ({"k": 1.5}, "k must be a whole number of at least 1; got 1.5"),
        ({"y": None}, "y must be the name of an attribute; got None"),
        ({"x": "age"}, "x must be a list of column names; got 'age'"),
        ({"x": [1]}, "x must be a list of column names; got [1]"),
        ({"x": 3}, "x must be a list of column names; got 3"),
        ({"h": 0}, "h must be a share in (0, 1]; got 0"),
        ({"h": 1.1}, "h must be a share in (0, 1]; got 1.1"),
        ({"h": "0.5"}, "h must be a share in (0, 1]; got '0.5'"),
    ],
)
def test_bad_parameters_are_refused(changed, message):
    with pytest.raises(InvalidParameterError) as refusal:
        model(**changed)
    assert str(refusal.value) == f"XYAnonymity.{message}."
