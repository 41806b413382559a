"""The histogram with the limits of intervals: lines where limits are, bars that sum to the records."""

from __future__ import annotations

import datetime as dt
import xml.etree.ElementTree as ET

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.hierarchies.intervals import Intervals
from sfumato.report.charts.cut_points import draw_cut_points

SVG = "{http://www.w3.org/2000/svg}"
SAID = {"title": "Ages", "description": "Records by age."}
AGES = pa.array([*range(17, 91)] * 2)


def limits_of(drawn):
    root = ET.fromstring(drawn.svg)  # noqa: S314 - our own picture
    return {
        group.get("data-limit"): group.find(f"{SVG}line") for group in root.iter(f"{SVG}g") if group.get("data-limit")
    }


def test_two_levels_have_lines_and_the_others_marks():
    drawn = draw_cut_points(AGES, Intervals(5, 10, 20), **SAID)
    lines = limits_of(drawn)
    assert {limit for limit, line in lines.items() if line.get("stroke-width") == "2"} == {"20", "40", "60", "80"}
    assert {limit for limit, line in lines.items() if line.get("stroke-dasharray") != "none"} == {
        "30",
        "50",
        "70",
        "90",
    }
    tops = {float(lines[limit].get("y1")) for limit in ("25", "35", "85")}
    assert min(tops) > float(lines["30"].get("y1"))


def test_a_limit_stands_left_of_the_value_at_which_its_interval_begins():
    drawn = draw_cut_points(AGES, Intervals(20), **SAID)
    assert drawn.low == 17
    assert drawn.high == 91
    place = (float(limits_of(drawn)["20"].get("x1")) - drawn.left) / (drawn.right - drawn.left)
    assert drawn.low + place * (drawn.high - drawn.low) == pytest.approx(20, abs=0.01)


def test_bars_name_values_without_words():
    drawn = draw_cut_points(AGES, **SAID)
    assert drawn.bars[0] == ("17", 2)
    assert len(drawn.bars) == 74
    reals = draw_cut_points(pa.array([-0.5, 0.5, 2.5]), **SAID)
    assert " to " not in "".join(text for text, _ in reals.bars)
    far = draw_cut_points(pa.array([*range(100)] * 10 + [10**6]), Intervals(10), **SAID)
    assert far.bars[-1][0].startswith("≥ ")
    assert "more" not in far.svg


def test_dates_and_moments():
    days = pa.array([dt.date(2020, 1, 1), dt.date(2024, 6, 1)])
    assert set(limits_of(draw_cut_points(days, Intervals("year"), **SAID))) == {
        f"{year}-01-01" for year in range(2021, 2025)
    }
    moments = pa.array([dt.datetime(2020, 1, 1, 10), dt.datetime(2020, 3, 1)])  # noqa: DTZ001 - a time without a zone
    assert set(limits_of(draw_cut_points(moments, Intervals("month"), **SAID))) == {"2020-02-01", "2020-03-01"}


def test_limits_that_stand_too_close_are_left_out():
    assert limits_of(draw_cut_points(pa.array([0, 190]), Intervals(1), **SAID, width=340)) == {}


@pytest.mark.parametrize("column", [pa.array(["a", "b"]), pa.array([], pa.int64()), pa.array([None], pa.float64())])
def test_where_there_is_no_axis_there_is_no_picture(column):
    assert draw_cut_points(column, **SAID) is None


@given(
    st.one_of(
        st.lists(st.integers(-(2**60), 2**60), min_size=1),
        st.lists(st.floats(-1e300, 1e300), min_size=1),
        st.lists(st.dates(dt.date(1700, 1, 1), dt.date(2500, 1, 1)), min_size=1),
    ),
    st.sampled_from([300, 700]),
)
def test_every_record_is_in_a_bar_inside_the_picture(values, width):
    column = pa.array(values)
    intervals = Intervals("year", "decade") if isinstance(values[0], dt.date) else Intervals(5, 100)
    drawn = draw_cut_points(column, intervals, **SAID, width=width)
    if drawn is None:
        assert isinstance(values[0], float)
        return
    assert sum(records for _, records in drawn.bars) == len(values)
    root = ET.fromstring(drawn.svg)  # noqa: S314 - our own picture
    for line in root.iter(f"{SVG}line"):
        assert -1 <= float(line.get("x1")) <= width + 1
    for bar in root.iter(f"{SVG}rect"):
        assert -1 <= float(bar.get("x")) <= float(bar.get("x")) + float(bar.get("width")) <= width + 1
