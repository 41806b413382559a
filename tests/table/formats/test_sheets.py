"""Sheets as people keep them: titles, covers, merged cells, numbers entered as text, totals."""

from __future__ import annotations

import datetime as dt

import openpyxl
import pytest

import sfumato as sf
from sfumato.errors import ReadError, ReadWarning, SchemaError
from sfumato.io._excel import count_title_rows, fill_merged_cells, usual_width
from sfumato.io._reading import read_detecting_layout, read_with_findings

BODY = [["name", "age", "city"], ["Eve", 39, "Ulm"], ["Bob", 40, "Bonn"], ["Ann", 41, "Ulm"]]


@pytest.fixture
def book(tmp_path):
    def save(*sheets, merged=()):
        made = openpyxl.Workbook()
        made.remove(made.active)
        for title, rows in sheets:
            sheet = made.create_sheet(title)
            for row in rows:
                sheet.append(row)
        for each in merged:
            made.worksheets[-1].merge_cells(each)
        made.save(tmp_path / "x.xlsx")
        return tmp_path / "x.xlsx"

    return save


def test_a_cover_is_refused_with_the_names_of_the_tables_and_found_when_asked(book):
    path = book(("Cover", [["Report 2024"], [], ["by us"]]), ("Data", BODY), ("More", BODY))
    with pytest.raises(ReadError, match=r"'Cover', holds no table; name one by sheet=: 'Data' and 'More'"):
        read_with_findings(path, {})
    found = read_detecting_layout(path)
    assert found.reading == {"sheet": "Data"}
    assert "the sheet 'Data' is read" in found.remarks[0]
    assert found.table.num_rows == 3


def test_several_sheets_are_told(book):
    path = book(("Data", BODY), ("More", BODY))
    assert read_with_findings(path, {}).remarks == (
        f"{path} has the sheets 'Data' and 'More', of which the first is read; pass sheet= for another.",
    )
    assert read_with_findings(path, {"sheet": "More"}).remarks == ()
    with pytest.raises(ReadError, match="has no sheet 'Nothing'; it has 'Data' and 'More'"):
        read_with_findings(path, {"sheet": "Nothing"})


def test_a_header_in_the_third_row_is_found(book):
    path = book(("Data", [["Patients of 2024"], [], *BODY]))
    with pytest.raises(ReadError, match=r"pass skip_rows=1 if the first row is a title"):
        read_with_findings(path, {})  # empty rows do not count
    found = read_detecting_layout(path)
    assert found.reading == {"skip_rows": 2}
    assert found.table.column_names == ["name", "age", "city"]


def test_merged_cells_are_told_and_filled_where_that_is_asked(book):
    rows = [["city", "name"], ["Ulm", "Eve"], [None, "Bob"], ["Bonn", "Ann"]]
    path = book(("Data", rows), merged=["A2:A3"])
    told = read_with_findings(path, {})
    assert told.table["city"].to_pylist() == ["Ulm", None, "Bonn"]
    assert "merged cells in 1 place, and" in told.remarks[0]
    assert "fill_merged=True" in told.remarks[0]
    mended = read_with_findings(path, {"fill_merged": True})
    assert mended.table["city"].to_pylist() == ["Ulm", "Ulm", "Bonn"]
    assert mended.remarks == ()


def test_merged_titles_above_the_header_are_nobodys_business(book):
    path = book(("Data", [["Patients", None, None], *BODY]), merged=["A1:C1"])
    assert read_with_findings(path, {"skip_rows": 1}).remarks == ()


def test_merged_ranges_are_filled_wherever_they_end():
    assert fill_merged_cells([("a", None), (None,), ("b", "c")], [(1, 1, 2, 3)], 0) == [
        ("a", "a", "a"),
        ("a", "a", "a"),
        ("b", "c"),
    ]
    assert fill_merged_cells([("a",)], [(1, 5, 6, 1), (4, 1, 1, 5)], 0) == [("a",)]


