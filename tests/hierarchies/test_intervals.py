"""Intervals of numbers and dates."""

from __future__ import annotations

import datetime as dt
import re
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import HierarchyError, InvalidParameterError
from sfumato.hierarchies.intervals import Intervals

EARLY, LATE = dt.datetime.fromisoformat("1800-01-01"), dt.datetime.fromisoformat("2200-01-01")
BOUNDS = re.compile(r"\[(.+), (.+)([)\]])")


def labels_of(hierarchy, level):
    """Give the label of every leaf on a level."""
    return [hierarchy.labels[level][node] for node in hierarchy.levels[level]]


def bounds(label):
    low, high, close = BOUNDS.fullmatch(label).groups()
    return low, high, close


def assert_in_steps(values, widths, origin, hierarchy):
    """Compare with fractions: every value lies in its interval, which begins at a multiple of the width."""
    assert hierarchy.leaves == tuple(sorted(values))
    for level, width in enumerate(map(Fraction, map(str, widths)), start=1):
        for value, label in zip(hierarchy.leaves, labels_of(hierarchy, level), strict=True):
            low, high, close = bounds(label)
            assert close == ")"
            assert Fraction(low) <= Fraction(repr(value)) < Fraction(high)
            assert Fraction(high) - Fraction(low) == width
            assert ((Fraction(low) - Fraction(str(origin))) / width).denominator == 1


def test_ages_in_steps_of_five_ten_and_twenty():
    tree = Intervals(5, 10, 20).build(pa.array([25, 24, 39, 20]))
    assert tree.leaves == (20, 24, 25, 39)
    assert tree.labels == (
        ("20", "24", "25", "39"),
        ("[20, 25)", "[25, 30)", "[35, 40)"),
        ("[20, 30)", "[30, 40)"),
        ("[20, 40)",),
        ("*",),
    )


def test_the_height_does_not_depend_on_the_values():
    assert Intervals(5, 10).build(pa.array([1])).height == Intervals(5, 10).build(pa.array([1, 99])).height == 3


def test_an_upper_bound_belongs_to_the_next_interval():
    assert labels_of(Intervals(5).build(pa.array([24, 25])), 1) == ["[20, 25)", "[25, 30)"]


def test_an_origin_moves_the_bounds():
    tree = Intervals(5, 10, origin=3).build(pa.array([2, 3, -2]))
    assert labels_of(tree, 1) == ["[-2, 3)", "[-2, 3)", "[3, 8)"]
    assert labels_of(tree, 2) == ["[-7, 3)", "[-7, 3)", "[3, 13)"]


def test_decimals_are_taken_as_written():
    values = [0.1, 0.2, 0.3, 0.6, 0.7, 1.1, 2.3, 4.35]
    labels = labels_of(Intervals(0.1).build(pa.array(values)), 1)
    assert labels[:5] == ["[0.1, 0.2)", "[0.2, 0.3)", "[0.3, 0.4)", "[0.6, 0.7)", "[0.7, 0.8)"]
    assert labels[5:] == ["[1.1, 1.2)", "[2.3, 2.4)", "[4.3, 4.4)"]


def test_an_origin_near_large_values_costs_no_precision():
    labels = labels_of(Intervals(0.1, origin=1000000.1).build(pa.array([1000000.3, 1000000.7, 1000000.8])), 1)
    assert labels == ["[1000000.3, 1000000.4)", "[1000000.7, 1000000.8)", "[1000000.8, 1000000.9)"]


@given(
    st.sets(st.integers(-(10**6), 10**6), min_size=1, max_size=30),
    st.integers(0, 4),
    st.tuples(st.integers(1, 60), st.integers(2, 5), st.integers(-(10**6), 10**6)),
)
@examples(100)
def test_decimal_steps_agree_with_fractions(check_laws, scaled, places, steps):
    step, times, shift = steps
    values = [float(Fraction(number, 10**places)) for number in scaled]
    widths = [float(Fraction(step, 10**places)), float(Fraction(step * times, 10**places))]
    origin = float(Fraction(shift, 10**places))
    tree = Intervals(*widths, origin=origin).build(pa.array(values))
    check_laws(tree)
    assert_in_steps(values, widths, origin, tree)


@given(
    st.sets(st.floats(-1e15, 1e15).map(lambda value: value + 0.0), min_size=1, max_size=20),
    st.sampled_from([(0.1, 0.5), (1e-3, 1), (7, 14), (0.25, 2.5)]),
)
@examples(100)
def test_any_floats_agree_with_fractions(values, widths):
    assert_in_steps(values, widths, 0, Intervals(*widths).build(pa.array(sorted(values))))


@given(
    st.sets(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20),
    st.sampled_from([(3, 9), (0.5, 5), (10**30,)]),
)
def test_whole_numbers_of_any_size_agree_with_fractions_or_are_refused(values, widths):
    builder, column = Intervals(*widths), pa.array(sorted(values), pa.int64())
    if max(map(abs, values)) / widths[0] < 2**62:
        assert_in_steps(values, widths, 0, builder.build(column))
    else:
        with pytest.raises(HierarchyError, match="choose a larger width"):
            builder.build(column)


