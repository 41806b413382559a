"""The decision rule for population uniques: which estimator, why, and within which limits."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InvalidParameterError
from sfumato.schema.schema import Schema
from sfumato.tables.risk._population_uniques import count_population, counted_uniques, k_map_test, population_uniques
from sfumato.tables.risk._record_groups import RecordGroups

SIZES = st.lists(st.integers(1, 12), min_size=1, max_size=40).map(np.array)


def test_no_sample_unique_means_none_in_the_population():
    found = population_uniques(np.array([2, 3, 5]), 100)
    assert (found.method, found.uniques, found.true_uniques) == ("none", 0, 0)
    assert found.estimates == {}


def test_a_small_sample_is_judged_by_pitman():
    rng = np.random.default_rng(1)
    sizes = np.bincount(rng.zipf(1.6, 4000) % 5000)
    found = population_uniques(sizes[sizes > 0], 100_000)
    assert found.method == "pitman"
    assert found.reason == "at most 10% of the population is sampled"
    assert set(found.estimates) == {"zayatz", "pitman"}


def test_a_small_sample_of_uniques_falls_back_to_zayatz_and_says_so():
    found = population_uniques(np.ones(50, dtype=int), 1000)
    assert found.method == "zayatz"
    assert "Pitman's equations have no solution" in found.reason
    assert found.estimates["pitman"] is None
    assert found.uniques == pytest.approx(1000)
    assert found.true_uniques == pytest.approx(1)


def test_a_large_sample_is_judged_by_the_smaller_estimate():
    found = population_uniques(np.array([1, 1, 1, 1, 2, 2, 4]), 30)
    assert set(found.estimates) == {"zayatz", "snb"}
    assert found.estimates[found.method] == min(found.estimates.values())
    assert "smaller" in found.reason


def test_a_large_sample_without_solution_falls_back_to_zayatz_and_says_so():
    found = population_uniques(np.array([1, 500, 500]), 2000)
    assert found.method == "zayatz"
    assert "slide negative binomial equations have no solution" in found.reason


def test_estimates_are_brought_to_what_is_possible():
    sizes = np.array([1] * 90 + [2] * 5)
    found = population_uniques(sizes, 105)
    assert 85 <= found.uniques <= 95
    assert found.capped is not (found.uniques == found.estimates[found.method])


@given(SIZES, st.integers(0, 5000))
def test_estimates_stay_within_their_limits(sizes, others):
    records, ones = int(sizes.sum()), int((sizes == 1).sum())
    found = population_uniques(sizes, records + others)
    assert max(0, ones - others) <= found.uniques <= ones + others
    assert 0 <= found.true_uniques <= 1
    assert found.estimated
    json.dumps(found.to_dict(), allow_nan=False)


@given(SIZES)
def test_a_sample_of_everybody_knows_its_uniques(sizes):
    found = population_uniques(sizes, int(sizes.sum()))
    assert found.uniques == int((sizes == 1).sum())


def test_very_large_populations_do_not_overflow():
    found = population_uniques(np.array([1, 1, 1, 2, 2, 3, 9]), 10**15)
    assert 0 < found.uniques < 10**15


def test_a_population_smaller_than_its_sample_is_refused():
    with pytest.raises(InvalidParameterError, match="smaller than its sample"):
        population_uniques(np.array([5]), 4)


def test_a_known_population_is_counted():
    schema = Schema(quasi_identifiers=["x"])
    everybody = pa.table({"x": list("aabbbcde")})
    groups = RecordGroups.read(pa.table({"x": list("abbc")}), schema)
    persons = count_population(groups, everybody, schema)
    found = counted_uniques(groups.sizes, persons)
    assert (found.method, found.uniques, found.population, found.fraction) == ("counted", 3, 8, 0.5)
    assert found.sample_uniques == 2
    assert found.true_uniques == 0.5  # c alone, of a and c
    assert not found.estimated


def test_the_k_map_test_counts_the_records_below():
    found = k_map_test(np.array([1, 2, 3, 4]), 5, 0.1)
    assert (found.least_size, found.records_below) == (3, 3)
