"""The canonical text of values."""

# ruff: noqa: DTZ001 - canonical moments have no time zone

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.io._values import count_distinct, dictionary_encode, format_value, format_values

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (39, "39"),
        (-7, "-7"),
        (39.0, "39"),
        (-0.0, "0"),
        (0.5, "0.5"),
        (1e-05, "1e-05"),
        (1e16, "1e+16"),
        (1e15, "1000000000000000"),
        (True, "true"),
        (False, "false"),
        ("  unchanged ", "  unchanged "),
        (dt.date(1984, 2, 29), "1984-02-29"),
        (dt.datetime(1984, 2, 29, 10, 30), "1984-02-29T10:30:00"),
        (dt.datetime(1984, 2, 29, 0, 0), "1984-02-29T00:00:00"),
        (dt.datetime(1984, 2, 29, 10, 30, tzinfo=dt.timezone(dt.timedelta(hours=2))), "1984-02-29T08:30:00"),
        (dt.time(10, 30), "10:30:00"),
        (Decimal("2.50"), "2.5"),
        (Decimal(12345678901234567890), "12345678901234567890"),
        (np.int8(3), "3"),
        (np.float32(0.5), "0.5"),
        (np.datetime64("2020-01-02T03:04:05.000006000"), "2020-01-02T03:04:05.000006"),
    ],
)
def test_a_value_has_one_text(value, expected):
    assert format_value(value) == expected


@pytest.mark.parametrize("value", [None, float("nan"), Decimal("NaN"), b"bytes", [1], object()])
def test_what_is_no_value_has_no_text(value):
    with pytest.raises(TypeError, match="has no canonical text"):
        format_value(value)


@given(st.lists(st.none() | FLOATS | st.floats(-1e9, 1e9).map(lambda x: round(x, 3))))
@examples(200)
def test_texts_of_floats_are_the_texts_of_each(values):
    expected = [None if value is None else format_value(value) for value in values]
    assert format_values(pa.array(values, pa.float64())).to_pylist() == expected


@given(FLOATS)
def test_the_text_of_a_float_reads_back_as_it(value):
    assert float(format_value(value)) == value


@given(st.lists(st.none() | st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31))), st.integers(0, 3))
def test_texts_of_moments_are_the_texts_of_each(values, cut):
    chunks = [pa.array(part, pa.timestamp("us")) for part in (values[:cut], values[cut:])]
    expected = [None if value is None else format_value(value) for value in values]
    assert format_values(pa.chunked_array(chunks)).to_pylist() == expected


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, None, 2], pa.int64()),
        pa.array([True, None, False]),
        pa.array([dt.date(2020, 1, 1), None, dt.date(999, 1, 1)]),
        pa.array([dt.time(1, 2), None, dt.time(1, 2, 3, 4)]),
        pa.array(["a", None, ""]),
        pa.array(["a", None, "b"]).dictionary_encode(),
        pa.array([Decimal("1.50"), None, Decimal(2)]),
        pa.array([dt.datetime(2020, 1, 1, tzinfo=dt.UTC)], pa.timestamp("ms", "Europe/Berlin")),
    ],
)
def test_texts_of_other_types_are_the_texts_of_each(values):
    found = format_values(values)
    assert found.type == pa.string()
    assert found.to_pylist() == [None if value is None else format_value(value) for value in values.to_pylist()]


def test_a_column_of_nothing_has_missing_texts():
    assert format_values(pa.nulls(2)).to_pylist() == [None, None]
    assert format_values(pa.chunked_array([], pa.int64())).to_pylist() == []
    assert format_values(pa.array([float("nan")])).to_pylist() == [None]


@pytest.mark.parametrize("cells", [st.sampled_from(["a", "b", ""]), st.sampled_from([0.5, 0.0, 1e300])])
@examples(20)
@given(data=st.data())
def test_columns_are_coded_and_counted_alike_however_they_are_cut(cells, data):
    chunks = data.draw(st.lists(st.lists(st.none() | cells, max_size=4), max_size=3))
    kind = pa.string() if any(isinstance(cell, str) for chunk in chunks for cell in chunk) else pa.float64()
    column = pa.chunked_array([pa.array(chunk, kind) for chunk in chunks], kind)
    known = pa.chunked_array(
        [pa.array(chunk, kind).dictionary_encode() for chunk in chunks], pa.dictionary(pa.int32(), kind)
    )
    whole = pa.array([cell for chunk in chunks for cell in chunk], kind).dictionary_encode()
    for found in (dictionary_encode(column), dictionary_encode(known)):
        assert found.dictionary.equals(whole.dictionary)
        assert found.indices.equals(whole.indices)
    assert count_distinct(column) == len({cell for chunk in chunks for cell in chunk if cell is not None})
