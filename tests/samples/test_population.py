"""The made-up population: same seed, same table; values and dependencies are plausible."""

from __future__ import annotations

import itertools
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sfumato.datasets import hospital
from sfumato.datasets.hospital import COUNTRIES, DISEASES, EDUCATION_ORDER, JOBS, MARITAL, generate_hospital
from sfumato.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

TYPES = {
    "name": pa.string(),
    "age": pa.int64(),
    "sex": pa.string(),
    "zip": pa.string(),
    "marital_status": pa.string(),
    "education": pa.string(),
    "job": pa.string(),
    "admission": pa.date32(),
    "nationality": pa.string(),
    "height_cm": pa.int64(),
    "disease": pa.string(),
    "cost": pa.float64(),
}
GAPPY = ("education", "job", "nationality")
TREES = {"marital_status": MARITAL, "job": JOBS, "nationality": COUNTRIES, "disease": DISEASES}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return generate_hospital(30_000, seed=3)


def leaves(tree: Mapping[str, Any] | list[str]) -> list[str]:
    if isinstance(tree, list):
        return tree
    return list(itertools.chain.from_iterable(leaves(branch) for branch in tree.values()))


def labels(tree: Mapping[str, Any] | list[str]) -> list[str]:
    if isinstance(tree, list):
        return tree
    return [*tree, *itertools.chain.from_iterable(labels(branch) for branch in tree.values())]


def where(table: pa.Table, column: str, *values: str) -> np.ndarray:
    return np.asarray(pc.fill_null(pc.is_in(table[column], pa.array(values)), fill_value=False))


def test_the_same_arguments_give_the_same_table(table):
    assert table.equals(generate_hospital(30_000, seed=3))


def test_each_seed_gives_another_table(table):
    other = generate_hospital(30_000, seed=4)
    assert all(not table[column].equals(other[column]) for column in table.column_names)


@pytest.mark.parametrize("rows", [0, 1, 2, 30_000])
def test_columns_rows_and_types_hold_for_any_size(rows):
    made = generate_hospital(rows)
    assert made.num_rows == rows
    assert dict(zip(made.column_names, made.schema.types, strict=True)) == TYPES
    assert made.column_names == list(TYPES)
    made.validate(full=True)


def test_the_default_is_five_thousand_rows_with_few_gaps():
    made = generate_hospital()
    assert made.num_rows == 5000
    assert made.equals(generate_hospital(5000, seed=0, missing=0.01))


@pytest.mark.parametrize("rows", [199, 200, 201, 1000])
def test_blocks_are_joined_without_loss_and_are_not_repeated(monkeypatch, rows):
    monkeypatch.setattr(hospital, "_BLOCK", 100)
    made = generate_hospital(rows, seed=1)
    assert made.num_rows == rows
    assert not made.slice(0, 99).equals(made.slice(100, 99))
    assert made.equals(generate_hospital(rows, seed=1))


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"rows": -1}, "rows"),
        ({"rows": 2.5}, "rows"),
        ({"rows": True}, "rows"),
        ({"seed": -1}, "seed"),
        ({"seed": "x"}, "seed"),
        ({"missing": -0.01}, "missing"),
        ({"missing": 1.01}, "missing"),
        ({"missing": float("nan")}, "missing"),
        ({"missing": None}, "missing"),
    ],
)
def test_parameters_outside_their_range_are_refused(arguments, parameter):
    with pytest.raises(InvalidParameterError, match=f"generate.{parameter} must be"):
        generate_hospital(**arguments)


@pytest.mark.parametrize("missing", [0, 0.0, 0.05, 0.3, 1, 1.0])
def test_only_education_job_and_nationality_have_gaps(missing):
    made = generate_hospital(4000, missing=missing)
    shares = {column: made[column].null_count / 4000 for column in made.column_names}
    for column, share in shares.items():
        expected = missing if column in GAPPY else 0
        assert share == pytest.approx(expected, abs=0.03 if 0 < expected < 1 else 0)


def test_gaps_are_drawn_independently():
    made = generate_hospital(20_000, missing=0.5)
    for first, second in itertools.combinations(GAPPY, 2):
        both = pc.and_(made[first].is_null(), made[second].is_null())
        assert pc.sum(both).as_py() / 20_000 == pytest.approx(0.25, abs=0.02)


def test_gaps_do_not_change_the_other_cells():
    whole, gappy = generate_hospital(500, missing=0), generate_hospital(500, missing=0.5)
    for column in whole.column_names:
        known = gappy[column].is_valid()
        assert whole[column].filter(known).equals(gappy[column].filter(known))


