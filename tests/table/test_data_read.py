"""The suffix or scheme decides how a table is read."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pyarrow as pa
import pytest

from sfumato.errors import InvalidParameterError, ReadError
from sfumato.io._reading import read
from sfumato.io._writing import write

TABLE = pa.table({"zip": ["02139", None], "age": [39, 52]})


@pytest.mark.parametrize(
    "name", ["x.csv", "x.CSV", "x.tsv", "x.txt", "x.csv.gz", "x.tsv.gz", "x.parquet", "x.pq", "x.xlsx"]
)
def test_the_suffix_tells_the_format(tmp_path, name):
    for target in (tmp_path / name, str(tmp_path / name)):
        write(TABLE, target)
        assert read(target).equals(TABLE)


def test_a_url_tells_the_database(tmp_path):
    url = f"sqlite:///{tmp_path}/x.db"
    write(TABLE, url, table_name="p")
    assert read(url, table="p").equals(TABLE)
    assert read(url, query="SELECT age FROM p WHERE zip IS NULL").to_pydict() == {"age": [52]}


def test_options_reach_their_format(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("stadt:n\nKöln:-\n".encode("cp1252"))
    found = read(path, separator=":", encoding="cp1252", missing=("-",))
    assert found.to_pydict() == {"stadt": ["Köln"], "n": [None]}
    write(TABLE, tmp_path / "x.xlsx")
    assert read(tmp_path / "x.xlsx", sheet="data", missing=("02139",))["zip"].to_pylist() == [None, None]


def test_tabs_are_expected_in_tsv_files(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a\tb,c\n1\t2\n")
    assert read(path).column_names == ["a", "b,c"]
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ReadError, match="seems to be separated by ','"):
        read(path)


@pytest.mark.parametrize(
    ("source", "options", "parameter"),
    [
        ("x.csv", {"table": "p"}, "table"),
        ("x.csv", {"query": "SELECT 1"}, "query"),
        ("x.csv", {"sheet": "data"}, "sheet"),
        ("x.parquet", {"separator": ","}, "separator"),
        ("x.parquet", {"sheet": "data"}, "sheet"),
        ("x.xlsx", {"encoding": "utf-8"}, "encoding"),
        ("x.parquet", {"missing": ("-",)}, "missing"),
        ("sqlite:///x.db", {"table": "p", "separator": ","}, "separator"),
    ],
)
def test_options_of_another_format_are_refused(tmp_path, monkeypatch, source, options, parameter):
    monkeypatch.chdir(tmp_path)
    for name in ("x.csv", "x.parquet", "x.xlsx"):
        write(TABLE, name)
    with pytest.raises(InvalidParameterError, match=rf"read\.{parameter} must be left out unless the source is"):
        read(source, **options)


def test_what_is_no_readable_file_is_refused(tmp_path):
    (tmp_path / "patients.csv").write_text("a\n1\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "notes.doc").write_text("x")
    os.mkfifo(tmp_path / "pipe.csv")
    cases = {
        "patiens.csv": r"There is no file .*patiens\.csv; did you mean 'patients\.csv'?",
        "none/x.csv": r"There is no file .*x\.csv\.",
        "": "is a folder; choose a file in it",
        "empty.csv": r"empty\.csv is empty",
        "pipe.csv": r"pipe\.csv is not a regular file",
        "notes.doc": r"has no known suffix; known are \.csv, \.tsv, .*, \.parquet, \.pq, \.xlsx, \.dta, .*\.",
    }
    for name, message in cases.items():
        with pytest.raises(ReadError, match=message):
            read(tmp_path / name)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresq://ann:pw@host/db", "'postgresq' is not a known kind of database; did you mean 'postgresql'?"),
        ("oracle://ann:pw@host/db", "is not a known kind of database; known are sqlite, duckdb, postgresql"),
    ],
)
def test_an_unknown_kind_of_database_is_refused_without_the_password(url, message):
    with pytest.raises(ReadError, match=message) as caught:
        read(url, table="p")
    assert "pw" not in str(caught.value)


def test_a_forbidden_file_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")

    def refuse(*_: object) -> None:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ReadError, match=r"x\.csv cannot be read: Permission denied\."):
        read(path)


@pytest.mark.parametrize("rows", [-1, 1.5, "1", True])
def test_skipped_rows_are_a_whole_number(tmp_path, rows):
    (tmp_path / "x.csv").write_text("a\n1\n")
    with pytest.raises(InvalidParameterError, match="skip_rows"):
        read(tmp_path / "x.csv", skip_rows=rows)


def test_rows_are_skipped_in_text_files_and_workbooks_only(tmp_path):
    write(pa.table({"a": [1]}), tmp_path / "x.parquet")
    for source in (tmp_path / "x.parquet", "sqlite:///x.db"):
        with pytest.raises(
            InvalidParameterError, match=r"skip_rows.*left out unless the source is a text file or a work"
        ):
            read(source, skip_rows=1)
