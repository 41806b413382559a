"""Workbooks in and out."""

# ruff: noqa: DTZ001 - canonical moments have no time zone

from __future__ import annotations

import datetime as dt
import sys

import openpyxl
import pyarrow as pa
import pytest

from sfumato.errors import ReadError, SchemaError, WriteError
from sfumato.io._dataframes import to_canonical
from sfumato.io._excel import read_excel, write_excel

TABLE = to_canonical(
    pa.table(
        {
            "zip": ["02139", None, "10115"],
            "age": [39, None, 52],
            "weight": [70.5, 80.25, None],
            "smoker": [True, False, None],
            "born": [dt.date(1984, 2, 29), None, dt.date(1900, 3, 1)],
            "seen": [dt.datetime(2020, 1, 1, 10, 30, 15), None, dt.datetime(2020, 1, 2)],
            "formula": ["=1+1", "#N/B", "@x"],
        }
    )
)


def workbook(path, *rows: tuple[object, ...], sheet: str = "Sheet"):
    book = openpyxl.Workbook()
    book.active.title = sheet
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_a_table_comes_back_with_its_types(tmp_path):
    path = tmp_path / "x.xlsx"
    write_excel(TABLE, path)
    assert read_excel(path).equals(TABLE)


def test_text_is_never_a_formula(tmp_path):
    path = tmp_path / "x.xlsx"
    write_excel(TABLE, path)
    sheet = openpyxl.load_workbook(path).active
    assert [cell.data_type for cell in sheet["G"]] == ["s", "s", "s", "s"]


def test_equal_tables_give_equal_bytes_at_any_time(tmp_path, monkeypatch):
    first, second = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    write_excel(TABLE, first)
    monkeypatch.setattr("time.time", lambda: 1e9)
    write_excel(TABLE, second)
    assert first.read_bytes() == second.read_bytes()
    assert openpyxl.load_workbook(second).properties.modified == dt.datetime(1980, 1, 1)


def test_what_a_sheet_cannot_hold_is_written_as_text(tmp_path):
    path = tmp_path / "x.xlsx"
    write_excel(pa.table({"id": [10**15, 1], "born": [dt.date(1899, 5, 1), dt.date(1950, 1, 1)]}), path)
    assert read_excel(path).to_pydict() == {
        "id": ["1000000000000000", "1"],
        "born": ["1899-05-01", "1950-01-01"],
    }


def test_sheets_are_found_by_name(tmp_path):
    path = workbook(tmp_path / "x.xlsx", ("a",), (1,), sheet="people")
    book = openpyxl.load_workbook(path)
    book.create_sheet("other").append(("b",))
    book.save(path)
    assert read_excel(path).column_names == ["a"]
    assert read_excel(path, sheet="other").column_names == ["b"]
    with pytest.raises(ReadError, match=r"has no sheet 'peple'; did you mean 'people'\?"):
        read_excel(path, sheet="peple")


def test_missing_spellings_empty_rows_and_nameless_empty_columns_are_dropped(tmp_path):
    rows = [(None, None, None), ("n", None, 2020), (1, None, "NA"), (), ("?", None, "x"), ("#N/A", None, None)]
    path = workbook(tmp_path / "x.xlsx", *rows)
    assert read_excel(path).to_pydict() == {"n": [1, None, None], "2020": [None, "x", None]}


def test_a_title_above_the_header_is_found(tmp_path):
    path = workbook(tmp_path / "x.xlsx", ("Patients of 2024",), (), ("name", "age"), ("Eve", 39))
    with pytest.raises(ReadError, match=r"Column 2 of .* has no name; .*, or pass skip_rows=1 if the first row"):
        read_excel(path)
    for rows in (1, 2):
        assert read_excel(path, skip_rows=rows).to_pydict() == {"name": ["Eve"], "age": [39]}


def test_a_header_alone_is_a_table_without_rows(tmp_path):
    assert read_excel(workbook(tmp_path / "x.xlsx", ("a", "b"))).to_pydict() == {"a": [], "b": []}


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([], ReadError, "is empty; it needs a header row"),
        ([("a", None), (1, 2)], ReadError, "Column 2 of .* has no name"),
        ([("zip",), ("02139",), (2139,)], SchemaError, "'zip' mixes text and numbers"),
        ([("a",), (dt.timedelta(hours=30),)], SchemaError, "'a' has type duration"),
    ],
)
def test_bad_sheets_are_refused_in_one_sentence(tmp_path, rows, error, message):
    with pytest.raises(error, match=message):
        read_excel(workbook(tmp_path / "x.xlsx", *rows))


def test_a_broken_workbook_is_refused(tmp_path):
    path = tmp_path / "x.xlsx"
    write_excel(TABLE, path)
    whole = path.read_bytes()
    for data in (b"no workbook", whole[: len(whole) // 2], whole[:-30]):
        path.write_bytes(data)
        with pytest.raises(ReadError, match="is not a complete Excel workbook"):
            read_excel(path)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({"a": ["x\x01y"]}), "Column 'a' contains text that Excel refuses"),
        (pa.table({"a": ["x" * 40_000]}), "Column 'a' contains text that Excel refuses"),
        (pa.table({"a\x01": ["x"]}), "A column name has text that Excel refuses"),
        (pa.table({"a": pa.nulls(2**20, pa.string())}), "1048576 rows and 1 columns do not fit an Excel sheet"),
    ],
)
def test_tables_that_do_not_fit_are_refused(tmp_path, table, message):
    with pytest.raises(WriteError, match=message):
        write_excel(table, tmp_path / "x.xlsx")


def test_without_openpyxl_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ReadError, match=r'pip install "sfumato\[excel\]"'):
        read_excel(tmp_path / "x.xlsx")
    with pytest.raises(WriteError, match=r'pip install "sfumato\[excel\]"'):
        write_excel(TABLE, tmp_path / "x.xlsx")