@pytest.mark.parametrize("column", list(TREES))
def test_values_are_exactly_the_leaves_of_their_mapping(table, column):
    assert set(table[column].drop_null().to_pylist()) == set(leaves(TREES[column]))


def test_school_levels_are_exactly_those_of_the_order(table):
    assert set(table["education"].drop_null().to_pylist()) == set(EDUCATION_ORDER)


@pytest.mark.parametrize("tree", list(TREES.values()), ids=list(TREES))
def test_no_label_of_a_mapping_occurs_twice(tree):
    assert len(set(labels(tree))) == len(labels(tree))


@pytest.mark.parametrize("tree", [JOBS, DISEASES, COUNTRIES], ids=["jobs", "diseases", "countries"])
def test_mappings_have_two_inner_levels(tree):
    assert all(isinstance(group, list) for branch in tree.values() for group in branch.values())


def test_every_job_and_disease_has_its_weights():
    without = {status for phase in hospital._WITHOUT_WORK for status in phase}
    assert {*hospital._WORK, *without} == set(leaves(JOBS))
    assert set(hospital._ILLNESS) == set(leaves(DISEASES))
    assert set(hospital._MARITAL_CURVES) == set(leaves(MARITAL))


def test_names_are_only_joined_syllables(table):
    syllables = {
        "female": {a + b for a in hospital._STEMS.split() for b in hospital._FEMALE_ENDINGS.split()},
        "male": {a + b for a in hospital._STEMS.split() for b in hospital._MALE_ENDINGS.split()},
    }
    last_names = {a + b for a in hospital._LAST_STARTS.split() for b in hospital._LAST_ENDINGS.split()}
    for name, sex in zip(table["name"].to_pylist(), table["sex"].to_pylist(), strict=True):
        first, last = name.split(" ")
        assert first in syllables[sex]
        assert last in last_names


def test_no_two_persons_have_one_name_however_many_there_are():
    names = generate_hospital(300_000, seed=5)["name"]
    assert pc.count_distinct(names).as_py() == len(names)
    assert not pc.any(pc.match_substring(names, "  ")).as_py()


def test_zip_codes_are_five_digits_some_with_a_leading_zero(table):
    assert pc.all(pc.match_substring_regex(table["zip"], r"^\d{5}$")).as_py()
    leading = pc.mean(pc.starts_with(table["zip"], "0").cast(pa.int64())).as_py()
    assert 0.05 < leading < 0.5