def test_cut_points_close_the_last_interval():
    tree = Intervals(cuts=[[0, 18, 65, 120], [0, 65, 120]]).build(pa.array([0, 17, 18, 64, 65, 120]))
    assert labels_of(tree, 1) == ["[0, 18)"] * 2 + ["[18, 65)"] * 2 + ["[65, 120]"] * 2
    assert labels_of(tree, 2) == ["[0, 65)"] * 4 + ["[65, 120]"] * 2


def test_values_outside_the_cut_points_are_refused_by_count():
    with pytest.raises(HierarchyError, match="misses 2 of the 4 values of the column"):
        Intervals(cuts=[[0, 10]]).build(pa.array([-1, 0, 10, 10.5]))


@given(
    st.lists(st.integers(-20, 20), min_size=2, max_size=6, unique=True).map(sorted),
    st.sets(st.floats(-25, 25).map(lambda value: value + 0.0), min_size=1, max_size=20),
    st.data(),
)
def test_cut_points_agree_with_comparisons(check_laws, points, values, data):
    inner = data.draw(st.sets(st.sampled_from(points)))
    coarse = sorted({points[0], points[-1], *inner})
    builder = Intervals(cuts=[points, coarse])
    outside = sum(not points[0] <= value <= points[-1] for value in values)
    if outside:
        with pytest.raises(HierarchyError, match=f"misses {outside} of the {len(values)} values"):
            builder.build(pa.array(sorted(values)))
        return
    tree = builder.build(pa.array(sorted(values)))
    check_laws(tree)
    for level in (1, 2):
        for value, label in zip(tree.leaves, labels_of(tree, level), strict=True):
            low, high, close = bounds(label)
            assert float(low) <= value
            assert value < float(high) or (close == "]" and value == float(high) == points[-1])


def test_dates_by_calendar_unit():
    days = [dt.date(2024, 1, 31), dt.date(2024, 2, 1), dt.date(2019, 12, 31)]
    tree = Intervals("month", "quarter", "year", "decade").build(pa.array(days))
    assert tree.leaves == tuple(sorted(days))
    assert labels_of(tree, 0) == ["2019-12-31", "2024-01-31", "2024-02-01"]
    assert labels_of(tree, 1) == [
        "[2019-12-01, 2020-01-01)",
        "[2024-01-01, 2024-02-01)",
        "[2024-02-01, 2024-03-01)",
    ]
    assert labels_of(tree, 2)[1:] == ["[2024-01-01, 2024-04-01)"] * 2
    assert labels_of(tree, 3) == ["[2019-01-01, 2020-01-01)"] + ["[2024-01-01, 2025-01-01)"] * 2
    assert labels_of(tree, 4) == ["[2010-01-01, 2020-01-01)"] + ["[2020-01-01, 2030-01-01)"] * 2


