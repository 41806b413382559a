"""Reports and comparisons of tables with empty, constant and mixed columns."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples

KINDS = {
    "whole": (st.integers(0, 4), pa.int64()),
    "real": (st.floats(-9, 9), pa.float64()),
    "text": (st.sampled_from("abc"), pa.string()),
    "telling": (st.text("xyz", min_size=8), pa.string()),
    "flag": (st.booleans(), pa.bool_()),
    "day": (st.integers(0, 300).map(lambda day: date(2020, 1, 1) + timedelta(day)), pa.date32()),
    "time": (st.integers(0, 300).map(lambda hour: datetime(2020, 1, 1, 1) + timedelta(hours=hour)), pa.timestamp("us")),  # noqa: DTZ001 - as tables have it
    "same": (st.just(7.5), pa.float64()),
    "empty": (st.none(), pa.string()),
}


@st.composite
def tables(draw) -> pa.Table:
    rows = draw(st.integers(1, 12))
    columns = {}
    for name in "abcde":
        cells, kind = KINDS[draw(st.sampled_from(list(KINDS)))]
        maybe = st.none() | cells if draw(st.booleans()) else cells
        columns[name] = pa.array(draw(st.lists(maybe, min_size=rows, max_size=rows)), kind)
    return pa.table(columns)


@pytest.mark.parametrize(
    "algorithm",
    [sf.algorithms.Mondrian(), sf.algorithms.Optimal(), sf.algorithms.MDAV(), sf.algorithms.Slicing()],
    ids=lambda each: each.name,
)
@examples(15)
@given(table=tables())
def test_whatever_is_released_is_reported_and_compared(algorithm, table):
    schema = sf.Schema(quasi_identifiers=["a", "b"], sensitive=["c"], insensitive=["d", "e"])
    try:
        release = sf.anonymize(table, schema, [sf.models.KAnonymity(k=2)], algorithm, max_suppressed=0.5, seed=1)
    except sf.errors.SfumatoError:
        return
    assert release.report().html.startswith("<!DOCTYPE html>")
    found = sf.compare([release])
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["candidates"][0]["records"] == len(release.frame)
    assert found.page().html.startswith("<!DOCTYPE html>")