def test_zip_codes_cluster_in_sixty_regions_of_very_different_size(table):
    zips, sizes = hospital._towns()
    assert len(set(zips)) == len(zips)
    assert len(sizes) == len(zips)
    assert len({code[:2] for code in zips}) == 60
    counts = sorted(pc.value_counts(table["zip"].combine_chunks()).field("counts").to_pylist())
    assert counts[-1] > 50 * counts[len(counts) // 2]
    assert sum(counts[-len(counts) // 10 :]) > 0.4 * table.num_rows


def test_numbers_and_dates_stay_in_plausible_ranges(table):
    ranges = {column: pc.min_max(table[column]).as_py() for column in ("age", "height_cm", "cost")}
    assert (ranges["age"]["min"], ranges["age"]["max"]) == (0, 100)
    assert 40 <= ranges["height_cm"]["min"] < ranges["height_cm"]["max"] <= 220
    assert 0 < ranges["cost"]["min"] < ranges["cost"]["max"] < 500_000
    days = pc.min_max(table["admission"]).as_py()
    assert days == {"min": date(2023, 1, 1), "max": date(2024, 12, 31)}


def test_costs_have_at_most_two_decimals(table):
    costs = table["cost"].to_numpy()
    assert np.array_equal(costs, [round(cost, 2) for cost in costs.tolist()])
    assert not np.array_equal(costs, np.rint(costs))


def test_the_pyramid_is_wide_in_the_middle_and_has_more_old_women(table):
    age, women = table["age"].to_numpy(), where(table, "sex", "female")
    by_decade = np.bincount(age // 10, minlength=11)
    assert by_decade[5] == by_decade.max()
    assert by_decade[8] < by_decade[7] < by_decade[6]
    assert women.mean() == pytest.approx(0.5, abs=0.02)
    assert women[age >= 80].mean() > 0.58


def test_marital_status_follows_age(table):
    age = table["age"].to_numpy()
    assert where(table, "marital_status", "single")[age < 18].all()
    assert where(table, "marital_status", "married")[(age >= 40) & (age < 65)].mean() > 0.5
    widowed = where(table, "marital_status", "widowed")
    assert widowed[age >= 80].mean() > 10 * widowed[age < 50].mean()
    women = where(table, "sex", "female")
    assert widowed[(age >= 70) & women].mean() > 1.5 * widowed[(age >= 70) & ~women].mean()


def test_school_levels_follow_age_and_none_comes_too_early(table):
    age = table["age"].to_numpy()
    assert where(table, "education", *EDUCATION_ORDER[1:])[age < 6].sum() == 0
    assert where(table, "education", *EDUCATION_ORDER[3:])[age < 16].sum() == 0
    assert where(table, "education", "doctorate")[age < 26].sum() == 0
    assert where(table, "education", "primary school")[(age >= 6) & (age < 11)].mean() > 0.9
    assert where(table, "education", "lower secondary")[(age >= 11) & (age < 16)].mean() > 0.9
    tertiary = where(table, "education", "bachelor", "master", "doctorate")
    assert tertiary[(age >= 27) & (age < 45)].mean() > 1.5 * tertiary[age >= 75].mean()


def test_jobs_follow_age_and_school(table):
    age = table["age"].to_numpy()
    known = np.asarray(table["job"].is_valid())
    assert where(table, "job", "small child")[(age < 6) & known].all()
    assert where(table, "job", "pupil")[(age >= 6) & (age < 16) & known].all()
    assert where(table, "job", "pensioner")[age >= 67].mean() > 0.85
    studied = where(table, "education", "master", "doctorate")
    schooled = np.asarray(table["education"].is_valid())
    assert studied[where(table, "job", "physician") & schooled].all()
    assert studied[where(table, "job", "driver")].mean() < 0.01


def test_height_follows_sex_and_age(table):
    age, height, women = table["age"].to_numpy(), table["height_cm"].to_numpy(), where(table, "sex", "female")
    adult = (age >= 20) & (age < 60)
    assert 10 < height[adult & ~women].mean() - height[adult & women].mean() < 18
    assert height[age < 3].mean() < 100 < height[age == 10].mean() < height[adult].mean()


def test_diseases_follow_age_and_sex(table):
    age, women = table["age"].to_numpy(), where(table, "sex", "female")
    dementia = where(table, "disease", "dementia")
    assert dementia[age < 35].sum() == 0
    assert dementia[age >= 80].mean() > 0.05
    asthma = where(table, "disease", "asthma")
    assert asthma[age < 18].mean() > 3 * asthma[age >= 60].mean()
    assert not where(table, "disease", "prostate cancer")[women].any()
    assert where(table, "disease", "breast cancer")[women].mean() > 0.03


def test_diseases_follow_the_job_a_little(table):
    age = table["age"].to_numpy()
    adult = (age >= 27) & (age < 63)
    strained = where(table, "disease", "back pain")
    manual = strained[adult & where(table, "job", *leaves(JOBS["manual"]))].mean()
    office = strained[adult & where(table, "job", *leaves(JOBS["office"]))].mean()
    assert 1.3 * office < manual < 5 * office


def test_costs_follow_the_disease(table):
    cost = table["cost"].to_numpy()
    dear, cheap = where(table, "disease", "lung cancer"), where(table, "disease", "migraine")
    assert np.median(cost[dear]) > 5 * np.median(cost[cheap])


def test_nationalities_are_skewed_and_more_mixed_in_big_towns(table):
    counts = sorted(pc.value_counts(table["nationality"].drop_null()).field("counts").to_pylist())
    assert counts[-1] > 0.35 * table.num_rows
    assert counts[0] < 0.01 * table.num_rows
    zips, sizes = hospital._towns()
    big = np.array(zips)[sizes >= 0.01 * sizes.sum()]
    urban = where(table, "zip", *big.tolist())
    home = where(table, "nationality", "Germany")
    assert home[urban].mean() < home[~urban].mean() - 0.1


def test_fewer_people_come_on_weekends(table):
    weekday = pc.day_of_week(table["admission"]).to_numpy()
    per_day = np.bincount(weekday, minlength=7)
    assert per_day[5:].max() < 0.8 * per_day[:5].min()


def test_a_label_without_weight_is_never_drawn():
    sampler = hospital._ConditionalSampler(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 3.0]]))
    condition = np.repeat([0, 1], 5000)
    drawn = sampler.draw(np.random.default_rng(0), 10_000, condition)
    assert set(drawn[condition == 0].tolist()) == {1}
    assert set(drawn[condition == 1].tolist()) == {0, 2}
    assert (drawn[condition == 1] == 2).mean() == pytest.approx(0.75, abs=0.03)
