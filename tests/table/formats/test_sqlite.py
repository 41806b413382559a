"""SQLite files in and out."""

# ruff: noqa: DTZ001 - canonical moments have no time zone

from __future__ import annotations

import datetime as dt
import resource
import sqlite3
from contextlib import closing

import pyarrow as pa
import pytest

from sfumato.errors import InvalidParameterError, ReadError, SchemaError, WriteError
from sfumato.io import _sqlite
from sfumato.io._database import read_database, write_database

TABLE = pa.table({"n": [1, 2], "name": ["a", None]})


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "x.db"

    def run(*statements: str) -> str:
        with closing(sqlite3.connect(path)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()
        return f"sqlite:///{path}"

    return run


def test_declared_types_are_respected(database):
    url = database(
        "CREATE TABLE p (born DATE, seen DATETIME, ok BOOLEAN, word BOOL, bad DATE, n NUMERIC, x REAL, empty)",
        "INSERT INTO p VALUES"
        " ('1984-02-29', '2020-01-01 10:30:00', 1, 'TRUE', 'unknown', 2, 2.5, NULL),"
        " (NULL, '2020-01-02T00:00', 0, 'false', '2020-01-01', 3, 3.0, NULL)",
    )
    table = read_database(url, table="p")
    assert [str(kind) for kind in table.schema.types] == [
        *("date32[day]", "timestamp[us]", "bool", "bool", "string", "int64", "double", "string")
    ]
    assert table["seen"].to_pylist() == [dt.datetime(2020, 1, 1, 10, 30), dt.datetime(2020, 1, 2)]
    assert table["word"].to_pylist() == [True, False]


def test_queries_keep_declared_types_of_plain_columns(database):
    url = database("CREATE TABLE p (born DATE, n INTEGER)", "INSERT INTO p VALUES ('1984-02-29', 1)")
    table = read_database(url, query="SELECT born AS day, n + 1 AS m FROM p WHERE n = 1; ")
    assert table.to_pydict() == {"day": [dt.date(1984, 2, 29)], "m": [2]}
    assert read_database(url, query="SELECT * FROM p WHERE n = 9").num_rows == 0


def test_whole_and_real_numbers_meet_across_batches(database, monkeypatch):
    monkeypatch.setattr(_sqlite, "ROWS_AT_ONCE", 2)
    url = database("CREATE TABLE p (x)", "INSERT INTO p VALUES (NULL), (NULL), (1), (2), (2.5)")
    assert read_database(url, table="p")["x"].to_pylist() == [None, None, 1.0, 2.0, 2.5]


@pytest.mark.parametrize(
    ("statements", "options", "error", "message"),
    [
        (["CREATE TABLE persons (a)"], {"table": "persns"}, ReadError, "no table 'persns'; did you mean 'persons'?"),
        (["CREATE TABLE p (a)"], {"query": "SELECT b FROM p"}, ReadError, "cannot be run: no such column: b"),
        (["CREATE TABLE p (a)"], {"query": "SELEC"}, ReadError, "cannot be run: near"),
        (["CREATE TABLE p (a)"], {"query": "DELETE FROM p"}, ReadError, "cannot be run"),
        (["CREATE TABLE p (a)"], {"query": "SELECT 1; SELECT 2"}, ReadError, "cannot be run"),
        (["CREATE TABLE p (a)"], {"query": "SELECT 1 AS a, 2 AS a"}, SchemaError, "Several columns are named 'a'"),
        (
            ["CREATE TABLE p (zip)", "INSERT INTO p VALUES ('02139'), (2139)"],
            {"table": "p"},
            SchemaError,
            "'zip' mixes text and numbers",
        ),
        (["CREATE TABLE p (a)", "INSERT INTO p VALUES (x'ff')"], {"table": "p"}, SchemaError, "type binary"),
        (
            ["CREATE TABLE p (a)"],
            {},
            ReadError,
            "has the table 'p'; pass table",
        ),
        (["CREATE TABLE p (a)"], {"table": "p", "query": "SELECT 1"}, InvalidParameterError, "read.table must be"),
    ],
)
def test_bad_requests_are_refused_in_one_sentence(database, statements, options, error, message):
    with pytest.raises(error, match=message):
        read_database(database(*statements), **options)


def test_reading_changes_nothing(database, tmp_path):
    url = database("CREATE TABLE p (a)", "INSERT INTO p VALUES (1)")
    before = (tmp_path / "x.db").read_bytes()
    read_database(url, table="p")
    assert (tmp_path / "x.db").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["x.db"]


def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "x.db"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(ReadError, match="cannot be read as an SQLite database"):
        read_database(f"sqlite:///{path}", table="p")
    with pytest.raises(WriteError, match="it is not an SQLite database"):
        write_database(TABLE, f"sqlite:///{path}", table_name="p")


def test_a_new_table_leaves_others_alone(database):
    url = database("CREATE TABLE old (a)", "INSERT INTO old VALUES (7)")
    write_database(TABLE, url, table_name='my "new" table')
    assert read_database(url, table='my "new" table').equals(TABLE)
    assert read_database(url, table="old")["a"].to_pylist() == [7]


def test_a_table_is_replaced_only_when_asked(database):
    url = database("CREATE TABLE People (a)", "INSERT INTO People VALUES (7)")
    with pytest.raises(
        WriteError, match="already has a table 'people'; choose another name, or replace it with if_exists="
    ):
        write_database(TABLE, url, table_name="people")
    assert read_database(url, table="people")["a"].to_pylist() == [7]
    write_database(TABLE, url, table_name="people", if_exists="replace")
    assert read_database(url, table="people").equals(TABLE)
    with pytest.raises(InvalidParameterError, match=r"write.if_exists must be 'fail' or 'replace'"):
        write_database(TABLE, url, table_name="people", if_exists="append")


def interrupted(_):
    yield (1, "a")
    raise KeyboardInterrupt


def test_an_interruption_leaves_the_old_table(database, monkeypatch):
    url = database("CREATE TABLE p (a)", "INSERT INTO p VALUES (7)")
    monkeypatch.setattr(_sqlite, "_iter_rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_database(TABLE, url, table_name="p", if_exists="replace")
    assert read_database(url, table="p")["a"].to_pylist() == [7]


def test_an_interruption_leaves_no_new_file(tmp_path, monkeypatch):
    monkeypatch.setattr(_sqlite, "_iter_rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_database(TABLE, f"sqlite:///{tmp_path}/new.db", table_name="p")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_old_table(database, tmp_path):
    url = database("CREATE TABLE p (a)", "INSERT INTO p VALUES (7)")
    big = pa.table({"a": ["x" * 1000] * 5000})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(WriteError, match=r"x\.db cannot be written: no space is left"):
            write_database(big, url, table_name="p", if_exists="replace")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert read_database(url, table="p")["a"].to_pylist() == [7]
    assert [path.name for path in tmp_path.iterdir()] == ["x.db"]


def test_a_view_is_not_replaced_by_a_table(database):
    url = database("CREATE VIEW v AS SELECT 1 AS a")
    with pytest.raises(WriteError, match="SQLite refused the table"):
        write_database(TABLE, url, table_name="v", if_exists="replace")
    assert read_database(url, table="v").to_pydict() == {"a": [1]}


def test_a_database_without_tables_says_so(tmp_path):
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute("PRAGMA user_version = 1")
    with pytest.raises(ReadError, match="has no tables; check that it is the right database"):
        read_database(f"sqlite:///{tmp_path}/x.db")
