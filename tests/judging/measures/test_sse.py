"""SSE/SST by hand, and on what microaggregation publishes."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import SchemaError
from sfumato.tables.algorithms.microaggregation.mdav import MDAV
from sfumato.tables.metrics.sse import sum_of_squares_ratio

AGES = pa.table({"age": [20, 30, 50, 60], "same": [1, 1, 1, 1]})


def test_the_original_loses_nothing_and_the_mean_everything():
    everybody = np.arange(4)
    assert sum_of_squares_ratio(AGES, AGES, everybody, ["age"]) == 0.0
    means = pa.table({"age": [40.0] * 4})
    assert sum_of_squares_ratio(AGES, means, everybody, ["age"]) == 1.0
    assert sum_of_squares_ratio(AGES, means.slice(0, 0), everybody[:0], ["age"]) == 1.0


def test_every_column_counts_the_same_and_a_constant_one_nothing():
    table = AGES.append_column("pay", pa.array([1000.0, 3000.0, 1000.0, 3000.0]))
    shown = pa.table({"age": [25.0, 25.0, 55.0, 55.0], "pay": [2000.0] * 4, "same": [1, 1, 1, 1]})
    everybody = np.arange(4)
    assert sum_of_squares_ratio(table, shown, everybody, ["age", "pay"]) == pytest.approx((0.1 + 1.0) / 2)
    assert sum_of_squares_ratio(table, shown, everybody, ["age", "same"]) == pytest.approx(0.1)
    assert sum_of_squares_ratio(table, shown, everybody, ["same"]) == 0.0


def test_rows_are_compared_with_their_originals_in_whatever_order():
    shown = pa.table({"age": [55.0, 25.0, 55.0, 25.0]})
    assert sum_of_squares_ratio(AGES, shown, np.array([3, 0, 2, 1]), ["age"]) == pytest.approx(0.1)


def test_dates_are_numbers_of_days():
    days = pa.table({"born": [date(1990, 1, 1), date(1990, 1, 3), date(1990, 1, 9), date(1990, 1, 11)]})
    shown = pa.table({"born": [date(1990, 1, 2)] * 2 + [date(1990, 1, 10)] * 2})
    assert sum_of_squares_ratio(days, shown, np.arange(4), ["born"]) == pytest.approx(4 / 68)


def test_it_is_the_variance_inside_the_groups_of_a_release():
    rng = np.random.default_rng(3)
    table = pa.table({"x": rng.normal(size=200), "y": rng.integers(0, 50, 200)})
    release = sf.anonymize(table, sf.Schema(quasi_identifiers=["x", "y"]), [sf.models.KAnonymity(k=5)], MDAV(), seed=1)
    found = sum_of_squares_ratio(release.original, release.published, release.correspondence, ["x", "y"])
    rows = list(zip(release.published["x"].to_pylist(), release.published["y"].to_pylist(), strict=True))
    expected = 0.0
    for name in ("x", "y"):
        values = np.array(table[name].to_pylist(), dtype=float)
        own = values[release.correspondence]
        members = [[i for i, row in enumerate(rows) if row == each] for each in set(rows)]
        inside = sum(len(some) * own[some].var() for some in members)
        expected += inside / (200 * values.var()) / 2
    assert found == pytest.approx(expected)
    assert 0 < found < 0.2


@pytest.mark.parametrize(
    ("published", "sentence"),
    [
        ({"age": ["[20, 30]"] * 4}, "does not contain numbers or dates"),
        ({"age": [1.0, None, 2.0, 3.0]}, "has 1 missing cells"),
        ({"other": [1, 2, 3, 4]}, "is not in both tables"),
    ],
)
def test_columns_that_cannot_be_compared_are_refused(published, sentence):
    with pytest.raises(SchemaError, match=sentence):
        sum_of_squares_ratio(AGES, pa.table(published), np.arange(4), ["age"])
