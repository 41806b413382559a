"""Recipes whose columns get other roles."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.release.changing import with_roles


@pytest.fixture
def recipe():
    return sf.Recipe(
        schema=sf.Schema(quasi=["age", "zip"], sensitive=["disease"], hierarchies={"age": sf.Intervals(5, 10)}),
        models=[
            sf.KAnonymity(k=5),
            sf.KAnonymity(k=9, quasi=["zip"]),
            sf.DistinctLDiversity(l=2, sensitive="disease"),
        ],
        algorithm=sf.Mondrian(),
    )


def test_no_change_is_the_same_recipe(recipe):
    assert with_roles(recipe, {}).to_dict() == recipe.to_dict()


def test_models_of_a_column_that_is_no_longer_sensitive_are_dropped(recipe):
    changed = with_roles(recipe, {"disease": "quasi"})
    assert changed.schema.quasi == ("age", "zip", "disease")
    assert [model.name for model in changed.models] == ["k-anonymity", "k-anonymity"]


def test_a_model_of_some_quasi_identifiers_loses_columns_that_are_none_any_more(recipe):
    assert len(with_roles(recipe, {"zip": "insensitive"}).models) == 2


def test_a_column_without_a_role_is_left_out_of_the_recipe(recipe):
    assert "zip" not in with_roles(recipe, {"zip": None}).schema.attributes


def test_a_hierarchy_stays_with_its_column(recipe):
    changed = with_roles(recipe, {"age": "quasi", "zip": "identifier"})
    assert changed.schema.hierarchies == recipe.schema.hierarchies


def test_unknown_roles_are_refused(recipe):
    with pytest.raises(sf.RecipeError, match="needs a role, one of"):
        with_roles(recipe, {"age": "secret"})
