"""DuckDB files in and out."""

# ruff: noqa: DTZ001 - canonical moments have no time zone

from __future__ import annotations

import datetime as dt
import sys

import duckdb
import pyarrow as pa
import pytest

from sfumato.errors import ReadError, SchemaError, WriteError
from sfumato.io._database import read_database, write_database

TABLE = pa.table({"n": [1, 2], "name": ["a", None]})


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "x.duckdb"

    def run(*statements: str) -> str:
        with duckdb.connect(str(path)) as connection:
            for statement in statements:
                connection.execute(statement)
        return f"duckdb:///{path}"

    return run


def test_types_become_canonical(database):
    url = database(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE TABLE p (d DECIMAL(10, 2), h HUGEINT, m mood, t TIMESTAMPTZ, u UUID, c TIME, u8 UTINYINT)",
        "INSERT INTO p VALUES (1.50, 7, 'ok', '2020-01-01 10:00:00+01',"
        " 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '10:30', 255)",
    )
    assert read_database(url, table="p").to_pydict() == {
        "d": [1.5],
        "h": [7],
        "m": ["ok"],
        "t": [dt.datetime(2020, 1, 1, 9)],
        "u": ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
        "c": ["10:30:00"],
        "u8": [255],
    }


def test_queries_and_schemas_work(database):
    url = database("CREATE SCHEMA lab", "CREATE TABLE lab.p AS SELECT 1 AS a", "CREATE VIEW v AS SELECT 2 AS b")
    assert read_database(url, table="lab.p").to_pydict() == {"a": [1]}
    assert read_database(url, table="V").to_pydict() == {"b": [2]}
    assert read_database(url, query="SELECT sum(a) AS s FROM lab.p;").to_pydict() == {"s": [1]}
    write_database(TABLE, url, table_name="lab.q")
    assert read_database(url, table="lab.q").equals(TABLE)


def test_a_query_does_not_see_python_variables(database):
    path = pa.table({"leak": [1]})
    assert path.num_rows == 1
    with pytest.raises(ReadError, match="cannot be run: Catalog Error"):
        read_database(database("CREATE TABLE p (a INT)"), query="SELECT * FROM path")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"table": "persns"}, ReadError, "no table 'persns'; did you mean 'persons'?"),
        ({"query": "SELECT b FROM persons"}, ReadError, 'cannot be run: Binder Error: Referenced column "b" not found'),
        ({"query": "SELEC"}, ReadError, "cannot be run: Parser Error"),
        ({"query": "DELETE FROM persons"}, ReadError, "cannot be run|gives no table"),
        ({"query": "SELECT zip::INT AS z FROM persons"}, ReadError, "the query fails on its data"),
        ({"query": "SELECT 1 AS a, 2 AS a"}, SchemaError, "Several columns are named 'a'"),
        ({"query": "SELECT [1] AS a"}, SchemaError, "'a' has type list"),
    ],
)
def test_bad_requests_are_refused_in_one_sentence(database, options, error, message):
    url = database("CREATE TABLE persons (zip TEXT)", "INSERT INTO persons VALUES ('x')")
    with pytest.raises(error, match=message):
        read_database(url, **options)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "x.duckdb"
    path.write_bytes(b"no database at all" * 1000)
    with pytest.raises(ReadError, match="cannot be read as a DuckDB database"):
        read_database(f"duckdb:///{path}", table="p")
    with pytest.raises(WriteError, match="cannot be written by DuckDB"):
        write_database(TABLE, f"duckdb:///{path}", table_name="p")


def test_a_table_is_replaced_only_when_asked(database):
    url = database("CREATE TABLE p AS SELECT 7 AS a")
    with pytest.raises(WriteError, match="already has a table 'P'; choose another name, or replace it with if_exists="):
        write_database(TABLE, url, table_name="P")
    assert read_database(url, table="p").to_pydict() == {"a": [7]}
    write_database(TABLE, url, table_name="p", if_exists="replace")
    assert read_database(url, table="p").equals(TABLE)


