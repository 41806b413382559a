"""A recognizable cell value goes through every failure of this package and must be in no message."""

from __future__ import annotations

import datetime as dt
import gzip
import sqlite3
import traceback
from contextlib import closing, nullcontext
from pathlib import Path

import duckdb
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.core import _atomic_writes
from sfumato.errors import SfumatoError
from sfumato.io import _postgresql as backend
from sfumato.io._dataframes import to_arrow, to_canonical
from sfumato.io._reading import read
from sfumato.io._writing import write

CANARY = "kanarien" + "vogel"  # in two halves, so that no line of source holds it
NUMBER = int("7391" * 2)
INVALID_TEXT = f"INSERT INTO p VALUES (CAST(x'ff{CANARY.encode().hex()}' AS TEXT))"  # noqa: S608 - ours


def text_file(folder: Path, content: str | bytes, name: str = "x.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def sqlite_file(folder: Path, *statements: str) -> str:
    with closing(sqlite3.connect(folder / "x.db")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return f"sqlite:///{folder}/x.db"


def duckdb_file(folder: Path) -> str:
    with duckdb.connect(str(folder / "x.duckdb")) as connection:
        connection.execute(f"CREATE TABLE p AS SELECT '{CANARY}' AS a")
    return f"duckdb:///{folder}/x.duckdb"


def workbook(folder: Path, *rows: tuple[object, ...]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(folder / "x.xlsx")
    return folder / "x.xlsx"


def cut(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:-20])
    return path


def parquet_file(folder: Path, table: pa.Table) -> Path:
    pq.write_table(table, folder / "x.parquet")
    return folder / "x.parquet"


FRAMES = {
    "mixed objects": lambda: pd.DataFrame({"a": [CANARY, NUMBER]}),
    "mixed categories": lambda: pd.DataFrame({"a": pd.Categorical([CANARY, NUMBER])}),
    "huge numbers": lambda: pd.DataFrame({"a": [int(f"{NUMBER}" * 4)]}),
    "lists": lambda: pd.DataFrame({"a": [[CANARY]]}),
    "sets": lambda: pd.DataFrame({"a": [{CANARY}]}),
    "bytes": lambda: pd.DataFrame({"a": [CANARY.encode()]}),
    "surrogates": lambda: pd.DataFrame({"a": pd.Series([CANARY + "\ud800"], dtype=object)}),
    "mixed categories of sets": lambda: pd.DataFrame({"a": pd.Categorical([CANARY, frozenset([CANARY])])}),
    "text, numbers and dates": lambda: pd.DataFrame({"a": [CANARY, 1.5, dt.date(2020, 1, 1)]}),
    "lazy": lambda: pl.LazyFrame({"a": [CANARY]}).cast(pl.Int64),
    "objects": lambda: pl.DataFrame({"a": pl.Series([CANARY, 1], dtype=pl.Object)}),
    "a list": lambda: [CANARY],
    "a dictionary": lambda: {"a": [CANARY]},
    "a series": lambda: pd.Series([CANARY]),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_that_are_refused_do_not_sing(name):
    expect_silence(lambda: to_arrow(FRAMES[name]()))


TABLES = {
    "structs": pa.table({"a": [{"b": CANARY}]}),
    "binary": pa.table({"a": [CANARY.encode()]}),
    "infinite": pa.table({"a": [float(NUMBER), float("inf")]}),
    "unsigned": pa.table({"a": pa.array([2**64 - 1 - NUMBER], pa.uint64())}),
    "binary dictionary": pa.table({"a": pa.array([CANARY.encode()]).dictionary_encode()}),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_that_are_refused_do_not_sing(name):
    expect_silence(lambda: to_canonical(TABLES[name]))


FILES = {
    "uneven": lambda folder: read(text_file(folder, f"a,b\n1,{CANARY}\n{CANARY}\n")),
    "too long": lambda folder: read(text_file(folder, f"a,b\n1,2\n{CANARY},{CANARY},{NUMBER}\n")),
    "open quote": lambda folder: read(text_file(folder, f'a,b\n1,"{CANARY}\n2,3\n')),
    "stray quote": lambda folder: read(text_file(folder, f'a,b\n1,"{CANARY}"{CANARY}\n')),
    "nameless": lambda folder: read(text_file(folder, f",b\n{CANARY},2\n")),
    "infinite": lambda folder: read(text_file(folder, f"a\n{NUMBER}\ninf\n")),
    "wrong separator": lambda folder: read(text_file(folder, f"a;b\n{CANARY};2\n"), separator=","),
    "wrong encoding": lambda folder: read(text_file(folder, f"a\n{CANARY}é\n".encode("cp1252")), encoding="utf-8"),
    "no encoding": lambda folder: read(text_file(folder, f"a\n{CANARY}".encode() + b"\x81 \x98 \xff\n")),
    "packed": lambda folder: read(cut(text_file(folder, gzip.compress(f"a\n{CANARY}\n".encode()), "x.csv.gz"))),
    "cut Parquet": lambda folder: read(cut(parquet_file(folder, pa.table({"a": [CANARY]})))),
    "binary Parquet": lambda folder: read(parquet_file(folder, pa.table({"a": [CANARY.encode()]}))),
    "no UTF-8 in Parquet": lambda folder: read(
        parquet_file(
            folder,
            pa.table({"a": pa.array([CANARY.encode() + b"\xff"]).cast(pa.string(), safe=False)}),
        )
    ),
    "mixed sheet": lambda folder: read(workbook(folder, ("a",), (CANARY,), (NUMBER,))),
    "nameless sheet": lambda folder: read(workbook(folder, ("a", None), (1, CANARY))),
    "cut sheet": lambda folder: read(cut(workbook(folder, ("a",), (CANARY,)))),
    "control characters": lambda folder: write(pa.table({"a": [CANARY + "\x01"]}), folder / "x.xlsx"),
    "long text": lambda folder: write(pa.table({"a": [CANARY * 9999]}), folder / "x.xlsx"),
    "mixed SQLite": lambda folder: read(
        sqlite_file(folder, "CREATE TABLE p (a)", f"INSERT INTO p VALUES ('{CANARY}'), ({NUMBER})"),  # noqa: S608 - ours
        table="p",
    ),
    "no UTF-8 in SQLite": lambda folder: read(
        sqlite_file(folder, "CREATE TABLE p (a)", INVALID_TEXT),
        table="p",
    ),
    "SQLite view": lambda folder: write(
        pa.table({"a": [CANARY]}),
        sqlite_file(folder, "CREATE VIEW v AS SELECT 1"),
        table_name="v",
        if_exists="replace",
    ),
    "DuckDB cast": lambda folder: read(duckdb_file(folder), query="SELECT a::INT FROM p"),
    "DuckDB folded cast": lambda folder: read(duckdb_file(folder), query="SELECT max(a)::DATE FROM p"),
    "DuckDB list": lambda folder: read(duckdb_file(folder), query="SELECT [a] AS a FROM p"),
    "DuckDB schema": lambda folder: write(pa.table({"a": [CANARY]}), duckdb_file(folder), table_name="no.p"),
}


@pytest.mark.parametrize("name", FILES)
def test_files_and_databases_that_are_refused_do_not_sing(tmp_path, name):
    expect_silence(lambda: FILES[name](tmp_path))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.xlsx"])
def test_a_full_disk_does_not_sing(tmp_path, monkeypatch, name):
    place = tmp_path / "place"
    place.mkdir()
    (place / f"new{Path(name).suffix}").symlink_to("/dev/full")
    monkeypatch.setattr(_atomic_writes, "open_workspace", lambda _: nullcontext(place))
    expect_silence(lambda: write(pa.table({"a": [CANARY]}), tmp_path / name))


def test_postgresql_does_not_sing(postgresql, monkeypatch):
    postgresql.execute("CREATE TABLE cage (a text)", f"INSERT INTO cage VALUES ('{CANARY}')")  # noqa: S608 - ours
    for query in ("SELECT a::int FROM cage", "SELECT a::bytea AS a FROM cage", "SELECT ARRAY[a] AS a FROM cage"):
        expect_silence(lambda query=query: read(postgresql.url, query=query), postgresql.password)
    bad = pa.table({"a": [CANARY + "\0"]})
    expect_silence(lambda: write(bad, postgresql.url, table_name="new"), postgresql.password)
    monkeypatch.setattr(backend, "_check_supported", lambda *_: None)
    expect_silence(lambda: write(bad, postgresql.url, table_name="new"), postgresql.password)


def expect_silence(action, *secrets: str) -> None:
    with pytest.raises(SfumatoError) as caught:
        action()
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert not [secret for secret in (CANARY, str(NUMBER), *secrets) if secret in told]
    assert str(caught.value).endswith((".", "?"))
    assert "\n" not in str(caught.value)
