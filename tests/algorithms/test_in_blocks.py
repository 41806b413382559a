"""Tables that are searched in blocks: correct, whatever the order of rows, and as ever if one block holds them all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.drawn_examples import examples
from tests.strategies import described_tables

import sfumato as sf
from sfumato._randomness import seeded_generator
from sfumato.core.recipe import Recipe
from sfumato.encoding.coded_table import encode_table
from sfumato.errors import InvalidParameterError, UnsupportedModelError
from sfumato.io._dataframes import to_arrow
from sfumato.schema.roles import SENSITIVE, MissingPolicy
from sfumato.tables.algorithms._blocks import (
    block_requests,
    check_blocks,
    merge_solutions,
    partition_into_blocks,
    search_in_blocks,
)
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.local._top_down import MedianPartitioning
from sfumato.tables.models._conjunction import satisfy_all
from sfumato.tables.published.groups import Groups
from sfumato.tables.published.solution import Center, RecodedAttribute, TableSolution
from sfumato.testing._requests import MaxGroupSize

SECRET = "5f" * 32
K = (sf.models.KAnonymity(k=3),)
L = (sf.models.FrequencyLDiversity(l=2, sensitive="occupation"),)
T = (sf.models.KAnonymity(k=3), sf.models.TCloseness(t=0.6, sensitive="occupation"))
KL = (sf.models.KLAnonymity(k=2, l=2, sensitive="occupation"),)
REQUESTS = [
    (sf.algorithms.TopDownNCP(), T),
    (sf.algorithms.SABRE(), T),
    (sf.algorithms.LocalRecoding(), K),
    (sf.algorithms.MDAV(), T),
    (sf.algorithms.VMDAV(), K),
    (sf.algorithms.KMember(), T),
    (sf.algorithms.GreedyPKClustering(publish="ranges"), K),
    (sf.algorithms.MAASLIE(), L),
    (sf.algorithms.Mondrian(strict=False), K),
    (sf.algorithms.Anatomy(), L),
    (sf.algorithms.Anatomy(), T[1:]),
    (sf.algorithms.LocalAnatomy(), L),
    (sf.algorithms.LocalAnatomyGeneralization(), (*K, *L)),
    (sf.algorithms.CrossBucketGeneralization(), KL),
    (sf.algorithms.CrossBucketGeneralization(), (sf.models.EntropyLDiversity(l=2, sensitive="occupation"),)),
    (sf.algorithms.Slicing(), L),
    (sf.algorithms.Slicing(), K),
]
SCHEMA = sf.Schema(quasi_identifiers=["age", "education", "sex", "hours_per_week"], sensitive=["occupation"])


def census(rows: int = 240, seed: int = 3) -> pa.Table:
    return to_arrow(sf.datasets.generate_census(rows, seed=seed))[0]


def released(table: pa.Table, models, algorithm, block_rows=None, **given) -> sf.Release:
    return sf.anonymize(table, SCHEMA, models, algorithm, block_rows=block_rows, seed=4, secret=SECRET, **given)


@pytest.mark.parametrize(("algorithm", "models"), REQUESTS, ids=repr)
def test_blocks_are_published_correctly_whatever_the_order_of_rows(algorithm, models):
    table = census()
    found = released(table, models, algorithm, block_rows=60)
    assert found.audit.holds
    assert found.audit.truth.holds
    assert found.proof is None
    assert found.recoding is None
    again = table.take(pa.array(seeded_generator(1).permutation(table.num_rows)))
    assert released(again, models, algorithm, block_rows=60).published.equals(found.published)
    assert not released(table, models, algorithm).published.equals(found.published)


@pytest.mark.parametrize(("algorithm", "models"), REQUESTS, ids=repr)
def test_a_table_that_fits_one_block_is_published_as_ever(algorithm, models):
    table = census(80)
    expected = released(table, models, algorithm)
    found = released(table, models, algorithm, block_rows=80)
    assert found.published.equals(expected.published)
    assert found.proof == expected.proof


def task_of(table: pa.Table, schema: sf.Schema, models, most_suppressed: int = 0) -> TableRequest:
    return TableRequest(
        table=encode_table(table, schema),
        models=models,
        max_suppressed=most_suppressed,
        missing=MissingPolicy(schema.missing),
        rng=seeded_generator(0),
    )


@given(
    drawn=described_tables(most_rows=60),
    models=st.sampled_from([(sf.models.KAnonymity(k=2),), (sf.models.DistinctLDiversity(l=2, sensitive="disease"),)]),
    most=st.integers(1, 30),
)
@examples(40)
def test_blocks_keep_the_models_and_are_unions_of_groups_of_mondrian(drawn, models, most):
    table, schema = drawn
    task = task_of(table, schema, models)
    whole = task.as_one_group()
    block = partition_into_blocks(task, most)
    sizes = np.bincount(block)
    assert len(sizes) == 1 or task.missing is MissingPolicy.MATCHES_ALL or sizes.min() > 0
    groups = Groups.from_rows(block, len(sizes), task.model_columns, SENSITIVE, totals=whole.totals)
    if satisfy_all(whole, task.models).all():
        assert satisfy_all(groups, task.models).all()
        if task.missing is MissingPolicy.OWN_VALUE:  # others may ride along with any block
            cutting = MedianPartitioning(task, strict=True)
            cutting.run()
            found = cutting.groups()
            assert len({*zip(found.tolist(), block.tolist(), strict=True)}) == found.max() + 1
            inside = np.bincount(found)
            assert all(inside[found[block == each]].max() == sizes[each] for each in np.flatnonzero(sizes > most))
    else:
        assert len(sizes) == 1


def test_blocks_for_cross_buckets_keep_the_diversity_that_it_needs():
    models = (sf.models.EntropyLDiversity(l=2, sensitive="occupation"),)
    assert sf.algorithms.CrossBucketGeneralization().block_models(models) == (
        *models,
        sf.models.FrequencyLDiversity(l=2, sensitive="occupation"),
    )


def test_blocks_have_at_most_so_many_records_where_the_table_can_be_cut():
    block = partition_into_blocks(task_of(census(), SCHEMA, K), 50)
    assert np.bincount(block).max() <= 50
    assert len(np.bincount(block)) > 4


def test_a_table_that_cannot_be_cut_is_searched_as_a_whole():
    table = pa.table({name: census()[name].take([0] * 90) for name in SCHEMA.attributes})
    found = released(table, K, sf.algorithms.MDAV(), block_rows=10)
    assert found.published.group_by(SCHEMA.quasi_identifiers).aggregate([([], "count_all")])[
        "count_all"
    ].to_pylist() == [90]


@given(rows=st.lists(st.integers(1, 40), min_size=2, max_size=6), share=st.floats(0, 1))
def test_every_block_may_suppress_its_share(rows, share):
    table = census(sum(rows))
    most = int(share * table.num_rows)
    task = task_of(table, SCHEMA, K, most_suppressed=most)
    bounds = np.cumsum(rows)[:-1]
    tasks = list(block_requests(task, np.split(np.arange(table.num_rows), bounds)))
    assert [each.table.rows for each in tasks] == rows
    assert [each.max_suppressed for each in tasks] == [most * each // table.num_rows for each in rows]
    assert sum(each.max_suppressed for each in tasks) <= most


def test_blocks_draw_apart_and_compare_with_the_whole_table():
    task = task_of(census(), SCHEMA, T)
    first, second = block_requests(task, np.split(np.arange(240), 2))
    drawn = first.rng.integers(1 << 40), second.rng.integers(1 << 40)
    again = list(block_requests(task_of(census(), SCHEMA, T), np.split(np.arange(240), 2)))
    assert (again[1].rng.integers(1 << 40), again[0].rng.integers(1 << 40)) == drawn[::-1]
    assert drawn[0] != drawn[1]
    for each in (first, second):
        assert each.as_one_group().totals["occupation"].tolist() == task.as_one_group().totals["occupation"].tolist()


def test_what_is_published_alike_in_two_blocks_is_one_group():
    one = TableSolution(np.array([0, 1, -1]), {"age": RecodedAttribute((Center(1.0), Center(2.5)), np.array([0, 1]))})
    two = TableSolution(np.array([1, 0]), {"age": RecodedAttribute((Center(2.5), Center(4.0)), np.array([0, 1]))})
    found = merge_solutions([one, two], [np.array([0, 2, 4]), np.array([1, 3])])
    assert len(np.unique(found.group[found.group >= 0])) == 3
    assert found.group[4] == -1
    assert found.group[2] == found.group[3]
    shown = found.recoded["age"]
    texts = [shown.texts[shown.by_group[each]].as_py() for each in found.group[:4].tolist()]
    assert texts == ["1", "4", "2.5", "2.5"]


def test_buckets_of_blocks_are_apart():
    task = replace(task_of(census(), SCHEMA, L), models=L)
    block = partition_into_blocks(task, 60)
    bucket = search_in_blocks(sf.algorithms.Anatomy(), task, 60).buckets["occupation"]
    assert len({*zip(bucket.tolist(), block.tolist(), strict=True)}) == len(set(bucket.tolist()))
    assert len(np.unique(block)) > 1


def test_suppression_is_added_up():
    rare = census(120)
    table = rare.set_column(
        rare.schema.get_field_index("occupation"), "occupation", pa.array(["a", "b"] * 50 + ["a"] * 20)
    )
    found = released(table, L, sf.algorithms.Anatomy(), block_rows=30, max_suppressed=0.2)
    assert found.suppressed == 20


@pytest.mark.parametrize(
    ("algorithm", "models", "flags", "told"),
    [
        (sf.algorithms.Mondrian(), K, (), "Mondrian counts equal records and needs no blocks"),
        (sf.algorithms.Optimal(), K, (), "drop block_rows."),
        (sf.algorithms.LocalAnatomy(), L, ("age",), "Single sensitive cells"),
        (sf.algorithms.MDAV(), (MaxGroupSize(k=9),), (), "published alike"),
    ],
)
def test_what_cannot_be_searched_in_blocks_is_refused(algorithm, models, flags, told):
    assert told in check_blocks(algorithm, models, flags)


def test_refusals_of_blocks_come_before_the_search():
    with pytest.raises(UnsupportedModelError, match="needs no blocks"):
        released(census(10), K, sf.algorithms.Mondrian(), block_rows=500)
    recipe = Recipe(schema=SCHEMA, models=K, algorithm=sf.algorithms.Mondrian(), block_rows=500)
    assert ["needs no blocks" in str(each.error) for each in sf.check(recipe, census(10))] == [True]


@pytest.mark.parametrize("given", [0, -5, 2.5, True, "many"])
def test_a_number_of_records_is_needed(given):
    with pytest.raises(InvalidParameterError, match="block_rows must be a whole number"):
        Recipe(schema=SCHEMA, models=K, algorithm=sf.algorithms.MDAV(), block_rows=given)


def test_recipes_keep_their_blocks():
    recipe = Recipe(schema=SCHEMA, models=K, algorithm=sf.algorithms.MDAV(), block_rows=500)
    assert "block_rows = 500" in recipe.to_toml()
    assert Recipe.from_toml(recipe.to_toml()).block_rows == 500
    assert "block_rows=500" in recipe.to_python("census.csv")
    assert "block_rows" not in replace(recipe, block_rows=None).to_toml()


def two_worlds(rows: int = 400) -> pa.Table:
    """Draw a table whose halves are each a quarter away from it, the young and the old ones."""
    rng = seeded_generator(5)
    young = np.arange(rows) < rows // 2
    flu = rng.random(rows) < np.where(young, 0.75, 0.25)
    age = np.where(young, rng.integers(20, 40, rows), rng.integers(60, 80, rows))
    return pa.table({"age": age, "occupation": np.where(flu, "flu", "cold"), "sex": rng.integers(0, 2, rows)})


@pytest.mark.parametrize(
    "algorithm",
    [
        sf.algorithms.TopDownNCP(),
        sf.algorithms.SABRE(),
        sf.algorithms.LocalRecoding(),
        sf.algorithms.MDAV(),
        sf.algorithms.Anatomy(),
    ],
)
def test_groups_are_compared_with_the_whole_table_not_with_their_block(algorithm):
    schema = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=["occupation"])
    models = (sf.models.TCloseness(t=0.3, sensitive="occupation"),)
    task = task_of(two_worlds(), schema, models)
    assert len(np.unique(partition_into_blocks(task, 200))) == 2
    assert sf.anonymize(two_worlds(), schema, models, algorithm, block_rows=200, seed=1).audit.holds


def test_slices_are_chosen_so_that_every_block_keeps_the_models():
    task = task_of(census(), SCHEMA, L)
    block = np.arange(240) // 6
    tables = [task.table.take(np.flatnonzero(block == each)) for each in range(40)]
    settled = sf.algorithms.Slicing().for_blocks(sf.algorithms.Slicing().fit_blocks(task, lambda: tables))
    assert settled.layout.linked != sf.algorithms.Slicing()._layout(task).linked
    for each in range(40):
        part = replace(task, table=task.table.take(np.flatnonzero(block == each)))
        found = settled.search(part)
        groups = Groups.from_rows(found.group, int(found.group.max()) + 1, part.model_columns)
        assert satisfy_all(groups, L).all()
