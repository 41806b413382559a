"""Rounding against its definition, in exact arithmetic."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from masked_persons import SECRET
from sfumato.tables.masking.round_numbers import RoundNumbers

DECIMALS = st.decimals(min_value=-10_000, max_value=10_000, places=3)


def rounded(values: list, base: float, how: str = "nearest") -> list:
    step = RoundNumbers(columns=["x"], base=base, how=how)
    return (
        sf.masking.mask(pa.table({"x": pa.array(values, pa.float64())}), [step], secret=SECRET).table["x"].to_pylist()
    )


def test_golden_halves_go_to_even_multiples():
    assert rounded([0, 2, 2.5, 3, 7, 7.5, -2.5], 5) == [0, 0, 0, 5, 5, 10, 0]


@examples(100)
@given(st.lists(DECIMALS, min_size=1, max_size=20), st.sampled_from(["5", "0.1", "0.25", "0.05", "2.5", "1000", "0.3"]))
def test_decimals_are_rounded_exactly(values, base):
    found = rounded([float(value) for value in values], float(base))
    for value, shown in zip(values, found, strict=True):
        multiple = (value / Decimal(base)).quantize(Decimal(1), ROUND_HALF_EVEN)
        assert shown == float(multiple * Decimal(base))


def test_no_digits_appear_that_the_base_does_not_have():
    assert rounded([0.29, 0.31, 0.71], 0.1) == [0.3, 0.3, 0.7]


def test_values_of_more_digits_than_decimals_have_are_rounded_too():
    assert rounded([1 / 3, 2 / 3, 100 / 7], 0.5) == [0.5, 0.5, 14.5]


@pytest.mark.parametrize(("value", "share"), [(1, 0.2), (2, 0.4), (3, 0.6), (4, 0.8), (5, 1.0), (0, 0.0)])
def test_random_rounding_goes_up_as_often_as_it_should(value, share):
    shown = np.array(rounded([value] * 20_000, 5, "random"))
    assert set(shown) <= {0, 5}
    assert (shown == 5).mean() == pytest.approx(share, abs=0.015)
    assert share not in {0, 1} or set(shown) == {5 * share}


def test_whole_numbers_stay_whole_where_the_base_is():
    table = pa.table({"x": [12, 13, None]})
    assert sf.masking.mask(table, [RoundNumbers(columns=["x"], base=5)]).table["x"].type == pa.int64()
    assert sf.masking.mask(table, [RoundNumbers(columns=["x"], base=2.5)]).table["x"].to_pylist() == [12.5, 12.5, None]


def test_the_largest_change_is_measured_in_bases():
    table = pa.table({"x": [0, 2, 4, 10]})
    record = sf.masking.mask(table, [RoundNumbers(columns=["x"], base=5)]).records[0]
    assert record.metrics["largest-change"] == pytest.approx(0.4)
    assert record.metrics["changed-cells"] == 0.5


@pytest.mark.parametrize(("base", "how"), [(0, "nearest"), (-5, "nearest"), (float("nan"), "nearest"), (5, "up")])
def test_bad_parameters_are_refused(base, how):
    with pytest.raises(sf.errors.InvalidParameterError):
        RoundNumbers(columns=["x"], base=base, how=how)


def test_numbers_too_large_for_the_base_stay_as_they_are():
    assert rounded([1e30, 0.1234567890123456], 1e-15) == [1e30, 0.123456789012346]


@pytest.mark.parametrize("base", [1e-300, 1e300, 0, -5])
def test_a_base_that_cannot_be_exact_is_refused(base):
    with pytest.raises(sf.errors.InvalidParameterError, match="base must be above 0, of at most 15 digits"):
        RoundNumbers(columns=["x"], base=base)
