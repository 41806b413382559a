"""Published cells are read in every notation that tools write, and what cannot be read covers nothing."""

from __future__ import annotations

from datetime import date, datetime
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.io._values import format_value
from sfumato.schema.roles import Scale
from sfumato.tables.published._labels import is_mask, parse_label
from sfumato.tables.published.solution import Center, Exact, Interval, MissingCell, Node, Suppressed, ValueSet

MARCH, MAY = date(2020, 3, 1), date(2020, 5, 1)

INTERVALS = [
    ("[20, 30)", Interval(20, 30, high_closed=False)),
    ("(20,30]", Interval(20, 30, low_closed=False)),
    ("]20;30[", Interval(20, 30, low_closed=False, high_closed=False)),
    ("[20-30]", Interval(20, 30)),
    ("20-30", Interval(20, 30)),
    (" 20 - 30 ", Interval(20, 30)),
    ("20\u201330", Interval(20, 30)),
    ("20\u201430", Interval(20, 30)),
    ("[26 ~ 32]", Interval(26, 32)),
    ("26~32", Interval(26, 32)),
    ("20 to 30", Interval(20, 30)),
    ("-5--1", Interval(-5, -1)),
    ("-5-3", Interval(-5, 3)),
    ("[-5, -1]", Interval(-5, -1)),
    ("[-5--1]", Interval(-5, -1)),
    ("1e3..2e3", Interval(1000.0, 2000.0)),
    ("0.5..1.5", Interval(0.5, 1.5)),
    ("1...5", Interval(1, 5)),
    ("1e-05-2e-05", Interval(1e-05, 2e-05)),
    ("[7, 7]", Interval(7, 7)),
    ("<20", Interval(-inf, 20, low_closed=False, high_closed=False)),
    ("<= 20", Interval(-inf, 20, low_closed=False)),
    ("\u2264-5", Interval(-inf, -5, low_closed=False)),
    (">90", Interval(90, inf, low_closed=False, high_closed=False)),
    (">=90", Interval(90, inf, high_closed=False)),
    ("\u2265 90", Interval(90, inf, high_closed=False)),
    ("90+", Interval(90, inf, high_closed=False)),
    ("90 +", Interval(90, inf, high_closed=False)),
    ("[90, inf)", Interval(90, inf, high_closed=False)),
    ("(-Inf,20]", Interval(-inf, 20, low_closed=False)),
    ("(-\u221e, \u221e)", Interval(-inf, inf, low_closed=False, high_closed=False)),
    ("[2020-03-01, 2020-05-01)", Interval(MARCH, MAY, high_closed=False)),
    ("2020-03-01-2020-05-01", Interval(MARCH, MAY)),
    ("2020-03-01 to 2020-05-01", Interval(MARCH, MAY)),
    (">=2020-03-01", Interval(MARCH, inf, high_closed=False)),
    ("(-inf, 2020-03-01)", Interval(-inf, MARCH, low_closed=False, high_closed=False)),
    ("[2020-03-01T10:30:00, 2020-05-01]", Interval(datetime(2020, 3, 1, 10, 30), MAY)),  # noqa: DTZ001 - naive, as tables are
    (
        "[2020-03-01T01:00:00+01:00, 2020-05-01T00:00:00Z]",
        Interval(datetime(2020, 3, 1), datetime(2020, 5, 1)),  # noqa: DTZ001 - told in UTC, naive, as tables are
    ),
]


@pytest.mark.parametrize(("written", "label"), INTERVALS, ids=[written for written, _ in INTERVALS])
def test_an_interval_is_read_on_the_numeric_scale(written, label):
    assert parse_label(written, Scale.NUMERIC, {}) == label


@pytest.mark.parametrize("written", [written for written, _ in INTERVALS])
def test_an_interval_means_nothing_on_the_nominal_scale(written):
    assert parse_label(written, Scale.NOMINAL, {}) == Exact(written)


NOT_INTERVALS = [
    ("[30, 20]", Exact("[30, 20]")),
    ("30-20", Exact("30-20")),
    ("[20, x]", Exact("[20, x]")),
    ("[20]", Exact("[20]")),
    ("1,234", Exact("1,234")),
    ("20_30", Exact("20_30")),
    ("[2020-03-01, 30]", Exact("[2020-03-01, 30]")),
    ("[20, 2020-03-01]", Exact("[20, 2020-03-01]")),
    ("(inf, inf)", Exact("(inf, inf)")),
    ("[inf, 20]", Exact("[inf, 20]")),
    ("<x", Exact("<x")),
    ("x+", Exact("x+")),
    ("+", Exact("+")),
    ("nan", Exact("nan")),
    ("inf", Exact("inf")),
    ("9" * 400, Exact("9" * 400)),
    ("", Exact("")),
    ("  ", Exact("  ")),
    ("0001-01-01T00:00:00+23:00", Exact("0001-01-01T00:00:00+23:00")),
]


@pytest.mark.parametrize(("written", "label"), NOT_INTERVALS)
def test_what_is_no_number_and_no_interval_stays_a_text(written, label):
    assert parse_label(written, Scale.NUMERIC, {}) == label


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("30", 30),
        (" 30.0", 30.0),
        ("-1e3", -1000.0),
        ("2020-03-01", MARCH),
        ("2020-03-01T10:30:00", datetime(2020, 3, 1, 10, 30)),  # noqa: DTZ001 - naive, as tables are
        ("12345678901234567890123", 1.2345678901234568e22),
    ],
)
def test_a_number_or_date_outside_the_domain_is_a_center(written, value):
    label = parse_label(written, Scale.NUMERIC, {"31": 31})
    assert label == Center(value)
    assert isinstance(label, Center)


