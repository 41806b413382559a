"""Cross-tabulations of a release next to those of the original."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.tables.metrics.tabulation import compare_tabulations

JOBS = sf.hierarchies.Taxonomy({"desk": ["clerk", "judge"], "field": ["farmer"]})
SCHEMA = sf.Schema(quasi_identifiers=["job"], hierarchies={"job": JOBS})
COVERED = {"clerk": ["clerk"], "judge": ["judge"], "farmer": ["farmer"], "desk": ["clerk", "judge"]}
COVERED["*"] = COVERED["{clerk, judge, farmer}"] = ["clerk", "judge", "farmer"]
RECORDS = st.lists(st.tuples(st.sampled_from(["clerk", "judge", "farmer"]), st.sampled_from("fm")), min_size=3)


def shares(records: list[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Count by hand: a cell counts evenly for all it covers."""
    found = dict.fromkeys(product(["clerk", "judge", "farmer"], "fm"), 0.0)
    for job, sex in records:
        for each in COVERED[job]:
            found[each, sex] += 1 / len(COVERED[job]) / len(records)
    return found


@examples(30)
@given(st.data(), RECORDS)
def test_distances_are_those_counted_by_hand(data, records):
    jobs = {job for job, _ in records}
    if len(jobs) < 3 or len({sex for _, sex in records}) < 2:
        return
    shown = [
        (data.draw(st.sampled_from([text for text in COVERED if job in COVERED[text]])), sex) for job, sex in records
    ]
    frames = [pd.DataFrame(rows, columns=["job", "sex"]) for rows in (records, shown)]
    found = compare_tabulations(*frames, schema=SCHEMA)
    before, after = shares(records), shares(shown)
    expected = sum(abs(after[cell] - before[cell]) for cell in before) / 2
    assert found.largest_distance == pytest.approx(expected, abs=1e-12)
    assert found.columns == ("job", "sex")


def test_associations_are_cramers_v():
    table = pd.DataFrame({"a": list("xxyy"), "b": list("ppqq"), "c": list("pqpq")})
    found = {each.columns: each for each in compare_tabulations(table, table.assign(b="{p, q}")).pairs}
    assert found["a", "b"].original_association == pytest.approx(1)
    assert found["a", "b"].published_association == pytest.approx(0)
    assert found["a", "c"].original_association == pytest.approx(0)


def test_missing_cells_are_a_value_of_their_own():
    table = pd.DataFrame({"a": ["x", "y", None, "x"], "b": list("ppqq")})
    assert compare_tabulations(table, table).largest_distance == 0
    assert compare_tabulations(table, table.fillna("y")).largest_distance == pytest.approx(1 / 4)


def test_columns_of_many_values_are_left_out_unless_named():
    rows = 64
    table = pd.DataFrame({"id": [f"p{row}" for row in range(rows)], "a": list("xy") * 32, "b": list("xxyy") * 16})
    assert compare_tabulations(table, table).columns == ("a", "b")
    assert compare_tabulations(table, table, columns=["id", "a"]).columns == ("id", "a")
    with pytest.raises(sf.errors.SchemaError, match="no two columns"):
        compare_tabulations(table[["id", "a"]], table[["id", "a"]])
    with pytest.raises(sf.errors.SchemaError, match="no column 'aa'"):
        compare_tabulations(table, table, columns=["aa", "b"])


def test_figures_are_shown_and_told():
    table = pd.DataFrame({"a": list("xxyy"), "b": list("ppqq")})
    found = compare_tabulations(table, table.assign(b=np.array(list("pqqq"))))
    assert "largest distance  0.25" in repr(found)
    assert found.to_dict()["pairs"][0]["columns"] == ["a", "b"]
