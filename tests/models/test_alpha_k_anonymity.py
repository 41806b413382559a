"""(alpha,k)-anonymity: its own facts."""

from __future__ import annotations

import pytest

from counted import named
from sfumato.errors import InvalidParameterError
from sfumato.tables.models.alpha_k_anonymity import AlphaKAnonymity
from sfumato.tables.published.groups import Groups

VALUES = ["HIV", "cold", "flu"]


def model(**changed: object) -> AlphaKAnonymity:
    return AlphaKAnonymity(**{"alpha": 0.5, "k": 3, "sensitive": "s", **changed})


def test_no_value_holds_more_than_alpha():
    groups = Groups.from_counts(s=[[2, 1, 1], [3, 1, 1], [1, 1, 0]])
    assert model().satisfied_by(groups).tolist() == [True, False, False]
    assert model().levels(groups).tolist() == [1, 0.5 / 0.6, 2 / 3]


def test_only_given_values_are_protected():
    groups = named([[1, 3, 0], [2, 1, 0], [0, 4, 0]], VALUES)
    assert model(values=["HIV"]).satisfied_by(groups).tolist() == [True, False, True]
    assert model(values="HIV") == model(values=("HIV",))
    assert model(values=["HIV", "cold"]).satisfied_by(groups).tolist() == [False, False, False]
    assert model().satisfied_by(groups).tolist() == [False, False, False]


def test_a_record_can_spoil_a_group():
    groups = Groups.from_counts(s=[[2, 2], [1, 0]])
    assert model().satisfied_by(groups).tolist() == [True, False]
    assert model().satisfied_by(groups.merge_groups(groups.sizes * 0)).tolist() == [False]


def test_missing_values_that_may_be_anything_are_a_protected_value():
    groups = named([[1, 3, 2], [0, 3, 3]], VALUES, missing={"s": [2, 5]})
    assert [part.levels(groups).tolist() for part in model(values=["HIV"]).parts] == [[8, 11], [0.75, 10 / 11]]


def test_a_model_does_not_tell_its_values():
    assert repr(model(values=["HIV"])) == "AlphaKAnonymity(alpha=0.5, k=3, sensitive='s', values=<1 values>)"
    assert repr(model()) == "AlphaKAnonymity(alpha=0.5, k=3, sensitive='s')"


@pytest.mark.parametrize("alpha", [0, -1, 1.01, True, "0.5", float("nan")])
def test_alpha_is_above_0_and_at_most_1(alpha):
    with pytest.raises(InvalidParameterError, match=r"AlphaKAnonymity\.alpha must be a number above 0 and at most 1"):
        model(alpha=alpha)


@pytest.mark.parametrize("values", [[], [1], [None], (), 3])
def test_values_must_be_texts(values):
    with pytest.raises(
        InvalidParameterError, match=r"^AlphaKAnonymity\.values must be a list with the text of at least one value"
    ):
        model(values=values)


def test_k_and_sensitive_are_checked():
    with pytest.raises(InvalidParameterError, match="k must be a whole number of at least 1; got 0"):
        model(k=0)
    with pytest.raises(InvalidParameterError, match="sensitive must be the name of an attribute; got 3"):
        model(sensitive=3)
