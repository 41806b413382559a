"""What analysts find in a release, all at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.coding import codes
from sfumato.judging.comparing.utility import compare_utility

PEOPLE = sf.samples.generate(300, seed=2).to_pandas()
SCHEMA = sf.Schema(
    identifier=["name"],
    quasi=["age", "sex", "height_cm"],
    sensitive=["disease"],
    insensitive=["cost"],
    hierarchies={"age": sf.Intervals(5, 10, 20), "height_cm": sf.Intervals(10, 50)},
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
    release = sf.anonymize(PEOPLE, SCHEMA, [sf.KAnonymity(k=5)], seed=1).frame
    found = compare_utility(PEOPLE, release, SCHEMA)
    numbers = ["age", "height_cm", "cost"]
    moments = sf.judging.compare_moments(PEOPLE, release, columns=numbers)
    assert found.moments.covariance_error == pytest.approx(moments.covariance_error)
    regression = sf.judging.compare_regressions(PEOPLE, release, target="cost", columns=numbers[:-1])
    assert found.regression.overlap == pytest.approx(regression.overlap)
    tables = sf.judging.compare_tabulations(PEOPLE, release, schema=SCHEMA, columns=["sex", "disease"])
    assert found.tabulations.mean_distance == pytest.approx(tables.mean_distance)


def test_what_is_lost_is_not_taken_for_what_is_kept():
    coarse = PEOPLE[COLUMNS].assign(age="*")
    found = compare_utility(PEOPLE, coarse, SCHEMA)
    assert found.lost == ("age",)
    assert found.figures()["covariance-error"] > 0.2
    assert found.figures()["regression-overlap"] < 0.6
    assert "1" in repr(found).splitlines()[-1]


def test_a_target_can_be_chosen():
    assert compare_utility(PEOPLE, PEOPLE[COLUMNS], SCHEMA, target="age").regression.target == "age"
    with pytest.raises(sf.SchemaError, match="no published column of numbers"):
        compare_utility(PEOPLE, PEOPLE[COLUMNS], SCHEMA, target="sex")


def test_nodes_that_do_not_tell_their_bounds_count_as_the_mean_of_their_values():
    table = pd.DataFrame({"score": [1, 2, 3, 4] * 5, "cost": np.arange(20.0)})
    schema = sf.Schema(
        quasi=["score"],
        insensitive=["cost"],
        scales={"score": "numeric"},
        hierarchies={"score": sf.Taxonomy({"low": ["1", "2"], "high": ["3", "4"]})},
    )
    shown = table.assign(score=table["score"].map({1: "low", 2: "low", 3: "high", 4: "high"}))
    found = compare_utility(table, shown, schema)
    means = {each.column: each.published_mean for each in found.moments.moments}
    assert means["score"] == pytest.approx(2.5)
    assert found.lost == ()


def test_there_may_be_nothing_to_compare():
    table = pd.DataFrame({"sex": list("fmfm")})
    found = compare_utility(table, table, sf.Schema(quasi=["sex"]))
    assert (found.moments, found.regression, found.tabulations) == (None, None, None)
    assert repr(found) == "There is nothing to compare."
    assert found.to_dict()["figures"] == {}


def test_records_that_are_never_complete_have_no_moments():
    table = pd.DataFrame({"a": [1.0, 2.0, None, None], "b": [None, None, 1.0, 2.0], "sex": list("fmfm")})
    found = compare_utility(table, table, sf.Schema(quasi=["a", "b", "sex"]))
    assert (found.moments, found.regression) == (None, None)


def test_a_column_of_very_many_texts_is_not_tabulated(monkeypatch):
    monkeypatch.setattr(codes, "MOST_NOMINAL_VALUES", 40)
    numbered = PEOPLE.assign(number=[str(10**25 + at) for at in range(len(PEOPLE))])
    schema = replace(SCHEMA, insensitive=["cost", "number"])
    found = compare_utility(numbered, numbered[[*COLUMNS, "number"]], schema)
    assert found.tabulations == compare_utility(PEOPLE, PEOPLE[COLUMNS], SCHEMA).tabulations