def test_a_leaf_comes_before_every_notation():
    for written in ("[20, 30)", "20-30", "2020-03-01", "537**", "{a, b}", "**", "90+"):
        for scale in Scale:
            assert parse_label(written, scale, {written: written}) == Exact(written)


def test_a_leaf_gives_its_typed_value():
    assert parse_label("39", Scale.NUMERIC, {"39": 39}).value == 39


@pytest.mark.parametrize("scale", Scale)
@pytest.mark.parametrize("written", ["*", "**", "*****", " * "])
def test_nothing_but_stars_is_suppressed(written, scale):
    assert parse_label(written, scale, {}) == Suppressed()


@pytest.mark.parametrize("scale", Scale)
def test_no_text_is_a_missing_cell_on_every_scale(scale):
    assert parse_label(None, scale, {}) == MissingCell()


@pytest.mark.parametrize("scale", Scale)
@pytest.mark.parametrize("written", ["537**", "5****", "537 *", " 53**", "**715", "* 537"])
def test_a_prefix_or_suffix_with_stars_is_a_mask_on_every_scale(written, scale):
    assert parse_label(written, scale, {}) == Node(written)
    assert is_mask(written)


def test_a_mask_loses_spaces_after_it_and_keeps_those_before():
    assert parse_label(" 53** ", Scale.NOMINAL, {}) == Node(" 53**")


@pytest.mark.parametrize("written", ["", "*", "***", "53715", "a*b"])
def test_texts_that_are_no_masks(written):
    assert not is_mask(written)


@pytest.mark.parametrize("scale", Scale)
def test_a_label_of_the_taxonomy_comes_before_the_interval_that_it_looks_like(scale):
    assert parse_label("20-24", scale, {"20": 20, "24": 24}, frozenset({"20-24"})) == Node("20-24")


GRADES = {grade: grade for grade in ("none", "primary", "secondary, lower", "secondary", " padded", "a-b", "b")}


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("[primary, secondary]", Interval("primary", "secondary")),
        ("(none,primary]", Interval("none", "primary", low_closed=False)),
        ("[primary, secondary, lower]", Interval("primary", "secondary, lower")),
        ("[secondary, lower, secondary]", Interval("secondary, lower", "secondary")),
        ("[none,  padded]", Interval("none", " padded")),
        ("[ padded, b]", Interval(" padded", "b")),
        ("primary to secondary", Interval("primary", "secondary")),
        ("none-primary", Interval("none", "primary")),
        ("a-b-b", Interval("a-b", "b")),
        ("[primary, unheard]", Exact("[primary, unheard]")),
        ("[primary]", Exact("[primary]")),
        ("primary, secondary", Exact("primary, secondary")),
        (">=primary", Exact(">=primary")),
        ("5", Exact("5")),
    ],
)
def test_ordinal_intervals_lie_between_known_values(written, label):
    assert parse_label(written, Scale.ORDINAL, GRADES) == label


@pytest.mark.parametrize(
    ("written", "members"),
    [
        ("{}", ()),
        ("{flu}", ("flu",)),
        ("{a,b}", ("a", "b")),
        ('{a, "b, c", d}', ("a", "b, c", "d")),
        ('{"say ""ah""", b}', ('say "ah"', "b")),
        ('{"", a}', ("", "a")),
        ('{"a"b, c}', ('"a"b', "c")),
        ('{"a, b}', ('"a', "b")),
        ("{ a , b }", ("a", "b")),
    ],
)
@pytest.mark.parametrize("scale", Scale)
def test_sets_are_read_on_every_scale(written, members, scale):
    assert parse_label(written, scale, {}) == ValueSet(members)


@given(st.lists(st.text(max_size=8) | st.sampled_from([",", '"', "{", "}", '", "', "\n", "a, b"]), min_size=1))
def test_a_set_of_any_texts_comes_back(members):
    label = ValueSet(tuple(members))
    assert parse_label(label.text, Scale.NOMINAL, {}) == label


NUMBERS = st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False, width=32)
MOMENTS = st.dates() | st.datetimes()


def same_bound(found: object, given: object) -> bool:
    return found == given or format_value(found) == format_value(given)


@given(st.tuples(NUMBERS, NUMBERS) | st.tuples(st.dates(), st.dates()), st.booleans(), st.booleans())
def test_an_interval_of_numbers_or_dates_comes_back(ends, low_closed, high_closed):
    low, high = sorted(ends)
    read = parse_label(Interval(low, high, low_closed=low_closed, high_closed=high_closed).text, Scale.NUMERIC, {})
    assert isinstance(read, Interval)
    assert same_bound(read.low, low)
    assert same_bound(read.high, high)
    assert (read.low_closed, read.high_closed) == (low_closed, high_closed)


@given(st.datetimes(), st.datetimes())
def test_an_interval_of_moments_comes_back(first, last):
    label = Interval(min(first, last), max(first, last))
    assert parse_label(label.text, Scale.NUMERIC, {}) == label


@given(st.text(), st.sampled_from(Scale))
def test_any_text_can_be_read(written, scale):
    label = parse_label(written, scale, {})
    assert label.text is not None


@given(st.integers(-99, 99), st.integers(-99, 99), st.sampled_from(["-", " - ", "\u2013", "~", "..", " to "]))
def test_plain_notations_agree_with_brackets(low, high, separator):
    plain = parse_label(f"{low}{separator}{high}", Scale.NUMERIC, {})
    if low <= high:
        assert plain == parse_label(f"[{low}, {high}]", Scale.NUMERIC, {})
    else:
        assert not isinstance(plain, Interval)
