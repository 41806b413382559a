"""Random queries of the stated shape, and errors that are what they are called."""

from __future__ import annotations

from collections import Counter
from math import isnan

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from queries.estimates.worlds import answer
from sfumato.queries.query import Between, Comparison, OneOf
from sfumato.queries.workload import Workload, actual_answers, relative_errors

QUASI = ["age", "sex", "marital_status", "education", "job", "height_cm"]
PLAIN = sf.Schema(quasi_identifiers=QUASI, sensitive=["cost"])


@pytest.fixture(scope="module")
def original():
    return sf.datasets.generate_hospital(300, seed=3, missing=0.02)


@pytest.fixture(scope="module")
def release(original):
    return sf.anonymize(original, PLAIN, [sf.models.KAnonymity(k=5)], sf.algorithms.Mondrian(), seed=0)


def test_queries_are_of_the_stated_shape(original):
    queries = Workload(queries=200, attributes=4, seed=1).draw(original, PLAIN)
    assert len(queries) == 200
    assert {(query.kind, query.over, len(query.where)) for query in queries} == {("sum", "cost", 4)}
    named = Counter(name for query in queries for name in query.where)
    assert set(named) == set(QUASI)
    signs = {c.sign for q in queries for c in q.conditions.values() if isinstance(c, Comparison)}
    assert signs == {"!=", "<", "<=", ">", ">="}
    for query in queries:
        for name, condition in query.conditions.items():
            present = set(original[name].to_pylist())
            assert present.issuperset(condition.values)
            assert not isinstance(condition, Between)
            assert name in {"age", "height_cm"} or isinstance(condition, OneOf)
            assert name not in {"age", "height_cm"} or len(condition.values) == 1
    many = [len(q.conditions["job"].values) for q in queries if "job" in q.where]
    assert len(set(many)) > 10


def test_a_seed_draws_the_same_queries_from_any_order_of_rows(original):
    workload = Workload(queries=20, seed=5)
    assert workload.draw(original, PLAIN) == workload.draw(original.take(np.arange(300)[::-1]), PLAIN)
    assert workload.draw(original, PLAIN) != Workload(queries=20, seed=6).draw(original, PLAIN)


@pytest.mark.parametrize("kind", ["sum", "count", "avg"])
def test_actual_answers_are_those_of_plain_python(original, kind):
    queries = Workload(queries=40, attributes=2, kind=kind, over=None if kind == "count" else "cost").draw(
        original, PLAIN
    )
    rows = original.to_pylist()
    for query, found in zip(queries, actual_answers(original, PLAIN, queries), strict=True):
        where = {name: _as_given(condition) for name, condition in query.conditions.items()}
        expected = answer(rows, query.kind, query.over, where)
        assert (isnan(found) and expected is None) or found == pytest.approx(float(expected))


def _as_given(condition):
    values = condition.values  # noqa: PD011 - no dataframe
    return (condition.sign, *values) if isinstance(condition, Comparison) else list(values)


@pytest.mark.parametrize("workload", [Workload(queries=60), Workload(queries=60, kind="count", attributes=2)])
def test_errors_are_the_width_of_the_bounds_and_the_miss_of_the_expected(original, release, workload):
    errors = relative_errors(release.published, original, PLAIN, workload)
    table = errors.table.to_pandas()
    assert errors.table.column_names == ["actual", "expected", "lower", "upper", "bound_error", "expected_error"]
    known = table[table["actual"] != 0]
    assert table["bound_error"].isna().sum() == len(table) - len(known) > 0
    assert known["bound_error"].to_numpy() == pytest.approx((known["upper"] - known["lower"]) / known["actual"].abs())
    assert known["expected_error"].to_numpy() == pytest.approx(
        (known["expected"] - known["actual"]).abs() / known["actual"].abs()
    )
    said = errors.summary()
    assert said["within_bounds"] == 1
    assert said["with_error"] == len(known)
    assert said["mean_bound_error"] == pytest.approx(known["bound_error"].mean())
    assert said["median_expected_error"] == pytest.approx(known["expected_error"].median())
    assert said["mean_bound_error"] > said["mean_expected_error"] > 0


