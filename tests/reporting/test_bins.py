"""Bins have round edges, hold every value, and keep what is spread over them."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.encoding.domain import to_axis
from sfumato.report.charts.scales import MAX_BINS, Bins
from sfumato.report.charts.scales import choose_bins as bins_for_counts


def bins_for(values: pa.Array) -> Bins | None:
    return bins_for_counts(values, np.ones(len(values)))


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=30))
def test_whole_numbers_fall_into_few_bins_that_cover_them(values):
    bins = bins_for(pa.array(values, pa.int64()))
    assert 1 <= len(bins) <= MAX_BINS
    assert len(bins.edges) == len(bins) + 1
    assert bins.count(to_axis(pa.array(values)), np.ones(len(values))).sum() == len(values)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_real_numbers_fall_into_few_bins_that_cover_them(values):
    bins = bins_for(pa.array(values, pa.float64()))
    if bins is not None:
        assert 1 <= len(bins) <= MAX_BINS
        assert bins.count(np.array(values), np.ones(len(values))).sum() == len(values)


@given(st.lists(st.dates(date(1500, 1, 1), date(2500, 1, 1)), min_size=1, max_size=30))
def test_dates_fall_into_few_bins_that_cover_them(values):
    bins = bins_for(pa.array(values, pa.date32()))
    places = to_axis(pa.array(values, pa.date32()))
    assert 1 <= len(bins) <= MAX_BINS
    assert bins.edges[0] < places.min()
    assert places.max() < bins.edges[-1]


@given(
    st.lists(
        st.tuples(st.integers(0, 90), st.integers(0, 90), st.integers(0, 9)).map(lambda s: (*sorted(s[:2]), s[2])),
        min_size=1,
        max_size=20,
    )
)
def test_spreading_keeps_the_weight_and_agrees_with_counting_whole_numbers(spans):
    bins = bins_for(pa.array([0, 90]))
    low, high, weights = (np.array(side, dtype=float) for side in zip(*spans, strict=True))
    mass = bins.distribute(low - 0.5, high + 0.5, weights)
    expected = np.zeros(len(bins))
    for first, last, weight in spans:
        numbers = np.arange(first, last + 1, dtype=float)
        expected += bins.count(numbers, np.full(len(numbers), weight / len(numbers)))
    assert mass == pytest.approx(expected)


@pytest.mark.parametrize(
    ("values", "first", "last"),
    [
        ([18, 97], "15\u201319", "95\u201399"),
        ([1, 4], "1", "4"),
        ([-20, 70], "-20 to -16", "70 to 74"),
        ([0.0, 2.25], "0 to 0.1", "2.2 to 2.3"),
        ([0, 2_000_000], "0\u201399,999", "2,000,000\u20132,099,999"),
        ([date(2023, 1, 5), date(2024, 11, 3)], "2023-01", "2024-11"),
        ([date(2023, 1, 5), date(2023, 1, 9)], "2023-01-05", "2023-01-09"),
        ([date(1921, 1, 5), date(2003, 1, 9)], "1920\u20131924", "2000\u20132004"),
        ([date(2020, 2, 5), date(2024, 1, 9)], "2020-01\u20132020-03", "2024-01\u20132024-03"),
        ([datetime(2023, 1, 5, 10), datetime(2023, 1, 7, 9)], "2023-01-05", "2023-01-07"),  # noqa: DTZ001 - naive, as tables are
    ],
)
def test_edges_are_round(values, first, last):
    texts = bins_for(pa.array(values)).texts
    assert texts[0] == first
    assert texts[-1] == last


@pytest.mark.parametrize("values", [pa.array(["x"]), pa.array([], pa.int64()), pa.array([-1e308, 1e308])])
def test_what_no_axis_holds_has_no_bins(values):
    assert bins_for(values) is None


def test_equal_numbers_are_one_bin():
    assert bins_for(pa.array([2.5, 2.5])).texts == ("2.5",)
    assert len(bins_for(pa.array([0.0]))) == 1


@pytest.mark.parametrize("far", [1_000_000, 1_000_000.5])
def test_a_few_numbers_far_out_do_not_hide_the_others(far):
    values = pa.array([*range(1, 201), far])
    bins = bins_for(values)
    assert len(bins) > 15
    assert bins.texts[-1] == "190 or more"
    assert bins.count(to_axis(values), np.ones(201)).sum() == 201
    low, high, weight = (np.array([number], dtype=float) for number in (0, far, 1))
    assert bins.distribute(low, high, weight)[-1] == pytest.approx(1, abs=1e-3)
    mirrored = bins_for(pa.array([-value for value in values.to_pylist()]))
    assert mirrored.texts[0].startswith("below -1")
