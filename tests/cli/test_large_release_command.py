"""Releases beyond memory on the command line: what is written, told and refused."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.tables.engines._duckdb_source import DuckDBSource

ROLES = ("--quasi", "age,zip,sex", "--sensitive", "disease", "--insensitive", "job", "--k", "5")
LARGE = ("--engine", "duckdb", "--memory", "100MB", "--out", "release")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "patients").mkdir()
    for at in range(2):
        pq.write_table(sf.datasets.generate_hospital(300, seed=at), tmp_path / "patients" / f"{at}.parquet")
    return tmp_path


def test_a_folder_is_released_and_told_as_json(run, folder):
    result = run("anonymize", "patients", *ROLES, *LARGE, "--json")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert told["audit"]["holds"]
    assert told["engine"]["way"] == "counted"
    quiet = run("anonymize", "patients/*.parquet", *ROLES, *LARGE, "--replace", "--quiet", "--no-report")
    assert (quiet.exit_code, quiet.stdout, quiet.stderr) == (0, "", "")
    assert not (folder / "release" / "internal" / "report.html").exists()


@pytest.mark.parametrize(
    ("more", "sentence"),
    {
        "workbook": (("--format", "xlsx"), "written as Parquet parts; leave out"),
        "escaped cells": (("--excel-safe",), "written as Parquet parts; leave out"),
        "database": (("--to", "sqlite:///x.db", "--to-table", "x"), "--to needs a table that fits into memory"),
        "nowhere": (("--out", "no/release"), "The folder no does not exist"),
        "taken": (("--out", "patients"), "patients already contains files"),
        "temporary": (("--temporary", "no"), "The folder no does not exist"),
        "spark": (("--engine", "spark"), "needs a Spark DataFrame"),
    }.values(),
)
def test_what_is_not_served_is_refused_before_any_row_is_read(run, folder, monkeypatch, more, sentence):
    monkeypatch.setattr(DuckDBSource, "profile", lambda *_: pytest.fail("rows were read"))
    result = run("anonymize", "patients", *ROLES, *LARGE, *more)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert not (folder / "release").exists()


@pytest.mark.parametrize(
    ("file", "sentence"),
    {
        "nothing": ("nothing", "There is no file nothing"),
        "no pattern": ("no/*.parquet", "There is no Parquet file in no/*.parquet"),
        "empty folder": ("empty", "empty is a folder; choose a file in it"),
    }.values(),
)
def test_tables_that_are_not_there_are_told(run, folder, file, sentence):
    (folder / "empty").mkdir()
    result = run("anonymize", file, *ROLES, *LARGE)
    assert result.exit_code == 2
    assert sentence in result.stderr


def test_an_interruption_does_not_say_that_nothing_is_left_to_resume(run, folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(DuckDBSource, "profile", interrupted)
    result = run("anonymize", "patients", *ROLES, *LARGE, "--resume")
    assert result.exit_code == 130
    assert "no partial files were left behind, except what --resume keeps" in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["patients"]
