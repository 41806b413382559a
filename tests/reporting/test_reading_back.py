"""What leaves is judged from its file: faults of writing are caught before anything is put in place."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.io._csv import write_csv
from sfumato.io._values import format_values
from sfumato.tables import _verification as verification

ODD = ["NA", "?", "", " ", "\t", " NA", "nan", "'", "=1", "#N/A", "1", "1.0", "true", "l\nm", "\r", "a,b", '"', None]
FORMATS = ["csv", "parquet", "xlsx"]
PEOPLE = pa.table(
    {
        "age": [20, 21, 22, 40, 41, 42],
        "job": ["clerk", "clerk", "nurse", "=sum(a)", "-1+1", "@home"],
        "disease": ["flu", "cold", "flu", "cold", "flu", "ulcer"],
        "note": ["a, b", 'say "x"', "line\nbreak", " edge ", "plain", None],
    }
)
SCHEMA = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"], insensitive=["job", "note"])


@pytest.fixture(scope="module")
def release() -> sf.Release:
    return sf.anonymize(
        PEOPLE, SCHEMA, [sf.models.KAnonymity(k=3), sf.models.DistinctLDiversity(l=2, sensitive="disease")], seed=1
    )


def unquoted(published, path, *, excel_safe=False):
    """Write as a careless program would: cells with separators are not quoted."""
    write_csv(published, path, excel_safe=excel_safe)
    path.write_text(path.read_text("utf-8").replace('"', ""), "utf-8")


def exact_ages(published, path, *, excel_safe=False):
    at = published.column_names.index("age")
    ages = pa.array([str(20 + row) for row in range(published.num_rows)])
    write_csv(published.set_column(at, "age", ages), path, excel_safe=excel_safe)


def one_more_disease(published, path, *, excel_safe=False):
    at = published.column_names.index("disease")
    diseases = pc.if_else(pc.equal(published["disease"], "ulcer"), "gout", published["disease"])
    write_csv(published.set_column(at, "disease", diseases), path, excel_safe=excel_safe)


def one_row_less(published, path, *, excel_safe=False):
    write_csv(published.slice(1), path, excel_safe=excel_safe)


def no_line(_, path, *, excel_safe=False):  # noqa: ARG001 - a writer as all others
    path.write_text("", "utf-8")


@pytest.mark.parametrize("fault", [unquoted, exact_ages, one_more_disease, one_row_less, no_line])
def test_a_fault_of_the_writer_is_caught_and_nothing_is_written(release, tmp_path, monkeypatch, fault):
    monkeypatch.setattr("sfumato.io._csv.write_csv", fault)
    with pytest.raises(sf.errors.GuaranteeViolatedError, match="nothing was written"):
        release.write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fault", [exact_ages, one_more_disease])
def test_an_older_release_stays_as_it_was(release, tmp_path, monkeypatch, fault):
    release.write(tmp_path / "out")
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    monkeypatch.setattr("sfumato.io._csv.write_csv", fault)
    with pytest.raises(sf.errors.GuaranteeViolatedError):
        release.write(tmp_path / "out", replace=True)
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("table_format", FORMATS)
def test_odd_cells_are_read_back_as_they_were(release, tmp_path, table_format):
    release.write(tmp_path / "out", table_format=table_format)
    promise = json.loads((tmp_path / "out" / "public" / "promise.json").read_text("utf-8"))
    assert promise["audit"]["holds"] is True


def test_cells_with_apostrophes_against_spreadsheets_are_read_without_them(release, tmp_path, monkeypatch):
    release.write(tmp_path / "out", excel_safe=True)
    assert "'=sum(a)" in (tmp_path / "out" / "public" / "table.csv").read_text("utf-8")
    monkeypatch.setattr(verification, "remove_formula_guards", lambda table: table)
    with pytest.raises(sf.errors.GuaranteeViolatedError, match="'job'"):
        release.write(tmp_path / "other", excel_safe=True)


def test_texts_of_one_number_are_one_value_before_anything_is_written():
    """They are one value to everybody who reads the CSV file, and to those who read any other."""
    table = pa.table({"age": [30, 30, 31, 31], "code": ["1.5", "1.50", "1.5", "1.50"]})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["code"])
    with pytest.raises(sf.errors.InfeasibleError, match="reaches 1, 2 is needed"):
        sf.anonymize(table, schema, [sf.models.DistinctLDiversity(l=2, sensitive="code")], seed=1)


@given(st.lists(st.sampled_from(ODD), min_size=4, max_size=8), st.sampled_from(FORMATS))
@examples(40)
def test_odd_texts_are_read_back_as_they_were_judged_or_refused(values, table_format):
    half = len(values) // 2 * 2
    table = pa.table({"age": [30] * half, "job": values[:half], "disease": values[:half][::-1]})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"], insensitive=["job"])
    release = sf.anonymize(table, schema, [sf.models.KAnonymity(k=2)], seed=1)
    with tempfile.TemporaryDirectory() as folder:
        try:
            release.write(Path(folder) / "out", table_format=table_format, report=False)
        except (sf.errors.GuaranteeViolatedError, sf.errors.WriteError) as error:
            assert str(error).count(". ") == 0  # noqa: PT017 - both outcomes are fine
            assert table_format != "parquet"
            return
        found = sf.read(Path(folder) / "out" / "public" / f"table.{table_format}")
    for name in ("job", "disease"):
        assert format_values(found[name]).to_pylist() == format_values(release.published[name]).to_pylist()


@pytest.mark.parametrize("table_format", FORMATS)
def test_empty_and_missing_texts_are_one_value_before_the_search(tmp_path, table_format):
    table = pa.table({"age": [30, 30, 31, 31], "code": ["", None, "", None]})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["code"])
    with pytest.raises(sf.errors.InfeasibleError):
        sf.anonymize(table, schema, [sf.models.DistinctLDiversity(l=2, sensitive="code")], seed=1)
    known = sf.anonymize(
        table, sf.Schema(quasi_identifiers=["code"], insensitive=["age"]), [sf.models.KAnonymity(k=4)], seed=1
    )
    assert known.published["code"].null_count == 4
    codes = pa.array(["NA", "x", "NA", "x"])
    release = sf.anonymize(
        table.set_column(1, "code", codes), schema, [sf.models.DistinctLDiversity(l=2, sensitive="code")], seed=1
    )
    release.write(tmp_path / "out", table_format=table_format)
    audit = sf.audit(sf.read(tmp_path / "out" / "public" / f"table.{table_format}"), schema, release.recipe.models)
    assert audit.holds


def test_messages_hold_no_cell(release, tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.io._csv.write_csv", one_more_disease)
    with pytest.raises(sf.errors.GuaranteeViolatedError) as caught:
        release.write(tmp_path / "out")
    assert not any(str(cell) in str(caught.value) for cell in ("flu", "cold", "ulcer", "gout", "clerk"))


@pytest.mark.parametrize("report", [True, False])
def test_only_their_owner_may_read_the_files_inside(release, tmp_path, report):
    release.write(tmp_path / "out", report=report)
    inside = tmp_path / "out" / "internal"
    modes = {path.stat().st_mode & 0o777 for path in inside.iterdir()}
    assert inside.stat().st_mode & 0o777 == 0o700
    assert modes == {0o600}


def test_without_a_report_the_tables_and_the_promise_are_written(release, tmp_path):
    release.write(tmp_path / "whole")
    release.write(tmp_path / "bare", report=False)
    whole, bare = (
        {path.relative_to(tmp_path / name).as_posix(): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        for name in ("whole", "bare")
    )
    assert set(whole) - set(bare) == {"internal/report.html", "internal/report.json"}
    assert all(whole[name] == content for name, content in bare.items())


def test_writing_tells_how_far_it_is_and_can_be_stopped(release, tmp_path):
    told = []

    def stop(done, _=""):
        told.append(done)
        if done >= 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release.write(tmp_path / "out", progress=stop)
    assert told == sorted(told)
    assert list(tmp_path.iterdir()) == []
