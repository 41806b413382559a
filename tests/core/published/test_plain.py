"""Intervals that are read all at once mean what they mean one by one."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.encoding.coded_table import encode_column
from sfumato.schema.roles import Scale
from sfumato.tables.published._coverage import cover_labels
from sfumato.tables.published._labels import parse_date_intervals, parse_label, parse_number_intervals
from sfumato.tables.published.published_table import PublishedColumn

NUMBERS = st.one_of(st.integers(-120, 120).map(str), st.sampled_from(["0.5", "1.25", "-3.0", "007", "1e3", "", "x"]))
DAYS = st.one_of(
    st.dates(date(1999, 1, 1), date(2001, 12, 31)).map(str), st.sampled_from(["2000-13-01", "2000-02-30", "2000"])
)
ODD = st.sampled_from(["*", "7", "2000-01-01", "{1, 2}", "20-30", ">=90", None, "[1,2]", "(1, 2]", "[1, 2]]", "flu"])


def texts(ends):
    interval = st.builds("[{}, {}{}".format, ends, ends, st.sampled_from([")", "]"]))
    return st.lists(st.one_of(interval, ODD), min_size=1, max_size=30, unique=True)


def check(shown, column):
    schema = sf.Schema(quasi_identifiers=["x"])
    coded = encode_column("x", pa.chunked_array([column]), schema)
    seen = PublishedColumn("x", tuple(shown), np.arange(len(shown), dtype=np.int32), schema, coded.domain)
    leaves = dict(zip(coded.domain.texts, coded.domain.values.to_pylist(), strict=True))
    labels = [parse_label(text, Scale.NUMERIC, leaves) for text in shown]
    expected, found = cover_labels(labels, coded.domain), seen.coverage
    assert seen.labels == tuple(labels)
    assert found.leaf_counts().tolist() == expected.leaf_counts().tolist()
    some = expected.leaf_counts() > 0
    assert np.array_equal(found.low[some], expected.low[some])
    assert np.array_equal(found.high[some], expected.high[some])
    assert np.array_equal(found.missing, expected.missing)


@given(texts(NUMBERS))
def test_numbers_are_covered_alike(shown):
    check(shown, pa.array([-100, -3, 0, 1, 2, 7, 20, 29, 30, 95]))


@given(texts(NUMBERS))
def test_reals_are_covered_alike(shown):
    check(shown, pa.array([-3.0, 0.5, 1.25, 7.0, 29.5]))


@given(texts(DAYS))
def test_days_are_covered_alike(shown):
    check(shown, pa.array([date(1999, 5, 1), date(2000, 2, 29), date(2001, 1, 1)]))


@given(texts(DAYS))
def test_moments_are_covered_alike(shown):
    days = pa.array([date(1999, 5, 1), date(2000, 2, 29), date(2001, 1, 1)])
    moments = pa.array([value + 3_600_000_000 for value in days.cast(pa.timestamp("us")).cast(pa.int64()).to_pylist()])
    check(shown, moments.cast(pa.timestamp("us")))


def test_labels_of_a_hierarchy_are_not_taken_for_intervals():
    schema = sf.Schema(quasi_identifiers=["x"], hierarchies={"x": sf.hierarchies.Intervals(10)})
    domain = encode_column("x", pa.chunked_array([[1, 5, 12]]), schema).domain
    shown = ("[0, 10)", "[1, 5]")
    column = PublishedColumn("x", shown, np.arange(2, dtype=np.int32), schema, domain)
    assert column.intervals.at.tolist() == [1]
    assert column.coverage.leaf_counts().tolist() == [2, 2]


@pytest.mark.parametrize("read", [parse_number_intervals, parse_date_intervals])
def test_nothing_is_found_among_other_texts(read):
    assert len(read(["*", None, "flu", "[1,2]", "[2000-01-01, 3]"])) == 0
