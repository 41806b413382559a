"""Where intervals begin."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sfumato.hierarchies._interval_limits import MAX_LIMITS, convert_to_cuts, list_limits
from sfumato.hierarchies.intervals import Intervals

AGES = pa.array([17, 41, 90])


def test_limits_of_ages():
    assert list_limits(Intervals(10, 20), AGES) == ((20, 30, 40, 50, 60, 70, 80, 90), (20, 40, 60, 80))
    assert list_limits(Intervals(20, origin=17), AGES) == ((37, 57, 77),)
    assert list_limits(Intervals(0.1), pa.array([0.05, 0.3])) == ((0.1, 0.2, 0.3),)


def test_limits_of_dates():
    days = pa.array([dt.date(2023, 11, 30), dt.date(2024, 2, 1)])
    assert list_limits(Intervals("month", "year"), days) == (
        ("2023-12-01", "2024-01-01", "2024-02-01"),
        ("2024-01-01",),
    )
    assert list_limits(Intervals("week"), days)[0][:2] == ("2023-12-04", "2023-12-11")


def test_typed_limits_stay_as_they_are():
    assert list_limits(Intervals(cuts=[[0, 18, 120], [0, 120]]), AGES) == ((0, 18, 120), (0, 120))


def test_too_many_limits_are_none():
    assert list_limits(Intervals(1, 500), pa.array([0, 1 + MAX_LIMITS])) == ((), ())
    assert len(list_limits(Intervals(1), pa.array([0, MAX_LIMITS]))[0]) == MAX_LIMITS


def test_a_column_without_numbers_has_none():
    assert list_limits(Intervals(5, 10), pa.array([], pa.int64())) == ((), ())
    assert list_limits(Intervals(5), pa.array([float("inf")])) == ((),)


@given(st.lists(st.integers(-50, 50), min_size=1), st.integers(1, 9), st.integers(-5, 5))
def test_limits_are_where_neighbors_fall_into_different_intervals(values, width, origin):
    (points,) = list_limits(Intervals(width, origin=origin), pa.array(values))
    everything = range(min(values), max(values) + 1)
    tree = Intervals(width, origin=origin).build(pa.array(everything))
    nodes = tree.levels[1].tolist()
    assert points == tuple(everything[at] for at in range(1, len(nodes)) if nodes[at] != nodes[at - 1])


@given(
    st.lists(st.integers(-300, 300), min_size=1),
    st.integers(1, 9),
    st.sampled_from([(), (2,), (2, 6)]),
    st.integers(-5, 5),
)
def test_typed_limits_make_the_same_groups(values, width, factors, origin):
    intervals = Intervals(width, *(width * factor for factor in factors), origin=origin)
    typed = convert_to_cuts(intervals, pa.array(values))
    distinct = pa.array(values).unique()
    made, before = Intervals(cuts=typed).build(distinct), intervals.build(distinct)
    assert Intervals(cuts=typed).find_uncovered(distinct).to_pylist() == []
    left_out = len(before.levels) - len(made.levels)
    for levels, kept in zip(before.levels[1 + left_out :], made.levels[1:], strict=True):
        assert levels.tolist() == kept.tolist()


def test_typed_limits_of_dates():
    days = pa.array([dt.date(2023, 11, 30), dt.date(2024, 2, 1)])
    assert convert_to_cuts(Intervals("quarter", "year"), days)[1] == ("2023-01-01", "2024-01-01", "2025-01-01")
    assert len(convert_to_cuts(Intervals("quarter", "year"), days)[0]) == 9
    assert convert_to_cuts(Intervals("week"), days)[0][0] == "2023-11-27"
    assert convert_to_cuts(Intervals(cuts=[[0, 1]]), AGES) == ((0, 1),)
    assert convert_to_cuts(Intervals(5), pa.array([], pa.int64())) == ()
