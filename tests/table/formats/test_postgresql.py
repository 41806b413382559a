"""PostgreSQL tables in and out."""

# ruff: noqa: DTZ001 - canonical moments have no time zone

from __future__ import annotations

import datetime as dt
import sys

import pyarrow as pa
import pytest

from sfumato.errors import ReadError, SchemaError, WriteError
from sfumato.io import _postgresql as backend
from sfumato.io._database import read_database, write_database
from sfumato.io._dataframes import to_canonical

TABLE = to_canonical(
    pa.table(
        {
            "zip": ["02139", None, 'say "hi"\n'],
            "age": [39, None, -1],
            "weight": [70.5, None, 1e-5],
            "smoker": [True, None, False],
            "born": [dt.date(1984, 2, 29), None, dt.date(1899, 1, 1)],
            "seen": [dt.datetime(2020, 1, 1, 10, 30, 0, 5), None, dt.datetime(2020, 1, 2)],
            "nothing": pa.nulls(3, pa.string()),
        }
    )
)


def test_a_table_comes_back_with_its_types(postgresql):
    write_database(TABLE, postgresql.url, table_name="Round Trip")
    assert read_database(postgresql.url, table="Round Trip").equals(TABLE)
    write_database(TABLE.slice(0, 0), postgresql.url, table_name="no rows")
    assert read_database(postgresql.url, table="no rows").num_rows == 0


def test_types_become_canonical(postgresql):
    postgresql.execute(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE TABLE kinds (price numeric(10, 2), whole numeric, odd numeric, cash money, id uuid, m mood,"
        " zone timestamptz, clock time, code char(5), address inet, j jsonb, small int2, real float4)",
        "INSERT INTO kinds VALUES (1.50, 12345678901234567, 'NaN', 1.5, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',"
        " 'ok', '2020-01-01 10:00+01', '10:30', 'ab', '1.2.3.4', '{\"a\": 1}', 7, 0.5)",
    )
    assert read_database(postgresql.url, table="kinds").to_pydict() == {
        "price": [1.5],
        "whole": [12345678901234567],
        "odd": [None],
        "cash": [1.5],
        "id": ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
        "m": ["ok"],
        "zone": [dt.datetime(2020, 1, 1, 9)],
        "clock": ["10:30:00"],
        "code": ["ab"],
        "address": ["1.2.3.4/32"],
        "j": ['{"a": 1}'],
        "small": [7],
        "real": [0.5],
    }


def test_decimals_of_too_many_digits_are_refused(postgresql):
    postgresql.execute("CREATE TABLE fine (x numeric)", "INSERT INTO fine VALUES (0.12345678901234567891), (0.5)")
    with pytest.raises(SchemaError, match="'x' holds decimals with more digits"):
        read_database(postgresql.url, table="fine")


def test_queries_views_and_schemas_work(postgresql):
    postgresql.execute(
        "CREATE SCHEMA lab",
        "CREATE TABLE lab.p (a int)",
        "INSERT INTO lab.p VALUES (1), (2)",
        "CREATE MATERIALIZED VIEW seen AS SELECT 3 AS b",
    )
    assert read_database(postgresql.url, table="lab.p").to_pydict() == {"a": [1, 2]}
    assert read_database(postgresql.url, table="seen").to_pydict() == {"b": [3]}
    query = "SELECT a * 2 AS twice FROM lab.p ORDER BY a -- ordered\n;"
    assert read_database(postgresql.url.replace("postgresql", "postgres", 1), query=query).to_pydict() == {
        "twice": [2, 4]
    }
    write_database(TABLE, postgresql.url, table_name="lab.q")
    assert read_database(postgresql.url, table="lab.q").equals(TABLE)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"table": "persns"}, ReadError, r"has no table 'persns'; did you mean '(public\.)?persons'?"),
        ({"query": "SELECT b FROM persons"}, ReadError, 'cannot be run: column "b" does not exist'),
        ({"query": "SELEC"}, ReadError, "cannot be run: syntax error"),
        ({"query": "DELETE FROM persons RETURNING zip"}, ReadError, "cannot be run: syntax error"),
        ({"query": "SELECT zip::int AS z FROM persons"}, ReadError, r"cannot be run on the data \(SQLSTATE 22P02\)"),
        ({"query": "SELECT 1 AS a, 2 AS a"}, SchemaError, "Several columns are named 'a'"),
        ({"query": "SELECT ARRAY[1] AS a"}, SchemaError, "'a' has type list"),
        ({"query": "SELECT 'x'::bytea AS a"}, SchemaError, "'a' has type binary"),
        ({"query": "SELECT '1 day'::interval AS a"}, SchemaError, "'a' has type"),
    ],
)
def test_bad_requests_are_refused_in_one_sentence(postgresql, options, error, message):
    postgresql.execute(
        "CREATE TABLE IF NOT EXISTS persons (zip text)", "DELETE FROM persons", "INSERT INTO persons VALUES ('x')"
    )
    with pytest.raises(error, match=message):
        read_database(postgresql.url, **options)


