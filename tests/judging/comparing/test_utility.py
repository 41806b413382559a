"""What analysts find in a release, all at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.encoding import coded_table
from sfumato.tables.metrics.utility import compare_utility

PEOPLE = sf.datasets.generate_hospital(300, seed=2).to_pandas()
SCHEMA = sf.Schema(
    identifiers=["name"],
    quasi_identifiers=["age", "sex", "height_cm"],
    sensitive=["disease"],
    insensitive=["cost"],
    hierarchies={"age": sf.hierarchies.Intervals(5, 10, 20), "height_cm": sf.hierarchies.Intervals(10, 50)},
)
COLUMNS = ["age", "sex", "height_cm", "disease", "cost"]


def test_the_table_itself_keeps_everything():
    found = compare_utility(PEOPLE, PEOPLE[COLUMNS], SCHEMA)
    assert found.figures() == {
        "mean-shift": 0,
        "covariance-error": 0,
        "correlation-difference": 0,
        "tabulation-distance": 0,
        "regression-overlap": pytest.approx(1),
    }
    assert found.lost == ()
    assert found.regression.target == "cost"


def test_figures_are_those_of_the_single_comparisons():
    release = sf.anonymize(PEOPLE, SCHEMA, [sf.models.KAnonymity(k=5)], seed=1).frame
    found = compare_utility(PEOPLE, release, SCHEMA)
    numbers = ["age", "height_cm", "cost"]
    moments = sf.metrics.compare_moments(PEOPLE, release, columns=numbers)
    assert found.moments.covariance_error == pytest.approx(moments.covariance_error)
    regression = sf.metrics.compare_regressions(PEOPLE, release, target="cost", columns=numbers[:-1])
    assert found.regression.overlap == pytest.approx(regression.overlap)
    tables = sf.metrics.compare_tabulations(PEOPLE, release, schema=SCHEMA, columns=["sex", "disease"])
    assert found.tabulations.mean_distance == pytest.approx(tables.mean_distance)


def test_what_the_regression_does_without_is_named():
    found = compare_utility(PEOPLE, PEOPLE[COLUMNS], SCHEMA)
    assert found.unused == ("disease", "sex")
    assert "The regression does without these columns: disease, sex" in repr(found)
    assert found.to_dict()["unused"] == ["disease", "sex"]


def test_what_is_lost_is_not_taken_for_what_is_kept():
    coarse = PEOPLE[COLUMNS].assign(age="*")
    found = compare_utility(PEOPLE, coarse, SCHEMA)
    assert found.lost == ("age",)
    assert found.figures()["covariance-error"] > 0.2
    assert found.figures()["regression-overlap"] < 0.6
    assert repr(found).splitlines()[-1].endswith("not published: age")
    moments = {each.column: each for each in found.moments.moments}
    assert (moments["age"].published_mean, moments["age"].published_n) == (None, 0)
    assert moments["age"].original_mean == pytest.approx(PEOPLE["age"].mean())
    correlations = [each.published for each in found.moments.correlations if "age" in each.columns]
    assert correlations == [0, 0]


def test_each_column_has_the_moments_of_its_own_cells():
    rng = np.random.default_rng(4)
    screened = pd.DataFrame({"recidivism": rng.integers(0, 2, 200), "days": rng.normal(size=200)})
    screened.loc[screened["recidivism"] == 0, "days"] = np.nan
    found = compare_utility(screened, screened, sf.Schema(quasi_identifiers=["recidivism"], insensitive=["days"]))
    moments = {each.column: each for each in found.moments.moments}
    for name in screened:
        each, own = moments[name], screened[name].dropna()
        assert (each.original_n, each.published_n) == (len(own), len(own))
        assert each.original_mean == each.published_mean == pytest.approx(own.mean())
        assert each.original_deviation == each.published_deviation == pytest.approx(own.std(ddof=0))
    assert found.regression is None  # in the complete records, one column is constant


@examples(30)
@given(
    st.lists(st.integers(0, 9), min_size=4, max_size=30),
    st.integers(1, 4),
    st.sampled_from(["[{low}, {high})", "({before}, {last}]", "[{low}, {last}]"]),
)
def test_means_of_utility_are_the_sums_that_queries_expect(values, width, form):
    lows = [value // width * width for value in values]
    cells = [form.format(low=low, high=low + width, before=low - 1, last=low + width - 1) for low in lows]
    original, published = pd.DataFrame({"x": values}), pd.DataFrame({"x": cells})
    schema = sf.Schema(quasi_identifiers=["x"])
    mean = compare_utility(original, published, schema).moments.moments[0].published_mean
    by_hand = np.mean([low + (width - 1) / 2 for low in lows])
    expected = sf.queries.estimate(published, schema, sf.queries.Query(kind="sum", over="x"), whole=["x"]).expected
    assert mean * len(values) == pytest.approx(expected) == pytest.approx(by_hand * len(values))


def test_a_target_can_be_chosen():
    assert compare_utility(PEOPLE, PEOPLE[COLUMNS], SCHEMA, target="age").regression.target == "age"
    with pytest.raises(sf.errors.SchemaError, match="no published column of numbers"):
        compare_utility(PEOPLE, PEOPLE[COLUMNS], SCHEMA, target="sex")


def test_nodes_that_do_not_tell_their_bounds_count_as_the_mean_of_their_values():
    table = pd.DataFrame({"score": [1, 2, 3, 4] * 5, "cost": np.arange(20.0)})
    schema = sf.Schema(
        quasi_identifiers=["score"],
        insensitive=["cost"],
        scales={"score": "numeric"},
        hierarchies={"score": sf.hierarchies.Taxonomy({"low": ["1", "2"], "high": ["3", "4"]})},
    )
    shown = table.assign(score=table["score"].map({1: "low", 2: "low", 3: "high", 4: "high"}))
    found = compare_utility(table, shown, schema)
    means = {each.column: each.published_mean for each in found.moments.moments}
    assert means["score"] == pytest.approx(2.5)
    assert found.lost == ()


def test_a_column_that_the_original_rarely_knows_is_not_lost():
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {"age": rng.integers(0, 90, 300), "cost": rng.normal(size=300), "visits": rng.normal(size=300)}
    )
    table.loc[table.index % 10 > 0, "visits"] = np.nan
    found = compare_utility(table, table, sf.Schema(quasi_identifiers=["age", "visits"], insensitive=["cost"]))
    assert found.lost == ()
    assert found.figures() == {
        "mean-shift": 0,
        "covariance-error": 0,
        "correlation-difference": 0,
        "regression-overlap": pytest.approx(1),
    }
    assert (found.regression.original_records, found.regression.published_records) == (300, 300)
    assert [each.column for each in found.regression.coefficients] == ["age"]
    visits = next(each for each in found.moments.correlations if set(each.columns) == {"age", "visits"})
    assert visits.original == visits.published == pytest.approx(table["age"].corr(table["visits"]))


def test_there_may_be_nothing_to_compare():
    table = pd.DataFrame({"sex": list("fmfm")})
    found = compare_utility(table, table, sf.Schema(quasi_identifiers=["sex"]))
    assert (found.moments, found.regression, found.tabulations) == (None, None, None)
    assert repr(found) == "There is nothing to compare."
    assert found.to_dict()["figures"] == {}


def test_records_that_are_never_complete_have_no_moments():
    table = pd.DataFrame({"a": [1.0, 2.0, None, None], "b": [None, None, 1.0, 2.0], "sex": list("fmfm")})
    found = compare_utility(table, table, sf.Schema(quasi_identifiers=["a", "b", "sex"]))
    assert (found.moments, found.regression) == (None, None)


def test_a_column_of_very_many_texts_is_not_tabulated(monkeypatch):
    monkeypatch.setattr(coded_table, "MAX_NOMINAL_VALUES", 40)
    numbered = PEOPLE.assign(number=[str(10**25 + at) for at in range(len(PEOPLE))])
    schema = replace(SCHEMA, insensitive=["cost", "number"])
    found = compare_utility(numbered, numbered[[*COLUMNS, "number"]], schema)
    assert found.tabulations == compare_utility(PEOPLE, PEOPLE[COLUMNS], SCHEMA).tabulations
