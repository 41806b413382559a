"""What is found out about how numbers and days are written, and what is only told."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InvalidParameterError
from sfumato.io._convention_detection import detect_conventions
from sfumato.io._conventions import Conventions

FOUND = [
    ({"height": ["1,70", "1,8"]}, {"decimal": ","}, "has decimal commas and is read as numbers; .*decimal=','"),
    ({"cost": ["1.234,50", "7"]}, {"decimal": ",", "thousands": "."}, r"points between thousands; .*thousands='\.'"),
    ({"a": ["1,5"], "b": ["1.234", "2"]}, {"decimal": ",", "thousands": "."}, "'b' has points between thousands"),
    ({"a": ["1,5"], "b": ["1,234"]}, {"decimal": ","}, "Columns 'a' and 'b' have decimal commas"),
    ({"n": ["1,234", "1,234,567"]}, {"decimal": ".", "thousands": ","}, "commas between thousands"),
    ({"n": ["1 234,5", "2 345,6"]}, {"decimal": ",", "thousands": " "}, "spaces between thousands"),
    ({"n": ["1'234.5", "2"]}, {"decimal": ".", "thousands": "'"}, "apostrophes between thousands"),
    ({"born": ["31.12.1990", "01.02.1985"]}, {"date_format": "dd.mm.yyyy"}, "dates written dd.mm.yyyy"),
    ({"born": ["1990年2月1日", "1985年12月31日"]}, {"date_format": "yyyy年m月d日"}, "dates written yyyy年m月d日"),
    ({"a": ["31/12/1990"], "b": ["01/02/1990"]}, {"date_format": "dd/mm/yyyy"}, "Columns 'a' and 'b' have dates"),
]
TOLD = [
    ({"n": ["1,234", "2,345"]}, "may be decimal marks or stand between thousands"),
    ({"a": ["1,5"], "b": ["1.5"]}, "other columns have decimal points"),
    (
        {"a": ["1,5", "1.5"]},
        r"has decimal commas and decimal points, and is read as text; .*column_types=\{'a': 'text'\}",
    ),
    ({"a": ["31.12.1990", "1990-12-31"]}, r"2 formats, .*column_types=\{'a': 'date:yyyy-mm-dd\|dd.mm.yyyy'\}"),
    (
        {"a": ["01/02/1990", "03/04/1990"]},
        "day and month cannot be told apart.*date_format='dd/mm/yyyy' or date_format='mm/dd/yyyy'",
    ),
    ({"a": ["31.02.1990", "01.02.1990"]}, "days written dd.mm.yyyy that no calendar has"),
    ({"a": ["70 kg", "71 kg"]}, r"numbers with a unit.*column_types=\{'a': 'number:kg'\}"),
    ({"a": ["70 kg", "71 lb"]}, "2 units.*bring them to one"),
]
SILENT = [
    {"a": ["x", "1,5"]},
    {"a": ["007", "12"]},
    {"a": ["1.5"]},
    {"a": ["2024-01-31"]},
    {"a": ["2195-05-17 7:39", "2195-05-17 17:39"]},
    {"a": []},
]


def found_in(cells, **given):
    return detect_conventions(
        {name: pa.array(values, pa.string()) for name, values in cells.items()}, Conventions(**given)
    )


@pytest.mark.parametrize(("cells", "expected", "sentence"), FOUND)
def test_what_is_sure_is_adopted_and_told(cells, expected, sentence):
    found = found_in(cells)
    assert found.conventions == Conventions(**expected)
    assert any(re.search(sentence, remark) for remark in found.remarks)


@pytest.mark.parametrize(("cells", "sentence"), TOLD)
def test_what_is_doubtful_is_told_and_stays_text(cells, sentence):
    found = found_in(cells)
    assert found.conventions == Conventions()
    assert len(found.remarks) == 1
    assert re.search(sentence, found.remarks[0])


@pytest.mark.parametrize("cells", SILENT)
def test_what_is_ordinary_is_not_told(cells):
    assert found_in(cells)[:2] == (Conventions(), ())


def test_what_is_given_is_not_found_out_and_not_told():
    cells = {"height": ["1,70", "1,8"], "born": ["31.12.1990"]}
    given = {"decimal": ",", "thousands": "", "date_format": "dd.mm.yyyy"}
    assert found_in(cells, **given)[:2] == (Conventions(**given), ())
    assert found_in(cells, column_types={"height": "text", "born": "text"}).remarks == ()


@given(st.lists(st.from_regex(r"[0-9]{2,4}[.,][0-9]{1,3}|[0-9]{2}\.[0-9]{2}\.[0-9]{4}|[0-9]{3} kg", fullmatch=True)))
def test_no_remark_shows_a_cell(cells):
    for remark in found_in({"column": sorted(set(cells))}).remarks:
        assert not any(cell in remark for cell in cells)


def test_columns_with_other_formats_of_days_than_the_file_are_given_a_type():
    found = found_in({"a": ["31.12.1990"], "b": ["30.11.1990"], "c": ["1990/12/31"]})
    assert found.conventions == Conventions(date_format="dd.mm.yyyy", column_types={"c": "date:yyyy/mm/dd"})
    assert found.remarks[1].endswith("confirm it with column_types={'c': 'date:yyyy/mm/dd'}.")


def test_points_between_thousands_need_a_decimal_comma():
    assert Conventions(thousands=".").decimal == ","
    with pytest.raises(InvalidParameterError, match="thousands must be one of"):
        Conventions(thousands=",", decimal=",")


def test_columns_without_a_given_type_are_parsed_once_as_everybody_writes_them():
    found = found_in({"a": ["1.5", "2"], "b": ["1,5"], "c": ["1"], "d": []}, column_types={"c": "text"})
    assert {name: None if values is None else values.to_pylist() for name, values in found.parsed.items()} == {
        "a": [1.5, 2.0],
        "b": None,
    }
