"""Database URLs, without their passwords."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.errors import ReadError, WriteError
from sfumato.io._database import mask_url, read_database, write_database
from sfumato.io._sql import strip_semicolon
from sfumato.io.formats import is_url

TABLE = pa.table({"n": [1]})


def test_urls_are_told_from_files():
    assert is_url("sqlite:///x.db")
    assert not is_url("x.csv")
    assert not is_url("C:/x.csv")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ann:pw@host:5432/db", "postgresql://ann:***@host:5432/db"),
        ("postgresql://ann:p/w@host/db", "postgresql://ann:***@host/db"),
        ("postgresql://ann:p@w@host/db", "postgresql://ann:***@host/db"),
        ("postgresql://ann:p#?w@host/db", "postgresql://ann:***@host/db"),
        ("postgresql://ann:p\nw@host/db", "postgresql://ann:***@host/db"),
        ("postgresql://:pw@host/db", "postgresql://:***@host/db"),
        ("postgresql://ann@host/db?password=pw", "postgresql://ann@host/db"),
        ("postgresql://host/db", "postgresql://host/db"),
        ("sqlite:///x.db", "sqlite:///x.db"),
    ],
)
def test_passwords_are_masked(url, shown):
    assert mask_url(url) == shown


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("sqlite://x.db", "names no file; write sqlite:///name.db"),
        ("sqlite:///", "names no file"),
        ("duckdb://", "names no file"),
    ],
)
def test_bad_urls_are_refused(url, message):
    with pytest.raises(ReadError, match=message):
        read_database(url, table="p")
    with pytest.raises(WriteError, match=message):
        write_database(TABLE, url, table_name="p")


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_files_are_relative_or_absolute(tmp_path, monkeypatch, scheme):
    monkeypatch.chdir(tmp_path)
    write_database(TABLE, f"{scheme}:///new.db", table_name="p")
    assert [path.name for path in tmp_path.iterdir()] == ["new.db"]
    assert read_database(f"{scheme.upper()}:///{tmp_path}/new.db", table="p").equals(TABLE)


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_missing_file_is_named_with_a_neighbor(tmp_path, scheme):
    (tmp_path / "census.db").write_bytes(b"")
    with pytest.raises(ReadError, match=r"There is no database file .*censs\.db; did you mean 'census\.db'?"):
        read_database(f"{scheme}:///{tmp_path}/censs.db", table="p")
    with pytest.raises(ReadError, match="There is no database file"):
        read_database(f"{scheme}:///{tmp_path}/none/x.db", table="p")
    with pytest.raises(WriteError, match=r"The folder .* does not exist; create it first"):
        write_database(TABLE, f"{scheme}:///{tmp_path}/none/x.db", table_name="p")


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_names_that_differ_in_case_only_are_refused(tmp_path, scheme):
    with pytest.raises(WriteError, match="does not distinguish the columns 'Zip' and 'zip'; rename one of them"):
        write_database(pa.table({"Zip": [1], "zip": [2]}), f"{scheme}:///{tmp_path}/x.db", table_name="p")
    assert list(tmp_path.iterdir()) == []


def test_a_semicolon_after_a_query_is_dropped():
    assert strip_semicolon(" SELECT 1 ;\n ") == "SELECT 1"
