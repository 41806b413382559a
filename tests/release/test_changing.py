"""Recipes whose columns get other roles."""

from __future__ import annotations

from dataclasses import replace

import pytest

import sfumato as sf
from sfumato.tables._pipeline.recipe_edits import with_flags, with_roles


@pytest.fixture
def recipe():
    return sf.Recipe(
        schema=sf.Schema(
            quasi_identifiers=["age", "zip"],
            sensitive=["disease"],
            hierarchies={"age": sf.hierarchies.Intervals(5, 10)},
        ),
        models=[
            sf.models.KAnonymity(k=5),
            sf.models.KAnonymity(k=9, quasi=["zip"]),
            sf.models.DistinctLDiversity(l=2, sensitive="disease"),
        ],
        algorithm=sf.algorithms.Mondrian(),
    )


def test_no_change_is_the_same_recipe(recipe):
    assert with_roles(recipe, {}).to_dict() == recipe.to_dict()


def test_models_of_a_column_that_is_no_longer_sensitive_are_dropped(recipe):
    changed = with_roles(recipe, {"disease": "quasi"})
    assert changed.schema.quasi_identifiers == ("age", "zip", "disease")
    assert [model.name for model in changed.models] == ["k-anonymity", "k-anonymity"]


def test_a_model_of_some_quasi_identifiers_loses_columns_that_are_none_any_more(recipe):
    assert len(with_roles(recipe, {"zip": "insensitive"}).models) == 2


def test_a_column_without_a_role_is_left_out_of_the_recipe(recipe):
    assert "zip" not in with_roles(recipe, {"zip": None}).schema.attributes


def test_a_hierarchy_stays_with_its_column(recipe):
    changed = with_roles(recipe, {"age": "quasi", "zip": "identifier"})
    assert changed.schema.hierarchies == recipe.schema.hierarchies


def test_unknown_roles_are_refused(recipe):
    with pytest.raises(sf.errors.RecipeError, match="needs a role, one of"):
        with_roles(recipe, {"age": "secret"})


@pytest.fixture
def hiding(recipe):
    """Return a recipe of a table with a column that can flag cells."""
    return replace(recipe, schema=replace(recipe.schema, insensitive=["hide"]))


def test_a_column_of_flags_is_named_and_no_longer_published(hiding):
    flagged = with_flags(hiding, {"age": "hide"})
    assert flagged.schema.flags == {"age": "hide"}
    assert "hide" not in flagged.schema.attributes
    assert flagged.models == hiding.models


def test_models_about_flagged_cells_come_and_go_with_the_flags(hiding):
    flagged = with_flags(hiding, {"age": "hide"})
    promised = replace(flagged, models=(*flagged.models, sf.models.DistinctLDiversity(l=2, sensitive="age")))
    assert with_roles(promised, {}).models == promised.models
    assert with_flags(promised, {"age": None}).models == hiding.models
    insensitive = with_roles(promised, {"age": "identifier"})
    assert (insensitive.schema.flags, insensitive.models) == ({}, hiding.models)


def test_what_cannot_be_kept_comes_with_advice_that_can():
    table = sf.datasets.generate_hospital(40, seed=1)
    impossible = sf.Recipe(
        schema=sf.Schema(quasi_identifiers=["age", "sex"], sensitive=["disease"]),
        models=[sf.models.KAnonymity(k=99)],
        algorithm=sf.algorithms.Mondrian(),
    )
    with pytest.raises(sf.errors.InfeasibleError) as refused:
        sf.run_recipe(impossible, table)
    assert refused.value.advice == ({"model": "k-anonymity", "attributes": [], "parameter": "k", "value": 40},)
    assert sf.run_recipe(replace(impossible, models=[sf.models.KAnonymity(k=40)]), table).audit.holds


def test_too_many_suppressed_records_come_with_the_share_that_is_enough():
    table = sf.datasets.generate_hospital(60, seed=1)
    asked = sf.Recipe(
        schema=sf.Schema(quasi_identifiers=["age", "sex"]),
        models=[sf.models.KAnonymity(k=2)],
        algorithm=sf.algorithms.FixedLevels(levels={"age": 0, "sex": 0}),
    )
    with pytest.raises(sf.errors.InfeasibleError, match="max_suppressed=") as refused:
        sf.run_recipe(asked, table)
    (advice,) = refused.value.advice
    assert sf.run_recipe(replace(asked, **advice), table).audit.holds
