"""The long form spells out buckets, and its views let SQL do the same sums."""

from __future__ import annotations

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from golden_files import GOLDEN
from sfumato.queries import _long_form as module
from sfumato.queries._long_form import long_form, long_form_views
from sfumato.queries.estimation import estimate
from sfumato.queries.query import Query

SCHEMA = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=["disease"])


def anatomized():
    """Thesis table 2.3: two buckets of four records."""
    original = pd.read_csv(GOLDEN / "thesis_1_1.csv", dtype=str).drop(columns="name")
    return original.assign(_bucket_disease=[1, 1, 1, 1, 2, 2, 2, 2])


def test_the_long_form_is_that_of_the_thesis():
    schema = sf.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive=["disease"], insensitive=["id"])
    spelled = long_form(anatomized(), schema)
    assert isinstance(spelled, pd.DataFrame)
    assert list(spelled.columns) == ["_record", "id", "age", "sex", "zip", "disease", "_probability"]
    assert len(spelled) == 32
    assert (spelled["_probability"] == 0.25).all()
    printed = pd.read_csv(GOLDEN / "thesis_2_4.csv", dtype=str).rename(columns={"probability": "_probability"})
    printed["_probability"] = printed["_probability"].astype(float)
    shown = spelled.drop(columns="_record").head(len(printed))
    pd.testing.assert_frame_equal(shown.astype(object), printed.astype(object))


def test_equal_values_of_a_bucket_are_one_row_and_linked_cells_stay():
    table = pl.DataFrame(
        {
            "age": [1, 2, 3, 4],
            "sex": ["F", "F", "M", "M"],
            "disease": ["flu", "flu", None, "ulcer"],
            "_bucket_disease": [7, 7, 7, None],
        }
    )
    spelled = long_form(table, SCHEMA)
    assert isinstance(spelled, pl.DataFrame)
    assert spelled["_record"].to_list() == [0, 0, 1, 1, 2, 2, 3]
    assert spelled["disease"].to_list() == ["flu", None] * 3 + ["ulcer"]
    assert spelled["_probability"].to_list() == pytest.approx([2 / 3, 1 / 3] * 3 + [1])


def test_several_attributes_give_all_combinations_or_are_left_empty():
    table = pa.table(
        {
            "age": [20, 30, 40],
            "_bucket_age": pa.array([0, 0, None], pa.int64()),
            "sex": ["F", "M", "F"],
            "disease": ["flu", "cold", "ulcer"],
            "_bucket_disease": [5, 5, 5],
        }
    )
    assert long_form(table, SCHEMA).num_rows == 2 * 3 + 2 * 3 + 3
    some = long_form(table, SCHEMA, ["disease"])
    assert some.column_names == ["_record", "age", "_bucket_age", "sex", "disease", "_probability"]
    assert some["age"].to_pylist() == [None] * 6 + [40] * 3
    with pytest.raises(sf.errors.SchemaError, match="There are no buckets of 'sex'; choose one of 'age', 'disease'"):
        long_form(table, SCHEMA, ["sex"])


def test_a_long_form_that_would_be_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS", 31)
    with pytest.raises(sf.errors.SchemaError, match=r"would have 32 rows; expand fewer attributes at a time\."):
        long_form(anatomized(), SCHEMA)


@st.composite
def bucketized(draw):
    rows = draw(st.integers(1, 12))
    many = {"min_size": rows, "max_size": rows}
    spread = st.lists(st.none() | st.integers(0, 2), **many)
    return pa.table(
        {
            "age": pa.array(draw(st.lists(st.integers(20, 24), **many)), pa.int64()),
            "_bucket_age": pa.array(draw(spread), pa.int64()),
            "sex": draw(st.lists(st.sampled_from(["F", "M", "*", "{F, M}"]), **many)),
            "disease": pa.array(draw(st.lists(st.sampled_from(["flu", "cold", None]), **many)), pa.string()),
            "_bucket_disease": pa.array(draw(spread), pa.int64()),
        }
    )