def test_a_table_published_as_it_is_has_no_error(original):
    shown = original.select([*QUASI, "cost"]).to_pandas()
    errors = relative_errors(shown, original, PLAIN, Workload(queries=30))
    assert isinstance(errors.frame, pd.DataFrame)
    said = errors.summary()
    assert (said["mean_bound_error"], said["within_bounds"]) == (pytest.approx(0, abs=1e-12), 1)
    assert said["mean_expected_error"] == pytest.approx(0, abs=1e-9)
    assert repr(errors).startswith(f"QueryErrors: {said['with_error']} of 30 queries have one\nbounds    mean ")


def test_rounded_bounds_are_never_wider_than_certain_ones(original):
    complete = original.filter(pa.compute.is_valid(original["cost"]))
    bucket = np.arange(complete.num_rows) // 10
    semi = np.where(np.arange(complete.num_rows) % 3 == 0, bucket, -1)
    shown = complete.select([*QUASI, "cost"]).append_column("_bucket_cost", pa.array(bucket))
    shown = shown.append_column("_bucket_job", pa.array(semi, mask=semi < 0))
    certain, rounded = (
        relative_errors(shown, complete, PLAIN, Workload(queries=60, bounds=each)).table
        for each in ("certain", "rounded")
    )
    assert certain["expected"].to_pylist() == pytest.approx(rounded["expected"].to_pylist())
    for name, sign in (("lower", 1), ("upper", -1)):
        assert (sign * (rounded[name].to_numpy() - certain[name].to_numpy()) >= -1e-6).all()
    assert (rounded["upper"].to_numpy() < certain["upper"].to_numpy() - 1).any()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"queries": 0}, "Workload.queries must be at least 1; got 0."),
        ({"attributes": 0.5}, "Workload.attributes must be at least 1; got 0.5."),
        ({"seed": -1}, "Workload.seed must be a whole number from 0; got -1."),
        ({"bounds": "loose"}, "Workload.bounds must be 'certain' or 'rounded'; got 'loose'."),
        ({"kind": "avg", "bounds": "rounded"}, "Workload.bounds must be 'certain' for averages; got 'rounded'."),
        ({"kind": "count", "over": "cost"}, "Query.over must be left out of a count; got 'cost'."),
        ({"kind": "median", "over": "cost"}, "Query.kind must be one of count, sum, avg; got 'median'."),
        ({"kind": "median"}, "Query.kind must be one of count, sum, avg; got 'median'."),
    ],
)
def test_a_workload_that_is_none_is_refused(given, message):
    with pytest.raises(sf.errors.InvalidParameterError) as caught:
        Workload(**given)
    assert str(caught.value) == message


def test_a_workload_that_does_not_fit_the_table_is_refused(original):
    with pytest.raises(sf.errors.InvalidParameterError, match=r"Workload.attributes must be at most 6 here; got 7\."):
        Workload(attributes=7).draw(original, PLAIN)
    with pytest.raises(sf.errors.InvalidParameterError, match="0 sensitive attributes are numeric"):
        Workload().draw(original, sf.Schema(quasi_identifiers=QUASI))
    with pytest.raises(sf.errors.SchemaError, match="'price'"):
        Workload(over="price").draw(original, PLAIN)
    with pytest.raises(sf.errors.SchemaError, match="'sex'"):
        Workload(over="sex").draw(original, PLAIN)
    with pytest.raises(
        sf.errors.InvalidParameterError, match=r"relative_errors\.workload must be an sf.queries.Workload"
    ):
        relative_errors(original, original, PLAIN, 1000)


def test_the_original_of_another_table_is_refused(original, release):
    other = original.filter(pa.compute.greater(original["age"], 40))
    with pytest.raises(sf.errors.SchemaError, match=r"is published with \d+ cells that fit none of its known values"):
        relative_errors(release.published, other, PLAIN, Workload(queries=5, attributes=6))
