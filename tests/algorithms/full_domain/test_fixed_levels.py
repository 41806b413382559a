"""FixedLevels publishes the node that is named, from Python, from a recipe and from the command line alike."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from lattice_oracle import Oracle, partition
from lattice_tasks import tasks
from sfumato.errors import InfeasibleError, InvalidParameterError, UnsupportedModelError
from sfumato.schema.roles import MissingPolicy
from sfumato.tables.algorithms.full_domain.fixed_levels import FixedLevels
from sfumato.tables.published.solution import NOT_PUBLISHED
from sfumato.testing._requests import MaxGroupSize
from worked_lattices import AGE_AND_ZIP, AGE_AND_ZIP_SCHEMA, age_and_zip

K2 = [sf.models.KAnonymity(k=2)]


def published(levels, **how):
    frame = sf.anonymize(AGE_AND_ZIP, AGE_AND_ZIP_SCHEMA, K2, FixedLevels(levels=levels), **how).frame
    return list(zip(frame["age"].to_pylist(), frame["zip"].to_pylist(), strict=True))


def test_every_attribute_is_published_on_its_level():
    assert published({"age": 1, "zip": 1}) == [("[20, 30)", "11*")] * 2 + [("[30, 40)", "22*")] * 2
    assert published({"zip": 2, "age": 2}) == [("*", "1**")] * 2 + [("*", "2**")] * 2


def test_what_is_not_named_is_fully_generalized():
    assert published({"zip": 1}) == [("*", "11*")] * 2 + [("*", "22*")] * 2
    assert published(None) == published({}) == [("*", "*")] * 4


@given(data=st.data())
def test_a_node_is_published_as_its_definition_says(data):
    task = data.draw(tasks())
    oracle = Oracle(task)
    levels = data.draw(st.sampled_from(sorted(oracle.nodes)))
    names = [column.name for column in task.table.quasi]
    algorithm, node = FixedLevels(levels=dict(zip(names, levels, strict=True))), oracle.nodes[levels]
    if algorithm.check(task) is None:
        found = algorithm.search(task)
        assert sorted(node.suppressed) == [row for row, group in enumerate(found.group) if group == NOT_PUBLISHED]
        labels = {row: cell for cell in node.kept for row in node.groups[cell]}
        assert partition(labels[row] for row in sorted(labels)) == partition(found.group[row] for row in sorted(labels))


def test_bad_groups_are_suppressed_and_no_more_of_them_than_may_be():
    table = AGE_AND_ZIP.slice(0, 3)
    one_alone = FixedLevels(levels={"age": 1})
    release = sf.anonymize(table, AGE_AND_ZIP_SCHEMA, K2, one_alone, max_suppressed=0.34)
    assert release.frame["age"].to_pylist() == ["[20, 30)"] * 2
    with pytest.raises(InfeasibleError, match="FixedLevels would suppress 1 records, more than the 0 allowed"):
        sf.anonymize(table, AGE_AND_ZIP_SCHEMA, K2, one_alone)


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        ({"aeg": 1}, "FixedLevels names 'aeg', which is not a quasi-identifier; did you mean 'age'?"),
        ({"height": 1}, "FixedLevels names 'height', which is not a quasi-identifier; drop it."),
        ({"age": 3}, "FixedLevels names level 3 of 'age', which has levels from 0 to 2."),
    ],
)
def test_what_the_table_does_not_have_is_refused(levels, sentence):
    assert FixedLevels(levels=levels).check(age_and_zip()) == sentence
    with pytest.raises(UnsupportedModelError, match="FixedLevels"):
        published(levels)


@pytest.mark.parametrize("levels", [3, {"age": -1}, {"age": 1.0}, {"age": True}, {1: 1}, ["age"], {"age": "1"}])
def test_levels_that_are_none_are_refused(levels):
    with pytest.raises(InvalidParameterError, match="levels must be a mapping from names to whole numbers"):
        FixedLevels(levels=levels)


def test_models_of_unions_are_judged_unless_missing_values_match_all():
    task = replace(age_and_zip(), models=[MaxGroupSize(k=3)])
    assert FixedLevels().check(task) is None
    assert FixedLevels().check(replace(task, missing=MissingPolicy.MATCHES_ALL)) == (
        "FixedLevels does not support FewerThan(k=3) if missing values match all; use own-value."
    )


def test_levels_given_are_not_the_callers_own():
    levels = {"age": 1}
    algorithm = FixedLevels(levels=levels)
    levels["age"] = 2
    assert algorithm == FixedLevels(levels={"age": 1})
    assert hash(algorithm) == hash(FixedLevels(levels={"zip": 1}))


def test_a_recipe_holds_the_levels():
    recipe = sf.Recipe(schema=AGE_AND_ZIP_SCHEMA, models=K2, algorithm=FixedLevels(levels={"age": 1, "zip": 1}), seed=1)
    again = sf.Recipe.from_toml(recipe.to_toml())
    assert again.algorithm == recipe.algorithm
    release = sf.run_recipe(again, AGE_AND_ZIP)
    assert release.published.equals(sf.run_recipe(recipe, AGE_AND_ZIP).published)


def test_any_node_of_an_explored_lattice_can_be_published():
    found = sf.algorithms.Optimal().explore(age_and_zip(), complete=True).exploration
    for levels in found.anonymous:
        assert len(published(dict(zip(found.names, levels, strict=True)))) == 4
