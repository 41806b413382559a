"""Numbers as offices write them."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.io._conventions import THOUSANDS, detect_units, format_numbers, normalize_numbers, strip_unit


@given(
    st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1),
    st.sampled_from([".", ","]),
    st.sampled_from(THOUSANDS),
)
def test_marks_are_brought_to_a_decimal_point(numbers, decimal, thousands):
    if decimal == thousands:
        return
    marks = str.maketrans({",": thousands, ".": decimal})
    texts = [f"{number:,.2f}".translate(marks) for number in numbers]
    read = normalize_numbers(pa.array(texts), decimal, thousands)
    assert [Decimal(text) for text in read.to_pylist()] == numbers


@pytest.mark.parametrize("odd", ["1.5", "1,2,3", "12.34,5", "x", "1 000,5", ""])
def test_one_number_written_otherwise_makes_none_of_them_numbers(odd):
    read = normalize_numbers(pa.array(["1.234,5", odd]), ",", ".")
    assert read is None or read.to_pylist() == ["1234.5", odd]


def test_numbers_are_written_with_another_mark():
    assert format_numbers(pa.array(["1.5", "-7", "1e-05"]), ",").to_pylist() == ["1,5", "-7", "1e-05"]


def test_units_are_known_ones_only_and_taken_away():
    assert detect_units(pa.array(["70 kg", "71kg"])) == ["kg"]
    assert detect_units(pa.array(["70 kg", "154 lb"])) == ["kg", "lb"]
    assert detect_units(pa.array(["70 Smith", "71 Smith"])) == []
    assert strip_unit(pa.array(["70 kg", "71KG", "72"]), "kg").to_pylist() == ["70", "71", "72"]
