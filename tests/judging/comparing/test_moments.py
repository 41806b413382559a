"""Moments of two tables, by hand and by numpy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.tables.metrics.moments import compare_moments

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


def test_half_open_intervals_of_whole_numbers_count_as_the_mean_of_their_numbers():
    siblings = pa.table({"siblings": [0, 1, 0, 1, 2, 3]})
    shown = pa.table({"siblings": ["[0, 2)"] * 4 + ["[2, 4)"] * 2})
    found = compare_moments(siblings, shown).moments[0]
    assert found.original_mean == found.published_mean == 7 / 6
    fractions = compare_moments(pa.table({"siblings": [0.5, 1.5, 0.5, 1.5, 2.5, 3.5]}), shown).moments[0]
    assert fractions.original_mean == fractions.published_mean


def test_half_open_intervals_of_days_count_as_the_mean_of_their_days():
    days = pa.table({"day": pa.array([0, 1], pa.date32())})
    assert compare_moments(days, pa.table({"day": ["[1970-01-01, 1970-01-03)"] * 2})).mean_shift == 0


def test_a_column_without_published_numbers_has_no_mean():
    found = compare_moments(pa.table({"a": [1, 2]}), pa.table({"a": ["*", "*"]}))
    assert (found.mean_shift, found.moments[0].published_mean, found.moments[0].published_n) == (None, None, 0)
    assert "not published" in repr(found)


@examples(50)
@given(st.lists(st.tuples(*[st.none() | st.floats(-9, 9, width=16)] * 3), min_size=6, max_size=20))
def test_moments_are_those_of_pandas_over_pairwise_complete_records(rows):
    frame = pd.DataFrame(rows, columns=list("abc"), dtype=float)
    if (frame.notna().sum() < len(frame) / 2).any():
        return
    found = compare_moments(frame, frame)
    for each in found.moments:
        own = frame[each.column]
        assert (each.original_n, each.original_mean) == (own.count(), pytest.approx(own.mean()))
        assert each.original_deviation == pytest.approx(own.std(ddof=0))
    for each in found.correlations:
        both = frame[list(each.columns)].dropna()
        if len(both) > 1 and both.std(ddof=0).min() > 1e-3:
            assert each.original == pytest.approx(both.corr().iloc[0, 1], abs=1e-6)
        assert abs(each.original) <= 1 + 1e-9


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
    ({"a": [1, None]}, {"a": ["*", "*"]}, None, "Fewer than 2 cells of column 'a' of the original"),
    ({"a": [1, 2]}, {"a": pa.array([], pa.int64())}, None, "published table has no rows"),
]


@pytest.mark.parametrize(("original", "published", "columns", "sentence"), REFUSED)
def test_what_cannot_be_compared_is_refused(original, published, columns, sentence):
    with pytest.raises(sf.errors.SchemaError, match=sentence):
        compare_moments(pa.table(original), pa.table(published), columns=columns)
