"""Hierarchies for columns that have none."""

from __future__ import annotations

import datetime as dt
import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import HierarchyError
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.preview import count_values
from sfumato.hierarchies.proposal import propose_hierarchy, propose_hierarchy_type
from sfumato.hierarchies.taxonomy import Taxonomy

DAY = dt.date(2020, 1, 1)
MORNING = dt.datetime.fromisoformat("2020-01-01T08:00")


@pytest.mark.parametrize(
    ("values", "widths"),
    [
        ([17, 90], (5, 10, 20, 40)),
        ([0, 99_999], (5000, 10_000, 20_000, 40_000)),
        ([1994, 2013], (2, 10)),
        ([0, 1], (2,)),
        ([7], (2,)),
        ([0, 30], (2, 10, 20)),
        ([0.0, 0.75], (0.05, 0.1, 0.2, 0.4)),
        ([-0.5, 15.0], (1, 5, 10)),
        ([float("inf")], (1,)),
        ([-1.7e308, 1.7e308], (2e307, 1e308)),
    ],
)
def test_numbers_get_round_widths_that_nest(values, widths):
    assert propose_hierarchy(pa.array(values)) == Intervals(*widths)


@given(st.sets(st.floats(allow_nan=False, allow_infinity=False).map(lambda v: v + 0.0), min_size=1, max_size=10))
@examples(100)
def test_any_numbers_get_intervals_that_can_be_built(check_laws, values):
    builder = propose_hierarchy(pa.array(sorted(values)))
    tree = builder.build(pa.array(sorted(values)))
    check_laws(tree)
    assert 1 <= len(builder.widths) <= 4
    span = Fraction(max(values)) - Fraction(min(values))
    assert span <= 21 * Fraction(builder.widths[0])


@pytest.mark.parametrize(
    ("values", "units"),
    [
        ([DAY], ("month",)),
        ([MORNING], ("day",)),
        ([DAY, DAY + dt.timedelta(days=40)], ("month",)),
        ([DAY, DAY + dt.timedelta(days=100)], ("month", "quarter")),
        ([DAY, DAY + dt.timedelta(days=400)], ("month", "quarter", "year")),
        ([DAY, DAY + dt.timedelta(days=9000)], ("month", "quarter", "year", "decade")),
        ([MORNING, MORNING + dt.timedelta(hours=25)], ("day",)),
    ],
)
def test_dates_get_the_units_that_tell_them_apart(values, units):
    assert propose_hierarchy(pa.array(values)) == Intervals(*units)


@pytest.mark.parametrize("codes", [["53715", "90210"], ["K1A 0B1", "M5V 3L9"], ["0001", "1999"]])
def test_codes_of_equal_length_get_prefixes(codes):
    assert propose_hierarchy(pa.array(codes)) == Prefixes()


@pytest.mark.parametrize(
    "texts",
    [["flu", "cold"], ["53715", "1234"], ["20-29", "30-39"], ["abc1", "def2"], ["10", "20"], ["1" * 13]],
)
def test_other_texts_stay_flat(texts):
    builder = propose_hierarchy(pa.array(texts))
    assert builder == Taxonomy(sorted(texts))
    assert builder.build(pa.array(texts)).height == 1


def test_truth_values_stay_flat():
    assert propose_hierarchy(pa.array([True, False])).build(pa.array([True, False])).leaves == ("false", "true")


