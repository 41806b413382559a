"""Moments of two tables, by hand and by numpy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.judging.comparing.moments import compare_moments

RNG = np.random.default_rng(1)
ORIGINAL = pd.DataFrame(RNG.normal(size=(50, 3)) @ RNG.normal(size=(3, 3)) * [1, 100, 1e-3], columns=list("abc"))
OTHER = ORIGINAL.sample(30, random_state=2) + RNG.normal(size=(30, 3)) * [0.1, 10, 1e-4]


def test_a_table_differs_from_itself_by_nothing():
    found = compare_moments(ORIGINAL, ORIGINAL)
    assert found.columns == ("a", "b", "c")
    assert found.mean_shift == found.covariance_error == 0
    assert found.largest_correlation_difference == found.mean_correlation_difference == 0


def test_differences_are_those_of_numpy():
    found = compare_moments(ORIGINAL, OTHER)
    deviations = ORIGINAL.std(ddof=0)
    before, after = (np.cov((table / deviations).T, bias=True) for table in (ORIGINAL, OTHER))
    assert found.covariance_error == pytest.approx(np.linalg.norm(after - before) / np.linalg.norm(before))
    apart = np.abs(np.corrcoef(OTHER.T) - np.corrcoef(ORIGINAL.T))[[0, 0, 1], [1, 2, 2]]
    assert found.largest_correlation_difference == pytest.approx(apart.max())
    assert found.mean_correlation_difference == pytest.approx(apart.mean())
    assert found.mean_shift == pytest.approx((np.abs(OTHER.mean() - ORIGINAL.mean()) / deviations).max())
    assert found.covariance_error > 0


def test_units_do_not_matter():
    other = [compare_moments(table[0] * [1, 1e5, 3], table[1] * [1, 1e5, 3]) for table in [(ORIGINAL, OTHER)]]
    assert other[0].covariance_error == pytest.approx(compare_moments(ORIGINAL, OTHER).covariance_error)


def test_shuffled_columns_lose_their_correlations():
    paired = pd.DataFrame({"a": np.arange(200), "b": np.arange(200)})
    torn = paired.assign(b=np.random.default_rng(3).permutation(200))
    found = compare_moments(paired, torn)
    assert found.largest_correlation_difference > 0.7
    assert found.mean_shift < 1e-12


def test_generalized_cells_count_as_their_midpoint():
    original = pa.table({"age": [20, 30, 40, 50]})
    release = pa.table({"age": ["[15, 25]", "[25, 35]", "{38, 42}", "50"]})
    assert compare_moments(original, release).covariance_error == pytest.approx(0, abs=1e-12)


def test_one_column_has_no_correlations_and_stars_are_left_out():
    found = compare_moments(pa.table({"age": [20, 30, 40]}), pa.table({"age": ["20", "30", "40", "*"]}))
    assert found.largest_correlation_difference is None
    assert found.mean_shift == 0
    assert "correlation" not in repr(found)


def test_constant_columns_are_no_obstacle():
    found = compare_moments(ORIGINAL.assign(a=1), OTHER.assign(a=1))
    assert np.isfinite(found.covariance_error)
    assert np.isfinite(found.largest_correlation_difference)


def test_figures_are_shown_without_cells():
    assert repr(compare_moments(ORIGINAL, OTHER)).startswith("Moments of 3 columns\n  largest shift of a mean")
    assert set(compare_moments(ORIGINAL, OTHER).to_dict()) >= {"columns", "covariance_error"}


REFUSED = [
    ({"a": [1, 2]}, {"b": [1, 2]}, None, "share no column"),
    ({"a": [1, 2]}, {"a": [1, 2]}, ["b"], "A table has no column 'b'"),
    ({"a": ["x", "y"]}, {"a": ["x", "y"]}, ["a"], "Column 'a' does not contain numbers"),
    ({"a": [1, 2]}, {"a": ["*", "*"]}, None, "Fewer than 2 records of the published"),
    ({"a": [1, 2]}, {"a": pa.array([], pa.int64())}, None, "published table has no rows"),
]


@pytest.mark.parametrize(("original", "published", "columns", "sentence"), REFUSED)
def test_what_cannot_be_compared_is_refused(original, published, columns, sentence):
    with pytest.raises(sf.SchemaError, match=sentence):
        compare_moments(pa.table(original), pa.table(published), columns=columns)