def test_numbers_stored_as_text_are_told_and_read_where_that_is_asked(book):
    path = book(("Data", [["age", "zip"], ["39", "10115"], ["7", "20095"]]))
    told = read_with_findings(path, {})
    assert len(told.remarks) == 1
    assert told.remarks[0].startswith("Column 'age' holds numbers stored as text; ")
    assert told.remarks[0].endswith("column_types={'age': 'number'}.")
    assert read_with_findings(path, {"column_types": {"age": "number"}}).table["age"].to_pylist() == [39, 7]


def test_a_column_of_text_and_numbers_is_refused_with_the_option_that_mends_it(book):
    path = book(("Data", [["age", "x"], [39, 1], ["40", 2], ["41 ", 3]]))
    with pytest.raises(SchemaError, match=r"'age' mixes text and numbers; .*column_types=\{'age': 'number'\}"):
        read_with_findings(path, {})
    assert read_with_findings(path, {"column_types": {"age": "text"}}).table["age"].to_pylist() == ["39", "40", "41 "]
    with pytest.raises(ReadError, match="'age' has text cells that are no numbers"):
        read_with_findings(path, {"column_types": {"age": "number"}})


def test_texts_in_a_sheet_are_read_by_conventions_that_are_told(book):
    path = book(("Data", [["born", "height"], ["31.12.1990", "1,70"], ["01.02.1985", "1,8"]]))
    found = read_with_findings(path, {})
    assert found.table.to_pydict() == {"born": [dt.date(1990, 12, 31), dt.date(1985, 2, 1)], "height": [1.7, 1.8]}
    assert found.reading == {"decimal": ",", "date_format": "dd.mm.yyyy"}
    assert len(found.remarks) == 2
    with pytest.warns(ReadWarning, match="decimal commas"):
        sf.read(path, date_format="dd.mm.yyyy")
    kept = read_with_findings(path, {"column_types": {"born": "text", "height": "text"}})
    assert kept.table["born"].to_pylist() == ["31.12.1990", "01.02.1985"]


def test_days_entered_as_text_join_those_entered_as_days(book):
    path = book(("Data", [["born", "x"], [dt.datetime(1990, 12, 31), 1], ["01.02.1985", 2]]))  # noqa: DTZ001 - a day
    read = read_with_findings(path, {"column_types": {"born": "date:dd.mm.yyyy"}}).table
    assert read["born"].to_pylist() == [dt.date(1990, 12, 31), dt.date(1985, 2, 1)]


def test_totals_in_the_last_row_are_told_and_left_out_where_that_is_asked(book):
    path = book(("Data", [*BODY, ["Summe", 120, None]]))
    assert "leave it out with skip_last=1" in read_with_findings(path, {}).remarks[0]
    assert read_with_findings(path, {"skip_last": 1}).table.num_rows == 3
    assert read_with_findings(path, {"skip_last": 1}).remarks == ()


def test_an_empty_sheet_has_neither_width_nor_titles():
    assert (usual_width([]), count_title_rows([(None,)])) == (0, 0)


def test_the_largest_table_is_proposed_and_a_cover_of_two_columns_is_not(book):
    path = book(("Cover", [["by", "us"], ["of", "2024"]]), ("Data", BODY))
    assert read_detecting_layout(path).reading["sheet"] == "Data"
    assert read_detecting_layout(path, {"sheet": "Cover"}).table.column_names == ["by", "us"]


def test_titles_are_found_in_a_sheet_that_is_given(book):
    path = book(("Other", BODY), ("Data", [["Patients"], *BODY]))
    assert read_detecting_layout(path, {"sheet": "Data"}).reading == {"sheet": "Data", "skip_rows": 1}


@pytest.mark.parametrize(
    "rows",
    [
        [["name", "age"], ["Eve", 39, 1], ["Bob", 40, 2], ["Ann", 41, 3]],
        [["name"], ["Eve", 39], ["Bob", 40], ["Ann", 41]],
    ],
    ids=["a header that is too short", "a header of one name"],
)
def test_a_record_is_never_taken_for_the_header(book, rows):
    assert count_title_rows([tuple(row) for row in rows]) == 0
    with pytest.raises(ReadError, match="has no name"):
        read_detecting_layout(book(("Data", rows)))
