"""A table is inspected in its engine as it is in memory."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.inspection import inspection

CELLS = {
    "age": st.integers(18, 22),
    "name": st.sampled_from(["Ann Lee", "Bo Chen", "Cy Dee"]),
    "zip": st.sampled_from(["53715", "53703", "02139"]),
    "born": st.sampled_from([date(1990, 1, 1), date(1991, 5, 6)]),
    "seen": st.sampled_from([datetime(2020, 1, 1, 3), datetime(2021, 1, 1)]),  # noqa: DTZ001 - as tables have them
    "disease": st.sampled_from(["flu", "cold", "ulcer"]),
    "size": st.sampled_from(["small", "medium", "large"]),
    "weight": st.sampled_from([70.5, 80.0, float("nan")]),
    "dose": st.sampled_from(["5 mg", "10 mg"]),
    "alive": st.booleans(),
}


@st.composite
def raw_tables(draw: st.DrawFn) -> pa.Table:
    names = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=6, unique=True))
    rows = draw(st.integers(1, 30))
    return pa.table({name: draw(st.lists(st.none() | CELLS[name], min_size=rows, max_size=rows)) for name in names})


def from_files(table: pa.Table, **where: str) -> sf.tables.inspection.Inspection:
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(table, Path(folder) / "a.parquet")
        return sf.inspect(folder, engine="duckdb", temporary=folder, **where)


@examples(60)
@given(raw_tables())
def test_files_are_inspected_as_the_table_in_them(table):
    assert from_files(table, memory="100MB") == sf.inspect(table)


@examples(25)
@given(raw_tables())
def test_figures_are_exact_where_values_do_not_fit(table):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(inspection, "BYTES_PER_VALUE", 25 * 10**6)  # so that 2 values fit
        found = from_files(table, memory="50MB")
    expected = sf.inspect(table)
    for mine, theirs in zip(found.proposals, expected.proposals, strict=True):
        for figure in ("distinct", "missing", "distinction", "separation", "kind"):
            assert getattr(mine, figure) == getattr(theirs, figure)
        assert f"{mine.name!r} has" in "".join(found.remarks) or mine.distinct <= 2
    if found.risk.quasi == expected.risk.quasi:
        told = replace(expected.risk, unique_without=found.risk.unique_without)
        assert found.risk == told
        assert bool(found.risk.unique_without or not found.risk.quasi) is not any(
            "without each quasi-identifier" in remark for remark in found.remarks
        )


def test_a_column_that_counting_needs_is_refused(tmp_path):
    pq.write_table(pa.table({"_records": [1]}), tmp_path / "a.parquet")
    with pytest.raises(SchemaError, match="needed beyond memory"):
        sf.inspect(tmp_path / "a.parquet", engine="duckdb")


def test_an_engine_is_one_of_those_known():
    with pytest.raises(InvalidParameterError, match="engine must be one of"):
        sf.inspect(pa.table({"age": [1]}), engine="duck")
