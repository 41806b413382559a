"""Comparing masked with original numbers: golden figures and brute force."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from masked_persons import NUMBERS, persons
from sfumato.tables.masking.comparison import compare_masked, distance_linkage_rate

X = pa.table({"a": [10, 20, 30, 40, 50], "b": [1, 3, 2, 5, 4], "t": list("uvwxy")})
Y = pa.table({"a": [12, 19, 30, 44, 47], "b": [1, 2, 3, 5, 5], "t": list("uvwxy")})


def test_golden_figures_of_sdcmicro():
    found = compare_masked(X, Y)
    assert found.columns == ("a", "b")
    assert found.relative_change == pytest.approx(149.3333, abs=5e-5)
    assert found.scaled_change == pytest.approx(1.788854382)
    assert found.per_cell == pytest.approx(1.788854382 / 10)
    assert found.eigen_change == pytest.approx(1.087753803)
    assert found.interval_risk == {0.05: 0, 0.1: 0, 0.2: pytest.approx(0.2)}
    assert set(found.to_dict()) >= {"link-rate", "interval-risk-0.05", "eigen-change"}


def test_golden_figures_of_two_thousand_persons():
    before, rng = persons().select(NUMBERS), np.random.default_rng(7)
    columns = {name: np.asarray(before[name], dtype=float) for name in NUMBERS}
    noisy = pa.table({name: x + rng.normal(0, 0.1 * x.std(ddof=1), len(x)) for name, x in columns.items()})
    found = compare_masked(before, noisy)
    assert found.scaled_change == pytest.approx(446.0909829)
    assert found.eigen_change == pytest.approx(0.02307465854)
    assert found.relative_change == pytest.approx(27777.84)
    assert found.interval_risk == pytest.approx({0.05: 0.0175, 0.1: 0.2305, 0.2: 0.841})
    assert found.link_rate == pytest.approx(0.8135)


@examples(50)
@given(st.lists(st.tuples(*[st.integers(0, 4)] * 4), min_size=2, max_size=15))
def test_link_rate_is_that_of_the_definition(rows):
    both = np.array(rows, dtype=float)
    x, y = both[:, :2], both[:, 2:]
    sds = np.where(x.std(axis=0, ddof=1) > 0, x.std(axis=0, ddof=1), 1)
    total = 0.0
    for row in range(len(x)):
        gaps = np.linalg.norm((x[row] - y) / sds, axis=1)
        nearest = gaps <= gaps.min() + 1e-9
        total += nearest[row] / nearest.sum()
    assert distance_linkage_rate(x, y) == pytest.approx(total / len(x))


def test_a_correspondence_says_which_rows_belong_together():
    order = [3, 1, 0, 4, 2]
    assert compare_masked(X, Y.take(order), order).to_dict() == pytest.approx(compare_masked(X, Y).to_dict())


def test_zeros_are_left_out_of_relative_changes_and_counted():
    found = compare_masked(pa.table({"a": [0, 1, 2]}), pa.table({"a": [1, 1, 3]}))
    assert found.zeros == 1
    assert found.relative_change == pytest.approx(50)


@pytest.mark.parametrize(
    ("masked", "columns", "sentence"),
    [
        (Y.slice(1), (), "give the correspondence"),
        (Y.select(["t"]), (), "No column holds numbers"),
        (Y, ("c",), "not in both"),
        (Y, ("t",), "holds none"),
        (pa.table({"a": [None, 19, 30, 44, 47]}), (), "1 rows miss one"),
    ],
)
def test_what_cannot_be_compared_is_refused(masked, columns, sentence):
    with pytest.raises(sf.errors.SchemaError, match=sentence):
        compare_masked(X, masked, columns=columns)
