"""p+-sensitive k-anonymity: its own facts."""

from __future__ import annotations

import pytest

from counted import named
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.models.p_plus_sensitive_k_anonymity import PPlusSensitiveKAnonymity
from sfumato.tables.published.groups import Groups

VALUES = ["HIV", "cancer", "cold", "flu"]
CATEGORIES = {"HIV": "severe", "cancer": "severe", "cold": "mild", "flu": "mild"}


def model(**changed: object) -> PPlusSensitiveKAnonymity:
    return PPlusSensitiveKAnonymity(**{"p": 2, "k": 2, "sensitive": "s", "categories": CATEGORIES, **changed})


def test_categories_are_counted_instead_of_values():
    groups = named([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 2, 2], [0, 1, 0, 0]], VALUES)
    assert model().levels(groups).tolist() == [0.5, 1, 0.5, 0.5]
    assert model().satisfied_by(groups).tolist() == [False, True, False, False]


def test_a_missing_value_belongs_to_no_category():
    own = named([[1, 1, 0, 0, 3], [1, 0, 1, 0, 1], [0, 0, 0, 0, 4]], VALUES)
    anything = named([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]], VALUES, missing={"s": [3, 1, 4]})
    for groups in (own, anything):
        assert [part.levels(groups).tolist() for part in model().parts] == [[5, 3, 4], [1, 2, 1]]


def test_values_without_a_category_are_counted_not_named():
    groups = named([[1, 1, 1, 1]], VALUES)
    with pytest.raises(SchemaError, match="has 2 distinct values to which the model assigns no category") as refusal:
        model(categories={"HIV": "severe", "cancer": "severe", "plague": "severe"}).satisfied_by(groups)
    assert not any(value in str(refusal.value) for value in VALUES)


def test_values_that_do_not_occur_need_no_category():
    groups = named([[1, 0, 1, 0]], VALUES)
    assert model(categories={"HIV": "severe", "cold": "mild"}).satisfied_by(groups).all()


def test_the_values_must_be_known():
    with pytest.raises(SchemaError, match="needs the values of column 's'; count it with its domain"):
        model().satisfied_by(Groups.from_counts(s=[[1, 1]]))


@pytest.mark.parametrize("categories", [{}, None, ["severe"], {"HIV": 3}, {1: "severe"}, "severe"])
def test_categories_must_be_a_mapping_of_texts(categories):
    with pytest.raises(InvalidParameterError) as refusal:
        model(categories=categories)
    assert str(refusal.value) == (
        "PPlusSensitiveKAnonymity.categories must be a mapping from values, as text, to names of categories."
    )


def test_p_is_at_most_k():
    with pytest.raises(InvalidParameterError, match=r"p must be a whole number from 1 to k = 2; got 3"):
        model(p=3)
    with pytest.raises(InvalidParameterError, match=r"k must be a whole number of at least 1; got 0"):
        model(k=0)
    with pytest.raises(InvalidParameterError, match="sensitive must be the name of an attribute; got 3"):
        model(sensitive=3)


def test_a_model_does_not_tell_its_values_and_does_not_share_its_mapping():
    given = dict(CATEGORIES)
    made = model(categories=given)
    given["HIV"] = "mild"
    assert made.categories["HIV"] == "severe"
    assert "HIV" not in repr(made)
    assert "HIV" not in repr(made.parts)
