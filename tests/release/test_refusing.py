"""What a search would refuse is told without one, model by model."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato._progress import ignore_progress
from sfumato.tables._pipeline.request import build_request
from tiny_requests import SEARCHES, D, request

TRIALS = 40


def recipe_of(schema, models, algorithm=None, **options):
    return sf.Recipe(schema=schema, models=tuple(models), algorithm=algorithm or sf.algorithms.Mondrian(), **options)


def raised_by(recipe, table):
    """Return what building the task of a recipe raises, if anything."""
    try:
        build_request(recipe, table, ignore_progress)
    except sf.errors.SfumatoError as error:
        return error
    return None


@pytest.mark.parametrize("algorithm", SEARCHES, ids=repr)
def test_exactly_what_carrying_out_refuses_before_a_search_is_told(algorithm):
    rng, told = random.Random(7), 0
    for _ in range(TRIALS):
        table, schema, models, share = request(rng)
        recipe = recipe_of(schema, models, algorithm, max_suppressed=share)
        found, error = sf.check(recipe, table), raised_by(recipe, table)
        assert bool(found) == (error is not None)
        if error is not None:
            assert (type(error), str(error)) in [(type(each.error), str(each.error)) for each in found]
            told += 1
    assert 0 < told < TRIALS


@pytest.fixture
def people():
    return pa.table({"age": [30, 31, 44, 45], "sex": list("ffmm"), D: ["a", "b", "a", "b"], "pay": ["x"] * 4})


SCHEMA = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=[D, "pay"])


def told(recipe, table):
    return [each.to_dict() for each in sf.check(recipe, table)]


def test_every_model_that_cannot_be_kept_is_told_at_its_place(people):
    models = [
        sf.models.KAnonymity(k=5),
        sf.models.DistinctLDiversity(l=2, sensitive=D),
        sf.models.DistinctLDiversity(l=9, sensitive=D),
        sf.models.DistinctLDiversity(l=2, sensitive="sex"),
    ]
    found = told(recipe_of(SCHEMA, models), people)
    assert sorted((each["model"], each["kind"]) for each in found) == [
        (0, "InfeasibleError"),
        (2, "InfeasibleError"),
        (3, "SchemaError"),
    ]
    assert all(each["sentence"].endswith(".") for each in found)


def test_equal_models_are_told_apart_by_their_place(people):
    models = [sf.models.DistinctLDiversity(l=2, sensitive="pay"), sf.models.DistinctLDiversity(l=2, sensitive="pay")]
    assert [each["model"] for each in told(recipe_of(SCHEMA, models), people)] == [0, 1]


def test_what_the_algorithm_does_not_support_belongs_to_no_model(people):
    found = told(recipe_of(SCHEMA, [sf.models.KAnonymity(k=2)], sf.algorithms.Anatomy()), people)
    assert [(each["model"], each["kind"]) for each in found] == [(None, "UnsupportedModelError")]


def test_a_table_without_the_columns_is_told_in_a_sentence(people):
    found = told(recipe_of(SCHEMA, [sf.models.KAnonymity(k=2)]), people.drop_columns(["sex"]))
    assert [(each["model"], each["kind"]) for each in found] == [(None, "SchemaError")]


def test_masked_values_are_what_models_are_held_against():
    table = pa.table({"age": [30, 31, 44, 45], "bill": [10, 20, 50, 60]})
    recipe = recipe_of(
        sf.Schema(quasi_identifiers=["age"], sensitive=["bill"]),
        [sf.models.DistinctLDiversity(l=2, sensitive="bill")],
        masking=(sf.masking.TopCode(column="bill", at=5),),
    )
    assert [each["model"] for each in told(recipe, table)] == [0]


def test_nothing_is_told_of_what_can_be_searched(people):
    assert (
        sf.check(recipe_of(SCHEMA, [sf.models.KAnonymity(k=4), sf.models.DistinctLDiversity(l=2, sensitive=D)]), people)
        == ()
    )