@examples(30)
@given(bucketized(), st.integers(20, 24), st.sampled_from(["flu", "cold"]))
def test_long_form_and_views_sum_to_the_expected_count(table, age, disease):
    query = Query(where={"age": (">", age), "disease": disease})
    expected = estimate(table, SCHEMA, query).expected
    rows = long_form(table, SCHEMA).to_pylist()
    chosen = [row for row in rows if row["age"] > age and row["disease"] == disease]
    assert sum(row["_probability"] for row in chosen) == pytest.approx(expected)
    assert sum(row["_probability"] for row in rows) == pytest.approx(table.num_rows)
    with duckdb.connect() as connection:
        long_form_views(connection, table, SCHEMA, domains={"sex": ["F", "M"]})
        (total, number), *_ = connection.execute(
            "SELECT sum(_probability) FILTER (age > ? AND disease = ?), count(*) FROM published_long", [age, disease]
        ).fetchall()
        assert (total or 0) == pytest.approx(expected)
        assert number == len(rows)
        of_women = "SELECT sum(l._probability * v._probability) FROM published_long l "
        of_women += "JOIN published_values_of_sex v ON l.sex = v.shown WHERE v.value = 'F' AND l.disease = ?"
        ((women,),) = connection.execute(of_women, [disease]).fetchall()
    asked = Query(where={"sex": "F", "disease": disease})
    assert (women or 0) == pytest.approx(estimate(table, SCHEMA, asked, domains={"sex": ["F", "M"]}).expected)


def test_views_spell_out_intervals_of_whole_numbers_and_days(tmp_path):
    table = pa.table({"age": ["[20, 22]", "21", "*"], "born": ["[2000-01-01, 2000-01-04)"] * 3, "x": [0.5, 1.5, 1.5]})
    schema = sf.Schema(quasi_identifiers=["age", "born", "x"])
    names = long_form_views(tmp_path / "made.duckdb", table, schema, name="people")
    values = [f"people_values_of_{name}" for name in ("age", "born", "x")]
    assert names == ["people", "people_long", *values]
    with duckdb.connect(str(tmp_path / "made.duckdb")) as connection:
        ages = connection.table(values[0]).order("ALL").fetchall()
        days = connection.table(values[1]).aggregate("count(*), min(value)::VARCHAR").fetchall()
        assert connection.execute("SELECT _record, age, x, _probability FROM people_long").fetchall() == [
            (0, "[20, 22]", 0.5, 1.0),
            (1, "21", 1.5, 1.0),
            (2, "*", 1.5, 1.0),
        ]
    thirds = [(shown, value, pytest.approx(1 / 3)) for shown in ("*", "[20, 22]") for value in (20, 21, 22)]
    assert ages == [*thirds[:3], ("21", 21, 1.0), *thirds[3:]]
    assert days == [(3, "2000-01-01")]


def test_values_that_cannot_be_listed_have_no_view():
    table = pa.table({"zip": ["537**", "902**"], "height": ["[1.5, 1.8)", "1.9"]})
    with duckdb.connect() as connection:
        assert long_form_views(connection, table, sf.Schema(quasi_identifiers=["zip", "height"])) == [
            "published",
            "published_long",
        ]


def test_views_that_are_there_are_replaced_only_on_demand(tmp_path):
    path = str(tmp_path / "made.duckdb")
    long_form_views(path, anatomized(), SCHEMA)
    with pytest.raises(sf.errors.WriteError, match="The database already has a table 'published'"):
        long_form_views(path, anatomized(), SCHEMA)
    long_form_views(path, anatomized().head(4), SCHEMA, replace=True)
    with duckdb.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM published_long").fetchone() == (16,)


def test_a_failure_in_the_database_leaves_nothing_behind(tmp_path):
    (tmp_path / "broken.duckdb").write_text("Canary" * 1000)
    with pytest.raises(sf.errors.WriteError, match="DuckDB cannot create the table 'published'") as caught:
        long_form_views(tmp_path / "broken.duckdb", anatomized(), SCHEMA)
    assert "Canary" not in str(caught.value)
    with duckdb.connect() as connection:
        connection.execute("BEGIN")
        with pytest.raises(sf.errors.WriteError, match="or a transaction may be open"):
            long_form_views(connection, anatomized(), SCHEMA)
        connection.execute("ROLLBACK")
        assert connection.execute("SELECT count(*) FROM information_schema.tables").fetchone() == (0,)
    with pytest.raises(sf.errors.InvalidParameterError, match=r"\.database must be a DuckDB connection or a path"):
        long_form_views(3, anatomized(), SCHEMA)


def test_names_that_would_be_taken_for_others_are_refused():
    twice = pa.table({"age": [1], "AGE": [2]})
    with (
        duckdb.connect() as connection,
        pytest.raises(sf.errors.WriteError, match="does not distinguish the columns 'age' and 'AGE'"),
    ):
        long_form_views(connection, twice, sf.Schema(quasi_identifiers=["age"], insensitive=["AGE"]))
    for name in ("_record", "_probability"):
        with pytest.raises(sf.errors.SchemaError, match=f"already has a column '{name}'"):
            long_form(anatomized().assign(**{name: 1}), SCHEMA)