def test_reading_cannot_change_the_database(postgresql):
    postgresql.execute(
        "CREATE TABLE counted (n int)",
        "CREATE FUNCTION tick() RETURNS int LANGUAGE sql AS 'INSERT INTO counted VALUES (1) RETURNING n'",
    )
    with pytest.raises(ReadError, match="SQLSTATE 25006"):
        read_database(postgresql.url, query="SELECT tick() AS n")
    assert read_database(postgresql.url, table="counted").num_rows == 0


def test_a_table_is_replaced_only_when_asked(postgresql):
    postgresql.execute("CREATE TABLE old (a int)", "INSERT INTO old VALUES (7)")
    with pytest.raises(
        WriteError, match="already has a table 'old'; choose another name, or replace it with if_exists="
    ) as caught:
        write_database(TABLE, postgresql.url, table_name="old")
    assert postgresql.password not in str(caught.value)
    assert read_database(postgresql.url, table="old").to_pydict() == {"a": [7]}
    write_database(TABLE, postgresql.url, table_name="old", if_exists="replace")
    assert read_database(postgresql.url, table="old").equals(TABLE)


def test_a_failure_after_the_drop_brings_the_old_table_back(postgresql, monkeypatch):
    postgresql.execute("CREATE TABLE kept (a int)", "INSERT INTO kept VALUES (7)")
    monkeypatch.setattr(backend, "_check_supported", lambda *_: None)
    with pytest.raises(WriteError, match=r"refuses the table 'kept' on the data \(SQLSTATE 22021\)"):
        write_database(pa.table({"a": ["x\0y"]}), postgresql.url, table_name="kept", if_exists="replace")
    assert read_database(postgresql.url, table="kept").to_pydict() == {"a": [7]}


def test_an_interruption_after_the_drop_brings_the_old_table_back(postgresql, monkeypatch):
    postgresql.execute("CREATE TABLE held (a int)", "INSERT INTO held VALUES (7)")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    from adbc_driver_manager import dbapi

    monkeypatch.setattr(dbapi.Cursor, "adbc_ingest", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_database(TABLE, postgresql.url, table_name="held", if_exists="replace")
    assert read_database(postgresql.url, table="held").to_pydict() == {"a": [7]}


def test_a_table_that_others_need_is_kept(postgresql):
    postgresql.execute("CREATE TABLE base (a int)", "CREATE VIEW on_base AS SELECT * FROM base")
    with pytest.raises(WriteError, match=r"refuses the table 'base'.*SQLSTATE 2BP01"):
        write_database(TABLE, postgresql.url, table_name="base", if_exists="replace")


@pytest.mark.parametrize(
    ("table", "name", "message"),
    [
        (pa.table({"a": ["x\0y"]}), "zeros", "Column 'a' contains text with null characters"),
        (pa.table({"a" * 64: ["x"]}), "long", "truncates names after 63 bytes; shorten 'aaa"),
        (pa.table({"a": ["x"]}), "é" * 32, "truncates names after 63 bytes"),
    ],
)
def test_what_postgresql_cannot_hold_is_refused(postgresql, table, name, message):
    with pytest.raises(WriteError, match=message):
        write_database(table, postgresql.url, table_name=name)


def test_failed_connections_tell_why_but_never_the_password(postgresql):
    wrong = postgresql.url.replace(postgresql.password, "wr0ng-pw")
    strange = postgresql.url.replace(postgresql.password, "wr0ng/p?w@x")
    nowhere = f"postgresql://sfumato:{postgresql.password}@127.0.0.1:1/postgres"
    other = postgresql.url.removesuffix("postgres") + "nowhere"
    cases = [
        (wrong, "Cannot connect to postgresql://sfumato:.*: the user or password was refused"),
        (strange, "Cannot connect to postgresql://sfumato:.*: the server cannot be reached"),
        (nowhere, "the server cannot be reached"),
        (other, "there is no such database or user"),
        (f"{nowhere}?password=wr0ng-pw", "the server cannot be reached"),
    ]
    for url, message in cases:
        with pytest.raises(ReadError, match=message) as read:
            read_database(url, table="p")
        with pytest.raises(WriteError, match=message) as write:
            write_database(TABLE, url, table_name="p")
        for caught in (read, write):
            assert "wr0ng" not in str(caught.value)
            assert postgresql.password not in str(caught.value)


def test_without_the_driver_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql.dbapi", None)
    with pytest.raises(ReadError, match=r'pip install "sfumato\[postgresql\]"'):
        read_database("postgresql://localhost/x", table="p")
    with pytest.raises(WriteError, match=r'pip install "sfumato\[postgresql\]"'):
        write_database(TABLE, "postgresql://localhost/x", table_name="p")
