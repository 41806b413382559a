"""(H,p,k)-anonymity: its own facts."""

from __future__ import annotations

import pytest

from counted import named
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.models.hpk_anonymity import HPKAnonymity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.p_sensitive_k_anonymity import PSensitiveKAnonymity

VALUES = ["HIV", "cancer", "diabetes", "flu"]
LEVELS = {"HIV": 3, "cancer": 3, "diabetes": 2, "flu": 1}


def model(**changed: object) -> HPKAnonymity:
    return HPKAnonymity(**{"h": 2, "p": 2, "k": 2, "sensitive": "s", "sensitivity_levels": LEVELS, **changed})


def test_records_values_and_levels_are_counted():
    groups = named([[2, 2, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1], [0, 0, 0, 9]], VALUES)
    strict = model(h=2, p=3, k=4)
    assert [part.levels(groups).tolist() for part in strict.parts] == [[4, 4, 2, 9], [2, 4, 2, 1], [1, 3, 2, 1]]
    assert strict.satisfied_by(groups).tolist() == [False, True, False, False]
    assert strict.levels(groups).tolist() == [1 / 2, 1, 1 / 2, 1 / 3]


def test_with_one_level_it_is_p_sensitive_and_with_one_value_k_anonymous():
    groups = named([[2, 2, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1], [0, 0, 0, 9], [1, 0, 0, 0]], VALUES)
    sensitive = PSensitiveKAnonymity(p=2, k=3, sensitive="s")
    assert model(h=1, p=2, k=3).levels(groups).tolist() == sensitive.levels(groups).tolist()
    assert model(h=1, p=1, k=3).satisfied_by(groups).tolist() == KAnonymity(k=3).satisfied_by(groups).tolist()


def test_levels_may_be_texts_or_whole_numbers():
    texts = {value: f"level {level}" for value, level in LEVELS.items()}
    groups = named([[2, 2, 0, 0], [1, 0, 0, 1]], VALUES)
    assert (
        model(sensitivity_levels=texts).satisfied_by(groups).tolist()
        == model().satisfied_by(groups).tolist()
        == [False, True]
    )


def test_values_without_a_level_are_counted_not_named():
    with pytest.raises(SchemaError, match="Column 's' has 1 distinct values to which the model assigns no category or"):
        model(sensitivity_levels={"HIV": 3, "flu": 1, "cancer": 3}).satisfied_by(named([[1, 1, 1, 1]], VALUES))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"h": 3}, "h must be a whole number from 1 to p = 2; got 3"),
        ({"h": 0}, "h must be a whole number from 1 to p = 2; got 0"),
        ({"h": True}, "h must be a whole number from 1 to p = 2; got True"),
        ({"p": 3}, "p must be a whole number from 1 to k = 2; got 3"),
        ({"p": 1.5}, "p must be a whole number from 1 to k = 2; got 1.5"),
        ({"k": 0}, "k must be a whole number of at least 1; got 0"),
        ({"sensitive": None}, "sensitive must be the name of an attribute; got None"),
        (
            {"sensitivity_levels": {}},
            "levels must be a mapping from values, as text, to levels, which are strings or whole numbers",
        ),
        ({"sensitivity_levels": {"flu": 1.5}}, "levels must be a mapping from values, as text, to levels"),
        ({"sensitivity_levels": {"flu": True}}, "levels must be a mapping from values, as text, to levels"),
    ],
)
def test_bad_parameters_are_refused(changed, message):
    with pytest.raises(InvalidParameterError) as refusal:
        model(**changed)
    assert message in str(refusal.value)


def test_a_model_does_not_tell_its_values():
    assert repr(model()) == "HPKAnonymity(h=2, p=2, k=2, sensitive='s')"
