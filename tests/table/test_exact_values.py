"""Different values stay different: what a 64-bit number cannot hold is kept as text or refused, never rounded."""

from __future__ import annotations

import datetime as dt
import sqlite3
from contextlib import closing
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import SchemaError
from sfumato.io._dataframes import to_arrow, to_canonical
from sfumato.io._values import decimals_to_exact_floats, format_value

FINE = Decimal("0.12345678901234567890")
NEARLY = Decimal("0.12345678901234567891")
MOMENT = np.datetime64("2020-01-01T00:00:00.000000001")


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=12, min_value=-1e9, max_value=1e9)))
def test_decimals_become_numbers_that_are_written_the_same_or_are_refused(values):
    try:
        found = to_canonical(pa.table({"x": pa.array(values, pa.decimal128(30, 12))}))["x"].to_pylist()
    except SchemaError:
        assert any(Decimal(repr(float(value))) != value for value in values)
    else:
        assert [Decimal(repr(value)) for value in found] == values


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False), min_size=1))
def test_decimals_are_exact_when_all_of_them_are(values):
    exact = all(Decimal(repr(float(value))) == value for value in values)
    assert (decimals_to_exact_floats(pa.array([str(value) for value in values])) is not None) == exact


@pytest.mark.parametrize(
    "frame",
    [
        pa.table({"x": [FINE, NEARLY]}),
        pd.DataFrame({"x": [FINE, NEARLY]}),
        pl.DataFrame({"x": pl.Series([FINE, NEARLY], dtype=pl.Decimal(38, 20))}),
    ],
)
def test_decimals_of_too_many_digits_are_refused_with_what_to_do(frame):
    with pytest.raises(SchemaError, match=r"'x' holds decimals with more digits than .*; round it .*, or convert it"):
        to_arrow(frame)


@pytest.mark.parametrize(
    "frame",
    [
        pa.table({"x": pa.array([1, 2], pa.timestamp("ns"))}),
        pa.table({"x": pa.array([1, 2], pa.time64("ns"))}),
        pd.DataFrame({"x": np.array([MOMENT, MOMENT])}),
        pd.DataFrame({"x": pd.Series([pd.Timestamp(MOMENT), None], dtype=object)}),
        pd.DataFrame({"x": pd.Series([pd.Timestamp(MOMENT), dt.date(2020, 1, 1)], dtype=object)}),
        pl.DataFrame({"x": pl.Series([1, 2], dtype=pl.Datetime("ns"))}),
    ],
)
def test_nanoseconds_that_are_no_microseconds_are_refused(frame):
    with pytest.raises(SchemaError, match="'x' holds times finer than microseconds; round it to microseconds"):
        to_arrow(frame)


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([2**62], pa.timestamp("s")),
        pa.array([253_402_300_800], pa.timestamp("s", "UTC")),
        pa.array([-62_135_596_801], pa.timestamp("s")),
        pa.array([None, 2_932_897], pa.date32()),
        pa.array([-719_163, 0], pa.date32()),
    ],
)
def test_days_and_moments_beyond_all_calendars_are_refused(cells):
    with pytest.raises(SchemaError, match="'x' holds days or moments beyond the years 1 to 9999"):
        to_canonical(pa.table({"x": cells}))


def test_the_first_and_the_last_day_are_published():
    bounds = pa.table({"x": pa.array([-719_162, 2_932_896], pa.date32())})
    assert to_canonical(bounds).equals(bounds)


def test_the_text_of_a_single_value_keeps_what_a_number_would_lose():
    assert format_value(FINE) == str(FINE)[:-1]
    assert format_value(NEARLY) == str(NEARLY)
    assert format_value(Decimal("1.50")) == "1.5"
    assert format_value(MOMENT) != format_value(MOMENT.astype("datetime64[us]"))


@pytest.mark.parametrize("scale", [4, 20])
def test_decimals_come_back_as_they_were(scale):
    values = [Decimal("0.29"), Decimal("123456789.1234"), None]
    for frame in (
        pa.table({"x": pa.array(values, pa.decimal128(38, scale))}),
        pl.DataFrame({"x": pl.Series(values, dtype=pl.Decimal(38, scale))}),
    ):
        table, kind = to_arrow(frame)
        restored = kind.restore(table)
        assert restored.equals(frame)


@given(st.lists(st.integers(1, 10**6), min_size=2, unique=True))
def test_long_decimals_in_csv_files_stay_apart(tmp_path_factory, endings):
    written = [f"0.1234567890123456{ending:07}" for ending in endings]
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    path.write_text("\n".join(["x", *written]))
    assert len(sf.read(path)["x"].unique()) == len(written)


def test_spellings_of_one_number_in_csv_files_are_one(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("x\n1.0\n1.00\n1\n0.5\n52.520006599999998\n")
    assert sf.read(path)["x"].to_pylist() == [1.0, 1.0, 1.0, 0.5, 52.520006599999998]


def test_fractions_beside_long_whole_numbers_in_sqlite_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.io._sqlite.ROWS_AT_ONCE", 1)
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.executemany("INSERT INTO t VALUES (?)", [(2**53 + 1,), (0.5,)])
        connection.commit()
    with pytest.raises(SchemaError, match="'x' contains values that do not fit one type"):
        sf.read(f"sqlite:///{path}", table="t")
