"""Top and bottom coding against their definitions."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato._randomness import KeyedRandom
from sfumato.tables.masking.top_bottom_coding import BottomCode, TopCode

VALUES = pa.table({"x": [1, 5, 9, 10, 11, 99]})


def coded(step, table: pa.Table = VALUES) -> list:
    return sf.masking.mask(table, [step]).table["x"].to_pylist()


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (TopCode(column="x", at=10), [1, 5, 9, 10, 10, 10]),
        (BottomCode(column="x", at=5, value=3), [3, 5, 9, 10, 11, 99]),
        (TopCode(column="x", at=10, publish="interval"), ["1", "5", "9", "10", ">10", ">10"]),
        (TopCode(column="x", at=10, publish="interval", limit=120), ["1", "5", "9", "10", "(10, 120]", "(10, 120]"]),
        (BottomCode(column="x", at=5, publish="interval"), ["<5", "5", "9", "10", "11", "99"]),
        (BottomCode(column="x", at=9, publish="interval", limit=0), ["[0, 9)", "[0, 9)", "9", "10", "11", "99"]),
        (TopCode(column="x", at=8.5, publish="mean"), [1, 5, 32, 32, 32, 32]),
        (TopCode(column="x", at=10.5), [1, 5, 9, 10, 10.5, 10.5]),
        (TopCode(column="x", quantile=0.5), [1, 5, 9, 9, 9, 9]),
        (BottomCode(column="x", quantile=0.5), [9, 9, 9, 10, 11, 99]),
    ],
)
def test_values_beyond_the_bound_are_coded(step, expected):
    assert coded(step) == expected


def test_missing_cells_stay_missing():
    table = pa.table({"x": [None, 3, 12]})
    assert coded(TopCode(column="x", at=10), table) == [None, 3, 10]
    assert coded(TopCode(column="x", at=10, publish="interval"), table) == [None, "3", ">10"]


@pytest.mark.parametrize("bound", [9, 10])
def test_means_that_show_a_persons_value_are_refused(bound):
    with pytest.raises(sf.errors.InfeasibleError, match="single person"):
        coded(TopCode(column="x", at=bound, publish="mean"))


def test_a_quantile_of_nothing_codes_nothing():
    table = pa.table({"x": pa.nulls(5, pa.float64())})
    assert TopCode(column="x", quantile=0.5).apply(table, KeyedRandom()).equals(table)


def test_few_coded_cells_and_none_are_told():
    few, none, many = (sf.masking.mask(VALUES, [TopCode(column="x", at=at)]).records[0] for at in (10, 100, 4))
    assert "Only 2 cells" in few.warnings[0]
    assert "changed no cell" in none.warnings[0]
    assert not many.warnings
    assert many.metrics["coded-cells"] == 5


def test_a_limit_that_is_none_is_refused():
    with pytest.raises(sf.errors.SchemaError, match="1 cells of 'x' lie beyond it"):
        coded(TopCode(column="x", at=10, publish="interval", limit=50))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({}, "either at or quantile"),
        ({"at": 3, "quantile": 0.5}, "either at or quantile"),
        ({"at": float("nan")}, "a number"),
        ({"quantile": 1}, r"\(0, 1\)"),
        ({"at": 3, "publish": "middle"}, "bound, interval or mean"),
        ({"at": 3, "publish": "mean", "value": 4}, "leave publish out"),
        ({"at": 3, "limit": 4}, "publish='interval'"),
        ({"at": 3, "publish": "interval", "limit": 2}, "beyond the bound"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(sf.errors.InvalidParameterError, match=sentence):
        TopCode(column="x", **parameters)
