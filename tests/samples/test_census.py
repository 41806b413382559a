"""The made-up census: the thesis's numbers of values, the same seed the same table, plausible dependencies."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sfumato.datasets.census import EDUCATION_LEVELS, CensusCardinalities, generate_census, make_census_taxonomies
from sfumato.errors import InvalidParameterError

FIXED = {"sex": 2, "age": 73, "relationship": 13, "marital_status": 6, "race": 9, "education": 11}
TABLES = [(90, 216, 702), (89, 187, 682), (93, 257, 719)]


@pytest.mark.parametrize(("hours", "occupations", "salaries"), TABLES)
@pytest.mark.parametrize("rows", [719, 5000])
def test_every_attribute_has_as_many_values_as_in_the_thesis(rows, hours, occupations, salaries):
    sizes = CensusCardinalities(hours=hours, occupations=occupations, salaries=salaries)
    table = generate_census(rows, seed=3, cardinalities=sizes)
    found = {name: len(table[name].unique()) for name in table.column_names}
    assert found == {**FIXED, "hours_per_week": hours, "occupation": occupations, "salary": salaries}
    assert table.num_rows == rows
    assert all(column.null_count == 0 for column in table.columns)


def test_the_same_seed_gives_the_same_table_and_another_one_another():
    assert generate_census(500, seed=1).equals(generate_census(500, seed=1))
    assert not generate_census(500, seed=1).equals(generate_census(500, seed=2))


@pytest.mark.parametrize("rows", [0, 1, 40])
def test_few_rows_are_possible(rows):
    assert generate_census(rows).num_rows == rows


def test_numbers_are_numbers_and_all_else_is_text():
    types = {field.name: field.type for field in generate_census(10).schema}
    numbers = {name for name, kind in types.items() if kind == pa.int64()}
    assert numbers == {"age", "hours_per_week", "salary"}
    assert set(types.values()) == {pa.int64(), pa.string()}


def test_salaries_depend_on_schooling_and_hours():
    table = generate_census(8000, seed=5)
    level = pc.index_in(table["education"], value_set=pa.array(EDUCATION_LEVELS)).to_numpy()
    for cause in (level, table["hours_per_week"].to_numpy()):
        assert np.corrcoef(cause, np.log(table["salary"].to_numpy()))[0, 1] > 0.2


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_salary_age_or_occupation_is_too_frequent_for_the_largest_l_of_the_thesis(seed):
    table = generate_census(17_629, seed=seed)
    for name in ("salary", "occupation", "age"):
        assert pc.max(table[name].value_counts().field("counts")).as_py() / table.num_rows < 1 / 20


@pytest.mark.parametrize("rows", [17_629, 22_517, 31_055])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_first_halving_of_salaries_works_at_15_and_not_at_18_as_in_the_thesis(rows, seed):
    table = generate_census(rows, seed=seed)
    share = pc.max(table["salary"].value_counts().field("counts")).as_py() / rows
    assert 1 / 18 < 2 * share < 1 / 15


@pytest.mark.parametrize("occupations", [187, 216, 257])
def test_taxonomies_have_exactly_the_values_of_the_nominal_attributes(occupations):
    table = generate_census(2000, cardinalities=CensusCardinalities(occupations=occupations))
    trees = make_census_taxonomies(occupations)
    assert {*trees, "education"} == {name for name in table.column_names if table[name].type == pa.string()}
    for name, tree in trees.items():
        assert set(tree.hierarchy.labels[0]) == set(table[name].to_pylist())
        assert tree.hierarchy.labels[-1] == ("*",)


def test_distributions_are_skewed():
    counts = np.sort(generate_census(10_000)["occupation"].value_counts().field("counts").to_numpy())
    assert counts[-20:].sum() > 3 * counts[:60].sum()


@pytest.mark.parametrize(
    "bad", [{"hours": 1}, {"hours": 100}, {"occupations": 0}, {"salaries": 10}, {"salaries": 2000}, {"hours": 9.5}]
)
def test_impossible_cardinalities_are_refused(bad):
    with pytest.raises(InvalidParameterError, match=next(iter(bad))):
        CensusCardinalities(**bad)


@pytest.mark.parametrize("bad", [{"rows": -1}, {"seed": -1}, {"rows": 1.5}, {"cardinalities": 7}])
def test_bad_parameters_are_refused(bad):
    with pytest.raises(InvalidParameterError, match=next(iter(bad))):
        generate_census(**{"rows": 10, **bad})
