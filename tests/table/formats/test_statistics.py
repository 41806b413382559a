"""Files of Stata, SPSS and SAS, with the labels of their values."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pyreadstat
import pytest

from sfumato.errors import ReadError
from sfumato.io._reading import read_with_findings

TABLE = pd.DataFrame(
    {
        "sex": [1.0, 2.0, 1.0, None],
        "age": [30, 40, 99, 50],
        "name": ["a", "b", "", "d"],
        "day": [dt.date(2024, 1, 2)] * 3 + [None],
    }
)
LABELS = {"sex": {1: "male", 2: "female"}, "age": {99: "refused"}}
WRITERS = {".dta": pyreadstat.write_dta, ".sav": pyreadstat.write_sav}
READ = {
    "sex": ["male", "female", "male", None],
    "age": [30, 40, 99, 50],
    "name": ["a", "b", None, "d"],
    "day": [dt.date(2024, 1, 2)] * 3 + [None],
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_values_have_their_labels_where_all_have_one(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    WRITERS[suffix](TABLE, str(path), variable_value_labels=LABELS)
    found = read_with_findings(path, {})
    assert found.table.to_pydict() == READ
    assert found.remarks == (
        "Column 'age' has labels for some values only, so the values are read and not their labels.",
    )
    assert read_with_findings(path, {"as_text": True}).table["age"].to_pylist() == ["30", "40", "99", "50"]


def test_sas_transport_files_are_read(tmp_path):
    pyreadstat.write_xport(TABLE, str(tmp_path / "x.xpt"))
    assert read_with_findings(tmp_path / "x.xpt", {}).table.to_pydict() == READ | {"sex": [1, 2, 1, None]}


def test_columns_of_any_format_can_be_given_a_type(tmp_path):
    pyreadstat.write_dta(TABLE, str(tmp_path / "x.dta"))
    read = read_with_findings(tmp_path / "x.dta", {"column_types": {"age": "text"}})
    assert read.table["age"].to_pylist() == ["30", "40", "99", "50"]
    assert read.reading == {"column_types": {"age": "text"}}
    with pytest.raises(ReadError, match="'age' cannot be read as 'date', because it holds numbers"):
        read_with_findings(tmp_path / "x.dta", {"column_types": {"age": "date"}})


@pytest.mark.parametrize("suffix", [".dta", ".sav", ".por", ".sas7bdat", ".xpt"])
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(b"Eve,39\n" * 100)
    with pytest.raises(ReadError, match=r"is not a complete file of Stata, SPSS or SAS, .*pass encoding=") as refusal:
        read_with_findings(path, {})
    assert "Eve" not in str(refusal.value)


def test_what_a_file_calls_its_columns_is_told(tmp_path):
    pyreadstat.write_dta(TABLE, str(tmp_path / "x.dta"), column_labels={TABLE.columns[0]: "Fasting glucose"})
    assert read_with_findings(tmp_path / "x.dta", {}).labels == {TABLE.columns[0]: "Fasting glucose"}
