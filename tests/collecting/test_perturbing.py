"""Perturbing a table where the data is: what leaves, what stays, frames of the caller's kind, and plans as text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato._randomness import secret_from_seed as fixed
from sfumato.errors import InvalidParameterError, RecipeError, SchemaError
from sfumato.local_dp.configuration import (
    load_perturbation_plan,
    parse_noise,
    parse_randomized_response,
    perturbation_plan_from_config,
)
from sfumato.local_dp.randomization.noise import GaussianNoise, LaplaceNoise, UniformNoise
from sfumato.local_dp.randomization.perturbation import perturb_columns
from sfumato.local_dp.randomization.randomized_response import RandomizedResponse

CANARY = "canary-value"
PLAN = {
    "age": UniformNoise(low=-20, high=20),
    "sex": RandomizedResponse(values=["female", "male"], truth=0.8),
}


@pytest.fixture(scope="module")
def patients() -> pa.Table:
    return sf.datasets.generate_hospital(2000, seed=3)


def test_only_planned_and_kept_columns_leave(patients):
    sent = perturb_columns(patients, PLAN, keep=["zip"], secret=fixed(1))
    assert set(sent.column_names) == {"age", "sex", "zip"}
    assert sent.num_rows == 2000
    assert sent.column("zip").equals(patients.column("zip"))


def test_every_value_is_perturbed_within_its_noise(patients):
    sent = perturb_columns(patients, PLAN, secret=fixed(1))
    added = np.asarray(sent.column("age")) - np.asarray(patients.column("age"))
    assert (np.abs(added) <= 20).all()
    assert added.std() == pytest.approx(40 / np.sqrt(12), rel=0.05)
    same = np.asarray(sent.column("sex")) == np.asarray(patients.column("sex"))
    assert same.mean() == pytest.approx(0.8, abs=0.04)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.Table])
def test_the_result_is_a_frame_of_the_callers_kind(patients, kind):
    data = {pd.DataFrame: patients.to_pandas(), pl.DataFrame: pl.from_arrow(patients), pa.Table: patients}[kind]
    sent = perturb_columns(data, PLAN, secret=fixed(1))
    assert isinstance(sent, kind)
    assert np.allclose(np.asarray(sent["age"]), np.asarray(perturb_columns(patients, PLAN, secret=fixed(1))["age"]))


def test_columns_have_noise_of_their_own_and_runs_differ():
    table = pa.table({"a": [0.0] * 50, "b": [0.0] * 50})
    plan = dict.fromkeys("ab", GaussianNoise(scale=1))
    sent = perturb_columns(table, plan, secret=fixed(1))
    assert not sent.column("a").equals(sent.column("b"))
    assert not perturb_columns(table, plan).equals(perturb_columns(table, plan))
    assert perturb_columns(table, plan, secret=fixed(4)).equals(perturb_columns(table, plan, secret=fixed(4)))


@pytest.mark.parametrize(
    ("table", "plan", "keep", "message"),
    [
        ({"a": [1]}, {"b": PLAN["age"]}, [], "no column 'b'"),
        ({"age": [1]}, {"agee": PLAN["age"]}, [], "did you mean 'age'"),
        ({"a": [1]}, {"a": PLAN["age"]}, ["c"], "no column 'c'"),
        ({"a": [1]}, {"a": PLAN["age"]}, ["a"], "both perturbed and kept"),
        ({"a": [CANARY]}, {"a": PLAN["age"]}, [], "Column 'a' does not contain numbers"),
        ({"a": [1, None]}, {"a": PLAN["age"]}, [], "1 missing or infinite"),
    ],
)
def test_what_cannot_be_perturbed_is_refused_without_a_cell(table, plan, keep, message):
    with pytest.raises(SchemaError, match=message) as caught:
        perturb_columns(pa.table(table), plan, keep=keep)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("plan", [{}, None, ["a"], {"a": "uniform"}, {"a": None}])
def test_plans_that_are_none_are_refused(plan):
    with pytest.raises(InvalidParameterError, match="plan must"):
        perturb_columns(pa.table({"a": [1]}), plan)


def test_a_plan_is_read_from_toml(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(
        '[age]\nnoise = "uniform"\nlow = -20\nhigh = 20\n[sex]\nnoise = "response"\nvalues = ["female", "male"]\n'
        'truth = 0.8\n[cost]\nnoise = "laplace"\nscale = 9.5\n',
        "utf-8",
    )
    assert load_perturbation_plan(path) == {**PLAN, "cost": LaplaceNoise(scale=9.5)}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "names no column"),
        ({"age": 3}, "must be a table"),
        ({"age": {"noise": "uniforn"}}, "did you mean 'uniform'"),
        ({"age": {"low": 1}}, "needs noise"),
        ({"age": {"noise": "uniform", "low": 1}}, "misses one of its keys: low, high"),
        ({"age": {"noise": "gaussian", "scales": 1}}, "did you mean 'scale'"),
    ],
)
def test_plans_that_say_nothing_are_refused(content, message):
    with pytest.raises(RecipeError, match=message):
        perturbation_plan_from_config(content)


def test_short_forms_are_read():
    assert parse_noise("uniform:-20,20") == PLAN["age"]
    assert parse_randomized_response("0.8:female,male") == RandomizedResponse(values=("female", "male"), truth=0.8)


@pytest.mark.parametrize("written", ["", "uniform", "uniform:1", "gaussian:x", "cauchy:1", "gaussian:1,2"])
def test_short_noise_that_is_none_is_refused(written):
    with pytest.raises(InvalidParameterError, match="Write noise as"):
        parse_noise(written)


@pytest.mark.parametrize("written", ["", "0.8", "x:a,b", "1.5:a,b", "0.5:"])
def test_short_response_that_is_none_is_refused(written):
    with pytest.raises(InvalidParameterError, match="Write randomized response as"):
        parse_randomized_response(written)