def test_a_failure_leaves_the_old_state(database, tmp_path):
    url = database("CREATE VIEW v AS SELECT 7 AS a")
    with pytest.raises(WriteError, match="cannot be written by DuckDB"):
        write_database(TABLE, url, table_name="v", if_exists="replace")
    assert read_database(url, table="v").to_pydict() == {"a": [7]}
    with pytest.raises(WriteError, match="cannot be written by DuckDB"):
        write_database(TABLE, f"duckdb:///{tmp_path}/new.duckdb", table_name="no_schema.p")
    assert [path.name for path in tmp_path.iterdir()] == ["x.duckdb"]


def test_an_interruption_leaves_no_new_file_and_no_new_table(database, tmp_path, monkeypatch):
    url = database("CREATE TABLE p AS SELECT 7 AS a")

    class Interrupted:
        def __init__(self, path: str, **settings: object) -> None:
            self.connection = duckdb_connect(path, **settings)

        def __getattr__(self, name: str) -> object:
            return getattr(self.connection, name)

        def execute(self, statement: str) -> object:
            if statement == "COMMIT":
                raise KeyboardInterrupt
            return self.connection.execute(statement)

    duckdb_connect = duckdb.connect
    with monkeypatch.context() as patch:
        patch.setattr(duckdb, "connect", Interrupted)
        for target in (url, f"duckdb:///{tmp_path}/new.duckdb"):
            with pytest.raises(KeyboardInterrupt):
                write_database(TABLE, target, table_name="p", if_exists="replace")
    assert read_database(url, table="p").to_pydict() == {"a": [7]}
    assert [path.name for path in tmp_path.iterdir()] == ["x.duckdb"]


def test_without_duckdb_the_extra_is_named(database, monkeypatch):
    url = database("CREATE TABLE p (a INT)")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ReadError, match=r'pip install "sfumato\[duckdb\]"'):
        read_database(url, table="p")
    with pytest.raises(WriteError, match=r'pip install "sfumato\[duckdb\]"'):
        write_database(TABLE, url, table_name="p")


@pytest.mark.parametrize(
    "asked",
    [
        {"table": "people"},
        {"query": "SELECT * FROM people"},
        {"query": "SELECT * FROM read_text('{secret}')"},
        {"query": "SELECT * FROM '{secret}'"},
        {"query": "COPY n TO '{stolen}'"},
        {"query": "SELECT 1 AS a; COPY n TO '{stolen}'"},
        {"query": "EXPORT DATABASE '{stolen}'"},
        {"query": "ATTACH '{stolen}'"},
    ],
)
def test_a_file_cannot_reach_others(database, tmp_path, asked):
    secret, stolen = tmp_path / "secret.csv", tmp_path / "stolen"
    secret.write_text("name\nEve\n")
    hostile = f"CREATE VIEW people AS SELECT * FROM read_csv('{secret}')"  # noqa: S608 - that is what is tested
    url = database(hostile, "CREATE TABLE n AS SELECT 1 AS n")
    asked = {key: value.format(secret=secret, stolen=stolen) for key, value in asked.items()}
    with pytest.raises(ReadError, match=r"would reach other files than .*x\.duckdb, which is not allowed"):
        read_database(url, **asked)
    assert not stolen.exists()


def test_what_keeps_others_out_cannot_be_changed(database):
    url = database("CREATE TABLE n AS SELECT 1 AS n")
    for setting in ("enable_external_access = true", "lock_configuration = false"):
        with pytest.raises(ReadError, match="The query cannot be run"):
            read_database(url, query=f"SET {setting}")


def test_tables_are_listed_where_none_is_named(tmp_path):
    write_database(pa.table({"a": [1]}), f"duckdb:///{tmp_path}/x.duckdb", table_name="people")
    with pytest.raises(ReadError, match=r"has the table 'people'; pass table= or query="):
        read_database(f"duckdb:///{tmp_path}/x.duckdb")
