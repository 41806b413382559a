"""The schema: every attribute has one role, and what else is said about it fits."""

from __future__ import annotations

import pickle

import pytest

from sfumato.errors import SchemaError
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.schema.roles import MissingPolicy, Role, Scale
from sfumato.schema.schema import Schema

FULL = Schema(
    identifiers=["name"],
    quasi_identifiers=["age", "zip"],
    sensitive=["disease"],
    insensitive=["cost"],
    hierarchies={"age": Intervals(5, 10), "zip": Prefixes()},
    scales={"age": "numeric"},
    orders={"disease": ["mild", "severe"]},
    flags={"age": "age__sensitive"},
    missing="matches-all",
)


def test_every_attribute_has_its_role():
    roles = {name: FULL.role(name) for name in FULL.attributes}
    assert roles == {
        "name": Role.IDENTIFIER,
        "age": Role.QUASI,
        "zip": Role.QUASI,
        "disease": Role.SENSITIVE,
        "cost": Role.INSENSITIVE,
    }


def test_words_become_what_they_mean():
    assert FULL.scales == {"age": Scale.NUMERIC}
    assert FULL.orders == {"disease": ("mild", "severe")}
    assert FULL.missing is MissingPolicy.MATCHES_ALL
    assert FULL.quasi_identifiers == ("age", "zip")


def test_an_empty_schema_names_nothing_and_takes_missing_as_a_value():
    assert Schema().attributes == ()
    assert Schema().missing is MissingPolicy.OWN_VALUE


def test_equal_schemas_are_equal_and_survive_pickling():
    assert Schema(quasi_identifiers=("age",)) == Schema(quasi_identifiers=["age"]) != Schema(sensitive=["age"])
    assert pickle.loads(pickle.dumps(FULL)) == FULL  # noqa: S301 - what was pickled one call before


def test_later_changes_of_what_was_given_do_not_reach_the_schema():
    quasi, orders, flags = ["age"], {"age": ["a", "b"]}, {"age": "flag"}
    schema = Schema(quasi_identifiers=quasi, orders=orders, flags=flags)
    quasi.append("zip")
    orders["age"].append("c")
    flags["age"] = "other"
    assert schema.attributes == ("age",)
    assert schema.orders == {"age": ("a", "b")}
    assert schema.flags == {"age": "flag"}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"quasi_identifiers": ["age"], "sensitive": ["age"]},
            "Attribute 'age' is listed twice, as quasi and as sensitive; keep one.",
        ),
        ({"quasi_identifiers": ["age", "age"]}, "Attribute 'age' is listed twice, as quasi and as quasi; keep one."),
        ({"quasi_identifiers": "age"}, "Schema.quasi_identifiers must be a list of column names; got str."),
        ({"quasi_identifiers": 3}, "Schema.quasi_identifiers must be a list of column names; got int."),
        ({"quasi_identifiers": [3]}, "Schema.quasi_identifiers must be a list of column names, each a string."),
        (
            {"quasi_identifiers": ["age"], "scales": {"age": "nominaly"}},
            "Schema.scale must be one of numeric, ordinal, categorical, nominal; got 'nominaly'.",
        ),
        ({"missing": "ignore"}, "Schema.missing must be one of own-value, matches-all; got 'ignore'."),
        (
            {"quasi_identifiers": ["zip"], "hierarchies": {"zipp": Prefixes()}},
            "Schema.hierarchies names 'zipp', which has no role; did you mean 'zip'?",
        ),
        ({"orders": {"age": ["a"]}}, "Schema.orders names 'age', which has no role; give it a role."),
        (
            {"scales": {"age": "numeric"}},
            "Schema.scales names 'age', which has no role; give it a role.",
        ),
        ({"flags": {"age": "flag"}}, "Schema.flags names 'age', which has no role; give it a role."),
        (
            {"insensitive": ["cost"], "flags": {"cost": "flag"}},
            "Attribute 'cost' has sensitive cells, so its role must be quasi or sensitive.",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(settings, sentence):
    with pytest.raises(SchemaError) as refused:
        Schema(**settings)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("agee", "Attribute 'agee' has no role; did you mean 'age'?"), ("xyz", "Attribute 'xyz' has no role")],
)
def test_an_attribute_without_role_is_refused(name, sentence):
    with pytest.raises(SchemaError) as refused:
        FULL.role(name)
    assert str(refused.value) == sentence


def test_columns_that_nothing_names_are_told():
    columns = ["name", "age", "zip", "disease", "cost", "age__sensitive", "extra"]
    assert FULL.check_columns(columns) == ("extra",)


def test_a_column_that_the_table_lacks_is_refused_with_the_nearest_name():
    schema = Schema(quasi_identifiers=["zipp"])
    with pytest.raises(SchemaError) as refused:
        schema.check_columns(["zip"])
    assert str(refused.value) == "Schema names 'zipp', which is not in the table; did you mean 'zip'?"


def test_a_column_that_the_table_lacks_is_refused_with_all_names_when_none_is_near():
    with pytest.raises(SchemaError) as refused:
        Schema(quasi_identifiers=["zip"]).check_columns([f"column {i}" for i in range(14)])
    assert "which is not in the table; the table has 'column 0', " in str(refused.value)
    assert str(refused.value).endswith("'column 11' and 2 more.")


def test_a_flag_column_that_the_table_lacks_is_refused():
    schema = Schema(quasi_identifiers=["age"], flags={"age": "secret"})
    with pytest.raises(SchemaError, match="names 'secret', which is not in the table; the table has 'age'"):
        schema.check_columns(["age"])


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        ({"orders": {"g": "abc"}}, "must be a list of all values"),
        ({"orders": {"g": None}}, "must be a list of all values"),
        ({"orders": {"g": ["a", None]}}, "contains a missing value"),
        ({"orders": {"g": [1, 2, 1]}}, "repeats 1 values"),
        ({"orders": [1]}, "Schema.orders must be a mapping"),
        ({"hierarchies": {"g": [5, 10]}}, "must be a hierarchy"),
        ({"hierarchies": {"g": Prefixes}}, "must be a hierarchy"),
        ({"hierarchies": [1]}, "Schema.hierarchies must be a mapping"),
    ],
)
def test_orders_and_hierarchies_of_the_wrong_kind_are_refused(extra, sentence):
    with pytest.raises(SchemaError, match=sentence):
        Schema(quasi_identifiers=["g"], **extra)


def test_an_order_of_numbers_is_an_order_of_their_texts():
    assert Schema(quasi_identifiers=["g"], orders={"g": [1, 2.0, 3]}).orders == {"g": ("1", "2", "3")}


def test_transient_attributes_are_sensitive_ones():
    schema = Schema(quasi_identifiers=["age"], sensitive=["disease"], transient=["disease"])
    assert schema.transient == ("disease",)
    with pytest.raises(SchemaError, match="'age' is called transient, so its role must be sensitive"):
        Schema(quasi_identifiers=["age"], transient=["age"])
    with pytest.raises(SchemaError, match=r"Schema.transient names 'diseas', which has no role; did you mean"):
        Schema(sensitive=["disease"], transient=["diseas"])
