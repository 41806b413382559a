"""Days and moments that dataframes and databases hold as text."""

from __future__ import annotations

import sqlite3
import warnings

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli._application import app
from sfumato.io._dataframes import to_arrow
from sfumato.io._text_dates import format_text_dates, parse_text_dates

ROWS = 60
DAYS = [f"20{10 + i // 12}-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(ROWS)]
CELLS = {"admitted": DAYS, "age": list(range(20, 20 + ROWS)), "disease": ["flu", "cold", "ulcer"] * (ROWS // 3)}
SCHEMA = sf.Schema(quasi_identifiers=["admitted", "age"], sensitive=["disease"])
NOTATIONS = [
    ["2195-05-17 7:39:05", "2195-05-17 17:39:00"],
    DAYS,
    [f"{day}T{i % 24:02d}:30" for i, day in enumerate(DAYS)],
    [f"{day} {i % 24:02d}:30:01" for i, day in enumerate(DAYS)],
    [f"{day} {i % 24:02d}:30:01.25{i % 10}" for i, day in enumerate(DAYS)],
    [f"{day} {i % 24:02d}:30:01.25{i % 10}007" for i, day in enumerate(DAYS)],
    [f"{day}T{i % 24:02d}:30:01Z" for i, day in enumerate(DAYS)],
    [f"{day} {i % 24}:39" for i, day in enumerate(DAYS)],
    [f"{day} 00:00:00" for day in DAYS],
]
TEXTS = [
    ["2024-01-31", "unknown"],
    ["2024-01-31", "2024-02-31"],
    ["0000-01-31", "0000-02-01"],
    ["2024-01-31 07:39", "2024-01-31 7:40"],
    ["2024-01-31T07:39:00+01:00", "2024-01-31T07:40:00+02:00"],
    ["2024-01-31 07:39:00", "2024-01-31"],
    ["02139", "02140"],
    [None, None],
]
FRAMES = [pd.DataFrame, pl.DataFrame, lambda cells: pd.DataFrame(cells).astype({"admitted": "string"})]


def test_a_dataframe_with_iso_days_as_text_is_released_like_its_file(tmp_path):
    path = tmp_path / "patients.csv"
    pd.DataFrame(CELLS).to_csv(path, index=False)
    read = sf.anonymize(sf.read(path), SCHEMA, [sf.models.KAnonymity(k=3)], seed=1, secret="0" * 64)
    for frame in FRAMES:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            release = sf.anonymize(frame(CELLS), SCHEMA, [sf.models.KAnonymity(k=3)], seed=1, secret="0" * 64)
            assert sf.inspect(frame(CELLS)).remarks == ()
        assert release.published.equals(read.published)
        assert sf.audit(release.frame, SCHEMA, [sf.models.KAnonymity(k=3)], original=frame(CELLS)).holds


@pytest.mark.parametrize("texts", NOTATIONS)
@pytest.mark.parametrize("frame", FRAMES)
def test_days_that_came_as_text_come_back_as_the_same_text(frame, texts):
    original = frame({"admitted": [*texts, None]})
    table, kind = to_arrow(original)
    assert pa.types.is_temporal(table["admitted"].type)
    restored = kind.restore(table)["admitted"]
    assert restored.dtype == original["admitted"].dtype
    assert list(restored)[:-1] == texts


@pytest.mark.parametrize("texts", TEXTS)
def test_text_with_any_other_cell_or_notation_stays_text(texts):
    assert parse_text_dates("at", pa.chunked_array([pa.array(texts, pa.string())])) is None


def test_categories_and_arrow_texts_are_what_they_say():
    frame = pd.DataFrame(CELLS).astype({"admitted": "category"})
    assert to_arrow(frame)[0]["admitted"].type == pa.string()
    assert to_arrow(pa.table(CELLS))[0]["admitted"].type == pa.string()


def test_databases_and_parquet_files_with_iso_days_as_text_are_read_as_days(tmp_path):
    pq.write_table(pa.table(CELLS), tmp_path / "patients.parquet")
    with sqlite3.connect(tmp_path / "patients.db") as connection:
        pd.DataFrame(CELLS).to_sql("patients", connection, index=False)
    database = f"sqlite:///{tmp_path / 'patients.db'}"
    for source, named in ((tmp_path / "patients.parquet", {}), (database, {"table": "patients"})):
        assert sf.read(source, **named)["admitted"].type == pa.date32()
        assert sf.read(source, **named, column_types={"admitted": "text"})["admitted"].to_pylist() == DAYS
        assert sf.read(source, **named, as_text=True)["admitted"].to_pylist() == DAYS
        argv = [
            "anonymize",
            str(source),
            "--quasi",
            "admitted,age",
            "--sensitive",
            "disease",
            "--k",
            "3",
            "--no-report",
        ]
        argv += [word for name, value in named.items() for word in (f"--{name}", value)]
        found = CliRunner().invoke(app, [*argv, "--out", str(tmp_path / "release"), "--replace"])
        assert found.exit_code == 0, found.stderr


def test_a_table_of_days_without_a_time_is_written_in_any_notation():
    column, written = parse_text_dates("at", pa.chunked_array([["2024-01-31 00:00:00", "2024-02-01 00:00:00"]]))
    assert column.type == pa.date32()
    assert format_text_dates(column, written).to_pylist() == ["2024-01-31 00:00:00", "2024-02-01 00:00:00"]
