"""Regression coefficients of a release next to those of the original."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import linregress

import sfumato as sf
from sfumato.tables.metrics.utility import TWO_SIDED, Coefficient, compare_regressions

RNG = np.random.default_rng(1)
AGE, WEIGHT = RNG.integers(18, 90, 400), RNG.normal(70, 12, 400)
TABLE = pd.DataFrame({"age": AGE, "weight": WEIGHT, "cost": 3 * AGE - 2 * WEIGHT + RNG.normal(0, 40, 400)})


def oracle(table: pd.DataFrame, columns: list[str], target: str) -> tuple[np.ndarray, np.ndarray]:
    """Solve least squares with an intercept on standardized columns, by the textbook."""
    scaled = (table - TABLE.mean()) / TABLE.std(ddof=0)
    design = np.column_stack([np.ones(len(table)), scaled[columns]])
    slopes, *_ = np.linalg.lstsq(design, scaled[target].to_numpy(), rcond=None)
    rest = scaled[target].to_numpy() - design @ slopes
    variance = rest @ rest / (len(table) - design.shape[1])
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    return slopes[1:], errors[1:]


def test_coefficients_and_intervals_are_those_of_least_squares():
    noisy = TABLE.assign(cost=TABLE["cost"] + RNG.normal(0, 50, 400))
    found = compare_regressions(TABLE, noisy, target="cost")
    for table, side in ((TABLE, "original"), (noisy, "published")):
        slopes, errors = oracle(table, ["age", "weight"], "cost")
        for each, slope, error in zip(found.coefficients, slopes, errors, strict=True):
            assert getattr(each, side) == pytest.approx(slope)
            ends = (slope - TWO_SIDED * error, slope + TWO_SIDED * error)
            assert getattr(each, f"{side}_interval") == pytest.approx(ends)


def test_one_column_agrees_with_scipy():
    found = compare_regressions(TABLE, TABLE, target="cost", columns=["age"]).coefficients[0]
    line = linregress(TABLE["age"], TABLE["cost"])
    unit = TABLE["cost"].std(ddof=0) / TABLE["age"].std(ddof=0)
    assert found.original * unit == pytest.approx(line.slope)
    assert (found.original_interval[1] - found.original) * unit == pytest.approx(TWO_SIDED * line.stderr)


def test_the_same_table_overlaps_fully_and_another_one_less():
    assert compare_regressions(TABLE, TABLE, target="cost").overlap == pytest.approx(1)
    turned = TABLE.assign(cost=-TABLE["cost"])
    assert compare_regressions(TABLE, turned, target="cost").overlap == 0
    coarse = TABLE.assign(age=[f"[{10 * (age // 10)}, {10 * (age // 10) + 10})" for age in AGE])
    assert 0.5 < compare_regressions(TABLE, coarse, target="cost").overlap < 1


def test_a_column_that_no_longer_varies_is_not_determined():
    found = compare_regressions(TABLE, TABLE.assign(age=50), target="cost")
    age, weight = found.coefficients
    assert (age.published, age.published_interval, age.overlap) == (None, None, 0.0)
    assert weight.published is not None
    assert "not determined in the release" in " ".join(repr(found).split())


def test_a_column_said_twice_determines_nothing():
    with pytest.raises(sf.errors.SchemaError, match="does not determine"):
        compare_regressions(TABLE.assign(again=AGE), TABLE.assign(again=AGE), target="cost", columns=["age", "again"])


ENDS = st.tuples(st.integers(-9, 9), st.integers(1, 9)).map(lambda pair: (pair[0] / 2, (pair[0] + pair[1]) / 2))


@given(ENDS, ENDS)
def test_the_overlap_is_the_common_share_of_both_intervals(one, other):
    found = Coefficient(column="a", original=0, original_interval=one, published=0, published_interval=other).overlap
    grid = np.arange(-20, 20, 0.125) + 0.0625
    inside = [(grid > low) & (grid < high) for low, high in (one, other)]
    common = (inside[0] & inside[1]).sum()
    assert found == pytest.approx((common / inside[0].sum() + common / inside[1].sum()) / 2)


def test_bad_requests_are_refused():
    for columns in ([], ["cost"]):
        with pytest.raises(sf.errors.SchemaError, match="at least one column"):
            compare_regressions(TABLE, TABLE, target="cost", columns=columns)
    assert compare_regressions(TABLE, TABLE, target="cost").to_dict()["overlap"] == pytest.approx(1)
