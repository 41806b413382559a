"""Types that the owner of a table gives to columns."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InvalidParameterError, ReadError, SchemaError
from sfumato.io._reading import read_with_findings

CELLS = "zip;weight;born;mixed;ok\n10115;70 kg;31.12.1990;1.5;true\n20095;71kg;1990-12-30;1,5;false\nNA;;;;\n"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "x.csv").write_text(CELLS, "utf-8")
    return tmp_path / "x.csv"


def read(path, name, kind):
    return read_with_findings(path, {"column_types": {name: kind}}).table[name].to_pylist()


def test_a_column_is_read_as_it_is_said_to_be(path):
    assert read(path, "zip", "text") == ["10115", "20095", None]
    assert read(path, "weight", "number:kg") == [70, 71, None]
    assert read(path, "born", "date:dd.mm.yyyy|yyyy-mm-dd") == [dt.date(1990, 12, 31), dt.date(1990, 12, 30), None]
    assert read(path, "ok", "boolean") == [True, False, None]


def test_what_is_said_is_not_told(path):
    types = {"weight": "number:kg", "born": "text", "mixed": "text"}
    assert read_with_findings(path, {"column_types": types}).remarks == ()
    assert len(read_with_findings(path, {}).remarks) == 3


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("mixed", "number", r"'mixed' has 1 cell that is no number, .*with column_types=\{'mixed': 'text'\}"),
        ("weight", "number", "'weight' has 2 cells that are no numbers"),
        ("born", "date:mm/dd/yyyy", "'born' has 1 cell that is no date"),
        ("zip", "boolean", "2 cells that are no booleans"),
    ],
)
def test_cells_of_another_type_are_counted_and_not_shown(path, name, kind, message):
    with pytest.raises(ReadError, match=message) as refusal:
        read(path, name, kind)
    assert not any(cell in str(refusal.value) for line in CELLS.splitlines()[1:] for cell in line.split(";") if cell)


@pytest.mark.parametrize("kind", ["integer", "text:x", "number:", "date:dd.mm", "", 7])
def test_other_types_are_refused(path, kind):
    with pytest.raises(InvalidParameterError, match="must be"):
        read(path, "zip", kind)


def test_a_type_of_no_column_is_refused(path):
    with pytest.raises(SchemaError, match="column_types names 'zipp', which is not in the table; did you mean 'zip'"):
        read(path, "zipp", "text")


def test_a_decimal_comma_leaves_points_as_texts(tmp_path):
    (tmp_path / "y.csv").write_text("a;b\n1,5;1.5\n2;2.5\n")
    read = read_with_findings(tmp_path / "y.csv", {"decimal": ",", "thousands": ""}).table
    assert read.to_pydict() == {"a": [1.5, 2.0], "b": ["1.5", "2.5"]}


def test_columns_of_texts_in_any_format_are_read_as_they_are_said_to_be(tmp_path):
    table = pa.table({"weight": ["70 kg", None], "born": [dt.date(1990, 1, 1), None], "ok": [True, False]})
    sf.write(table, tmp_path / "x.parquet")
    types = {"weight": "number:kg", "born": "date", "ok": "boolean"}
    read = read_with_findings(tmp_path / "x.parquet", {"column_types": types}).table
    assert read["weight"].to_pylist() == [70, None]
    assert read.drop_columns("weight").equals(table.drop_columns("weight"))
    with pytest.raises(ReadError, match="'ok' cannot be read as 'number', because it holds booleans"):
        read_with_findings(tmp_path / "x.parquet", {"column_types": {"ok": "number"}})


def test_long_numbers_that_a_float_would_merge_are_not_numbers(tmp_path):
    (tmp_path / "y.csv").write_text("a\n0.12345678901234567891\n0.12345678901234567892\n")
    with pytest.raises(ReadError, match="'a' cannot be read as numbers; read it as text"):
        read_with_findings(tmp_path / "y.csv", {"column_types": {"a": "number"}})