@pytest.mark.parametrize("type_", [pa.string(), pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us"), pa.bool_()])
def test_columns_without_values_can_be_built(check_laws, type_):
    values = pa.array([], type_)
    check_laws(propose_hierarchy(values).build(values))


def test_the_order_of_values_does_not_matter():
    words = [f"word {i}" for i in range(30)]
    shuffled = random.Random(5).sample(words, len(words))
    assert propose_hierarchy(pa.array(words)) == propose_hierarchy(pa.array(shuffled))


def test_a_kind_that_is_asked_for():
    ages, words = pa.array([17, 43, 90]), pa.array(["b", "a"])
    assert propose_hierarchy_type("intervals", ages) == propose_hierarchy(ages)
    assert propose_hierarchy_type("prefixes", words) == Prefixes()
    assert propose_hierarchy_type("taxonomy", words) == Taxonomy(["a", "b"])
    assert propose_hierarchy_type("ordered-groups", pa.array([10, 9])) == OrderedGroups(["9", "10"])


def test_what_a_column_has_opens_as_groups():
    ages = pa.array([17, 43, 90])
    opened = propose_hierarchy_type("taxonomy", ages, Intervals(20, 40))
    assert opened.rows == tuple(Intervals(20, 40).build(ages).rows())
    short = Intervals(cuts=[[0, 18, 65]])
    assert propose_hierarchy_type("ordered-groups", ages, short).find_uncovered(ages).to_pylist() == []
    assert propose_hierarchy_type("taxonomy", pa.array(["x"]), Taxonomy({"g": ["a"], "h": ["b"]})).rows[2] == (
        "x",
        "x",
        "*",
    )


def test_a_hierarchy_that_does_not_fit_is_left_aside():
    assert propose_hierarchy_type("taxonomy", pa.array(["b", "a"]), Intervals(5)) == Taxonomy(["a", "b"])


def test_kinds_that_do_not_fit_are_refused():
    with pytest.raises(HierarchyError, match="Intervals need a column of numbers or dates"):
        propose_hierarchy_type("intervals", pa.array(["a"]))
    with pytest.raises(HierarchyError, match="2,001 values, more than can be grouped by hand"):
        propose_hierarchy_type("taxonomy", pa.array(range(2001)))


ORDERED = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1) | st.integers(0, 300),
    pa.float64(): st.floats(allow_nan=False).map(lambda number: number + 0)
    | st.floats(0, 100).map(lambda number: round(number, 2)),
    pa.date32(): st.dates(),
    pa.timestamp("us"): st.datetimes(),
}


@given(
    st.sampled_from(list(ORDERED)).flatmap(lambda kind: st.lists(ORDERED[kind], max_size=60).map(lambda v: (kind, v)))
)
def test_round_intervals_are_proposed_for_any_numbers_and_dates_and_cover_them(drawn):
    kind, cells = drawn
    values, counts = count_values(pa.array(cells, kind))
    builder = propose_hierarchy(values, counts)
    finite = values.filter(pc.is_finite(values)) if kind == pa.float64() else values
    hierarchy = builder.build(finite)
    assert len(hierarchy.leaves) == len(finite)
    assert builder.find_uncovered(finite).to_pylist() == []


@given(st.integers(60, 400), st.integers(0, 99))
def test_the_narrowest_intervals_hold_five_records_nearly_everywhere(count, seed):
    amounts = pa.array(np.round(np.random.default_rng(seed).lognormal(3, 1, count), 2))
    values, counts = count_values(amounts)
    level = np.asarray(propose_hierarchy(values, counts).build(values).levels[1])
    held = np.bincount(level, weights=counts)
    assert held[held < 5].sum() <= 0.05 * count


@pytest.mark.parametrize(("each", "widths"), [(30, (1, 5, 10, 20, 40)), (3, (2, 10, 20, 40)), (1, (5, 10, 20, 40))])
def test_the_first_level_is_finer_the_more_records_share_a_value(each, widths):
    assert propose_hierarchy(pa.array(range(18, 90)), np.full(72, each)) == Intervals(*widths)


def test_amounts_that_crowd_get_ends_between_quantiles():
    rng = np.random.default_rng(1)
    fares, counts = count_values(pa.array(np.round(rng.lognormal(2.9, 0.95, 891) * 4) / 4))
    proposed_cuts = propose_hierarchy(fares, counts)
    first = proposed_cuts.cuts[0]
    assert 40 < len(first) <= 101
    assert all(len(str(point)) <= 4 for point in first)  # round
    assert all(set(above) < set(below) for below, above in pairwise(proposed_cuts.cuts))


def test_days_are_kept_where_many_records_share_one_and_months_where_not():
    days = pa.array([dt.date(2017, 9, 15) + dt.timedelta(days=day) for day in range(40)])
    assert propose_hierarchy(days, np.full(40, 50)) == Intervals("day", "month", "quarter")
    assert propose_hierarchy(days, np.full(40, 1)) == Intervals("month", "quarter")
