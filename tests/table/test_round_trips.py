"""What is written and read again is the same table."""

# ruff: noqa: DTZ001 - canonical moments have no time zone

from __future__ import annotations

import datetime as dt
import tempfile
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import WriteError
from sfumato.io._dataframes import to_arrow, to_canonical
from sfumato.io._reading import read
from sfumato.io._writing import write

ODD_TEXTS = [
    "NA",
    "?",
    "",
    " ",
    "\t",
    " NA",
    "'",
    "_x0041_",
    " a",
    "a ",
    '"',
    '""',
    "a,b",
    "l\nm",
    "\r",
    "\r\n",
    "é",
    "007",
    "=1",
    "-5",
    "#N/A",
    "true",
]
LETTERS = st.text("abcXYZ 0;,|'\"é_", min_size=1, max_size=8).map(str.strip).filter(bool)
MARKER = "neither a number nor a date"


def texts(*, zero: bool) -> st.SearchStrategy[str]:
    characters = st.characters(exclude_categories=["Cs"], exclude_characters="" if zero else "\0")
    return st.sampled_from(ODD_TEXTS) | st.text(characters, max_size=6)


def columns(*, zero: bool) -> list[st.SearchStrategy[object]]:
    floats = st.floats(-1e15, 1e15) | st.sampled_from([0.5, 1e-5, 1e300, -0.0])
    return [
        texts(zero=zero),
        st.integers(-(2**63), 2**63 - 1),
        floats,
        st.booleans(),
        st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)),
        st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)),
    ]


@st.composite
def tables(draw: st.DrawFn, *, zero: bool = True, marked: bool = False) -> pa.Table:
    """Draw a canonical table; `marked` makes sure that a text column cannot be taken for another type."""
    names = draw(st.lists(LETTERS, min_size=1, max_size=5, unique_by=str.casefold))
    rows = draw(st.integers(0, 6))
    drawn = {}
    for name in names:
        kind = draw(st.sampled_from(columns(zero=zero)))
        values = draw(st.lists(st.none() | kind, min_size=rows, max_size=rows))
        drawn[name] = [*values, MARKER] if marked and any(isinstance(v, str) for v in values) else [*values, None]
    return to_canonical(pa.table(drawn))


def round_trip(table: pa.Table, name: str, *, database: str | None = None) -> pa.Table:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        if database is None:
            write(table, path)
            return read(path)
        write(table, f"{database}:///{path}", table_name="people")
        return read(f"{database}:///{path}", table="people")


@given(tables(zero=False, marked=True))
def test_csv_gives_back_what_it_can_represent(table):
    assert round_trip(table, "x.csv").equals(table)


@given(tables(zero=False, marked=True))
@examples(20)
def test_packed_tab_separated_text_does_too(table):
    assert round_trip(table, "x.tsv.gz").equals(table)


@given(tables())
def test_parquet_gives_back_everything(table):
    assert round_trip(table, "x.parquet").equals(table)


@given(st.lists(st.none() | texts(zero=True), min_size=1, max_size=6))
@examples(100)
def test_workbooks_give_back_every_text_or_refuse_it(values):
    table = to_canonical(pa.table({"x": pa.array([*values, MARKER])}))
    try:
        found = round_trip(table, "x.xlsx")
    except WriteError as error:
        assert "'x' contains text that Excel refuses" in str(error)  # noqa: PT017 - both outcomes are fine
        assert any(character < " " or character in "\ufffe\uffff" for value in values for character in value or "")
    else:
        assert found.filter(pc.is_valid(found["x"])).equals(table.filter(pc.is_valid(table["x"])))


@given(st.lists(st.sampled_from(ODD_TEXTS), min_size=1, max_size=6))
def test_empty_text_is_missing_in_every_kind_of_table(values):
    meant = [value or None for value in values]
    frames = [
        pa.table({"x": values}),
        pa.table({"x": pa.array(values).dictionary_encode()}),
        pa.table({"x": pa.array(values, pa.large_string())}),
        pd.DataFrame({"x": values}),
        pd.DataFrame({"x": pd.Series(values, dtype=object)}),
        pd.DataFrame({"x": pd.Categorical(values)}),
        pl.DataFrame({"x": values}),
        pl.DataFrame({"x": pl.Series(values, dtype=pl.Categorical)}),
    ]
    assert [to_arrow(frame)[0]["x"].to_pylist() for frame in frames] == [meant] * len(frames)


@given(tables())
def test_sqlite_gives_back_everything(table):
    assert round_trip(table, "x.db", database="sqlite").equals(table)


@given(tables())
@examples(30)
def test_duckdb_gives_back_everything(table):
    assert round_trip(table, "x.db", database="duckdb").equals(table)


@given(tables(zero=False, marked=True))
@examples(30)
def test_all_formats_agree(table):
    found = [round_trip(table, "x.csv"), round_trip(table, "x.parquet"), round_trip(table, "x.db", database="sqlite")]
    assert all(each.equals(found[0]) for each in found)