@given(st.sets(st.datetimes(EARLY, LATE), min_size=1, max_size=20))
def test_times_lie_in_their_day_month_and_decade(check_laws, moments):
    tree = Intervals("day", "month", "decade").build(pa.array(sorted(moments), pa.timestamp("us")))
    check_laws(tree)
    for level, starts in enumerate(
        [lambda t: t.date(), lambda t: t.date().replace(day=1), lambda t: dt.date(t.year // 10 * 10, 1, 1)],
        start=1,
    ):
        for moment, label in zip(tree.leaves, labels_of(tree, level), strict=True):
            low, high, _ = bounds(label)
            assert low == starts(moment).isoformat()
            assert moment < dt.datetime.fromisoformat(high)


def test_dates_can_be_cut_at_points():
    days = pa.array([dt.date(2020, 1, 1), dt.date(2020, 6, 30), dt.date(2020, 7, 1), dt.date(2020, 12, 31)])
    tree = Intervals(cuts=[["2020-01-01", "2020-07-01", dt.date(2020, 12, 31)]]).build(days)
    assert tree.labels[1] == ("[2020-01-01, 2020-07-01)", "[2020-07-01, 2020-12-31]")
    assert tree.levels[1].tolist() == [0, 0, 1, 1]


def test_times_can_be_cut_at_times():
    moments = pa.array(
        [dt.datetime.fromisoformat("2020-01-01T11:59"), dt.datetime.fromisoformat("2020-01-01T12:00")],
        pa.timestamp("us"),
    )
    tree = Intervals(cuts=[["2020-01-01", "2020-01-01T12:00", "2020-01-02"]]).build(moments)
    assert tree.labels[1] == ("[2020-01-01, 2020-01-01T12:00:00)", "[2020-01-01T12:00:00, 2020-01-02]")


def test_a_column_without_values_has_only_a_root(check_laws):
    tree = Intervals(5, 10).build(pa.array([], pa.string()))
    check_laws(tree)
    assert tree.height == 3


@pytest.mark.parametrize(
    ("builder", "column", "message"),
    [
        (Intervals(5), pa.array(["20", "x"]), "need a column of numbers; this one contains neither"),
        (Intervals(5), pa.array([True, False]), "need a column of numbers"),
        (Intervals(5), pa.array([dt.date(2020, 1, 1)]), "contains dates; use units"),
        (Intervals("year"), pa.array([2020]), "need a column of dates; this one contains numbers"),
        (Intervals(cuts=[["2020-01-01", "2021-01-01"]]), pa.array([2020]), "need a column of dates"),
        (Intervals(5), pa.array([1.5, np.inf, -np.inf]), "finite numbers; 2 of the 3 values are not"),
        (Intervals(5), pa.array([1.5, 1e300]), "1 of the 2 values; choose a larger width"),
    ],
)
def test_columns_that_do_not_fit_are_refused(builder, column, message):
    with pytest.raises(HierarchyError, match=message):
        builder.build(column)


@pytest.mark.parametrize(
    ("widths", "options", "message"),
    [
        ((), {}, "given, or else cuts"),
        ((5,), {"cuts": [[0, 1]]}, "given, or else cuts"),
        ((0,), {}, "greater than 0"),
        ((-5,), {}, "greater than 0"),
        ((float("nan"),), {}, "greater than 0"),
        ((float("inf"),), {}, "greater than 0"),
        ((True,), {}, "greater than 0"),
        ((5, 12), {}, "multiple of the one before"),
        ((10, 5), {}, "multiple of the one before"),
        ((5, 5), {}, "multiple of the one before"),
        ((0.1, 0.25), {}, "multiple of the one before"),
        (("fortnight",), {}, "calendar units among day, week"),
        (("year", "month"), {}, "from narrow to wide"),
        (("month", 5), {}, "calendar units"),
        ((5,), {"origin": float("nan")}, "a number"),
        (("year",), {"origin": 5}, "left out"),
        ((), {"cuts": []}, "one list of points per level"),
        ((), {"cuts": [0, 5, 10]}, "one list of points per level"),
        ((), {"cuts": [[0]]}, "at least two points"),
        ((), {"cuts": [[0, 5, 3]]}, "increasing"),
        ((), {"cuts": [[0, 0, 3]]}, "increasing"),
        ((), {"cuts": [[0, float("inf")]]}, "all numbers, or all ISO dates"),
        ((), {"cuts": [[0, "2020-01-01"]]}, "all numbers, or all ISO dates"),
        ((), {"cuts": [["2020-01-01", "2020-13-01"]]}, "all numbers, or all ISO dates"),
        ((), {"cuts": [["2020-01-01", "2021-01-01T00:00+01:00"]]}, "all numbers, or all ISO dates"),
        ((), {"cuts": [[0, 5, 10], [0, 4, 10]]}, "some of the points of the level below"),
        ((), {"cuts": [[0, 5, 10], [0, 5]]}, "with the same ends"),
        ((), {"cuts": [[0, 5, 10]], "origin": 1}, "left out"),
    ],
)
def test_settings_that_make_no_nested_intervals_are_refused(widths, options, message):
    with pytest.raises(InvalidParameterError, match=message):
        Intervals(*widths, **options)


def test_decimal_widths_nest_as_written():
    assert Intervals(0.1, 0.3, 0.6).widths == (0.1, 0.3, 0.6)


@pytest.mark.parametrize(
    ("builder", "written"),
    [
        (Intervals(5, 10, 20), "Intervals(5, 10, 20)"),
        (Intervals("month", "year"), "Intervals('month', 'year')"),
        (Intervals(5, origin=2), "Intervals(5, origin=2)"),
        (Intervals(cuts=[(0, 18), (0, 18)]), "Intervals(cuts=[[0, 18], [0, 18]])"),
    ],
)
def test_repr_is_what_a_user_would_write(builder, written):
    assert repr(builder) == written


def test_weeks_begin_on_mondays():
    days = pa.array([dt.date(2024, 1, 7), dt.date(2024, 1, 8), dt.date(2024, 1, 14), dt.date(1969, 12, 28)])
    assert Intervals("day", "week").build(days).labels[2] == (
        "[1969-12-22, 1969-12-29)",
        "[2024-01-01, 2024-01-08)",
        "[2024-01-08, 2024-01-15)",
    )


@given(st.dates(dt.date(1600, 1, 1), dt.date(2600, 1, 1)))
def test_every_day_is_in_the_week_of_its_monday(day):
    monday = day - dt.timedelta(days=day.weekday())
    (label,) = Intervals("week").build(pa.array([day])).labels[1]
    assert label == f"[{monday}, {monday + dt.timedelta(days=7)})"


def test_nothing_follows_weeks():
    with pytest.raises(InvalidParameterError, match="without units after weeks"):
        Intervals("week", "month")
