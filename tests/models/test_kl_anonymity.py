"""(k,l)-anonymity: its own facts."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InvalidParameterError
from sfumato.tables.models.kl_anonymity import KLAnonymity
from sfumato.tables.published.groups import Groups


def model(**changed: object) -> KLAnonymity:
    return KLAnonymity(**{"k": 3, "l": 2, "sensitive": "s", **changed})


def test_identity_and_values_are_bounded_apart():
    groups = Groups.from_counts(s=[[2, 2], [3, 1], [1, 1]])
    assert [part.levels(groups).tolist() for part in model().parts] == [[4, 4, 2], [2, 4 / 3, 2]]
    assert model().satisfied_by(groups).tolist() == [True, False, False]
    assert model().levels(groups).tolist() == [1, 2 / 3, 2 / 3]


def test_a_group_may_be_smaller_than_l_where_buckets_hold_more_values():
    shown = pa.table({
        "age": ["20-29", "20-29", "30-39", "30-39"],
        "s": ["a", "b", "c", "d"],
        "_bucket_s": [1, 1, 1, 1],
    })  # fmt: skip
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["s"])
    assert sf.audit(shown, schema, [model(k=2, l=4)]).holds
    assert not sf.audit(shown.drop_columns(["_bucket_s"]), schema, [model(k=2, l=4)]).holds
    assert model(k=2, l=4).min_group_size == 2


def test_missing_values_that_may_be_anything_are_the_most_frequent_value():
    groups = Groups.from_counts(s=[[2, 1]], missing={"s": [1]})
    assert model(k=1).levels(groups).tolist() == [(4 / 3) / 2]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"k": 0}, "k must be a whole number of at least 1; got 0"),
        ({"k": 2.0}, "k must be a whole number of at least 1; got 2.0"),
        ({"k": True}, "k must be a whole number of at least 1; got True"),
        ({"l": 0.5}, "l must be a number of at least 1; got 0.5"),
        ({"l": float("inf")}, "l must be a number of at least 1; got inf"),
        ({"l": "2"}, "l must be a number of at least 1; got '2'"),
        ({"sensitive": ["s"]}, "sensitive must be the name of an attribute; got ['s']"),
    ],
)
def test_bad_parameters_are_refused(changed, message):
    with pytest.raises(InvalidParameterError) as refusal:
        model(**changed)
    assert str(refusal.value) == f"KLAnonymity.{message}."
