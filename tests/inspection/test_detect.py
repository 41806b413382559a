"""Inspecting whole tables."""

from __future__ import annotations

import dataclasses
import datetime as dt
import string
from dataclasses import replace

import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.datasets.hospital import generate_hospital
from sfumato.encoding.coded_table import encode_table
from sfumato.errors import SchemaError
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.io._dataframes import to_canonical
from sfumato.schema.roles import Role, Scale
from sfumato.tables.inspection.inspection import inspect_columns as inspect

CELLS = {
    pa.string(): st.text(max_size=50)
    | st.sampled_from(["low", "medium", "high", "53715", "90210", "*", "", "a@b.org", "20-30", "2020-01-31"]),
    pa.int64(): st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3),
    pa.float64(): st.floats(allow_nan=False, allow_infinity=False),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(),
    pa.timestamp("us"): st.datetimes(),
}
NAMES = ["name", "email", "id", "age", "zip", "sex", "city", "disease", "cost", "comment", "class", "patient"]


@st.composite
def any_tables(draw):
    rows = draw(st.sampled_from([1, 2, 3, 25]))
    columns = {}
    for name in draw(st.lists(st.sampled_from(NAMES) | st.text(max_size=8), min_size=1, max_size=4, unique=True)):
        type_ = draw(st.sampled_from(list(CELLS)))
        few = draw(st.lists(CELLS[type_], min_size=1, max_size=25))
        cells = st.lists(st.none() | st.sampled_from(few), min_size=rows, max_size=rows)
        columns[name] = pa.array(draw(cells), type_)
    return to_canonical(pa.table(columns))


@given(any_tables())
def test_any_table_is_described_and_the_description_works(table):
    found = inspect(table)
    assert [p.name for p in found.proposals] == table.column_names
    for proposal in found.proposals:
        assert isinstance(proposal.role, Role)
        assert isinstance(proposal.scale, Scale)
        assert proposal.reasons
        assert 0 <= proposal.distinction <= 1
        assert 0 <= proposal.separation <= 1
    schema = found.schema()
    assert set(schema.attributes) == set(table.column_names)
    assert found.risk.quasi == schema.quasi_identifiers
    coded = encode_table(table, schema)
    scales = {p.name: p.scale for p in found.proposals}
    assert {c.name: c.domain.scale for c in (*coded.quasi, *coded.sensitive)}.items() <= scales.items()


def test_the_made_up_population_is_understood():
    found = inspect(to_canonical(generate_hospital(2000, seed=1)))
    by_name = {p.name: p for p in found.proposals}
    assert {p.name: p.role.value for p in found.proposals} == {
        "name": "identifier",
        "age": "quasi",
        "sex": "quasi",
        "zip": "quasi",
        "marital_status": "quasi",
        "education": "quasi",
        "job": "quasi",
        "admission": "quasi",
        "nationality": "quasi",
        "height_cm": "quasi",
        "disease": "sensitive",
        "cost": "sensitive",
    }
    assert by_name["education"].scale is Scale.ORDINAL
    assert by_name["zip"].hierarchy == Prefixes()
    assert by_name["age"].hierarchy == Intervals(1, 5, 10, 20, 40)
    assert by_name["age"].reasons[-1].startswith("intervals begin and end at multiples of 1, narrow as they can be")
    assert found.risk.unique_records > 1900


@pytest.mark.shared_data
def test_the_census_excerpt_is_understood(shared_data):
    options = pyarrow.csv.ParseOptions(delimiter=";")
    table = to_canonical(pyarrow.csv.read_csv(shared_data / "adult" / "adult.csv", parse_options=options))
    found = inspect(table)
    schema = found.schema()
    assert schema.sensitive == ("salary-class",)
    assert len(schema.quasi_identifiers) == 8
    assert (schema.identifiers, schema.insensitive) == ((), ())
    assert found.risk.unique_records == 14_021
    assert found.risk.unique_without["age"] == 3_760
    education = next(p for p in found.proposals if p.name == "education")
    assert education.order is not None
    assert (education.order[0], education.order[-1]) == ("Preschool", "Doctorate")


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (pa.table({}), "The table has no columns; there is nothing to inspect."),
        (
            pa.table({"age": pa.array([], pa.int64())}),
            "The table has no rows; there is nothing to inspect.",
        ),
    ],
)
def test_a_table_without_columns_or_rows_is_refused(table, sentence):
    with pytest.raises(SchemaError) as refused:
        inspect(table)
    assert str(refused.value) == sentence


def test_one_row_is_at_the_highest_risk():
    found = inspect(pa.table({"age": [39], "job": ["clerk"], "disease": ["flu"]}))
    assert [p.role for p in found.proposals] == [Role.QUASI, Role.QUASI, Role.SENSITIVE]
    assert (found.risk.unique_records, found.risk.prosecutor_max) == (1, 1.0)


def test_three_hundred_columns_are_all_described():
    columns = {f"c{i}": [(i + row) % 4 for row in range(30)] for i in range(300)}
    found = inspect(pa.table(columns))
    assert len(found.proposals) == 300
    assert len(found.risk.unique_without) == 300


def test_the_order_of_rows_does_not_matter():
    table = to_canonical(generate_hospital(300, seed=2))
    upside_down = table.take(pa.array(range(299, -1, -1)))
    assert inspect(table) == inspect(upside_down)


def test_all_kinds_of_dataframes_are_inspected_alike():
    table = to_canonical(generate_hospital(200, seed=3))
    assert inspect(table) == inspect(table.to_pandas()) == inspect(pl.from_arrow(table))


def test_what_is_no_dataframe_is_refused():
    with pytest.raises(SchemaError, match="must be a pandas, Polars or Arrow table; got dict"):
        inspect({"age": [39]})


def test_only_scales_that_nothing_else_says_stand_in_the_schema():
    table = pa.table(
        {
            "age": [30, 40, 50],
            "sex": [1, 2, 1],
            "level": ["low", "high", "medium"],
            "zip": ["53715", "53703", "90210"],
            "job": ["clerk", "cook", "nurse"],
        }
    )
    schema = inspect(table).schema()
    assert schema.scales == {"sex": Scale.NOMINAL}
    assert schema.orders == {"level": ("low", "medium", "high")}
    assert set(schema.hierarchies) == {"age", "zip"}


def _canaries() -> dict[str, list[object]]:
    words = [f"canary{letter}" for letter in string.ascii_lowercase]
    numbers = [777_000_013 + 1_000_003 * i for i in range(26)]
    return {
        **dict.fromkeys((*NAMES, "free"), words),
        "mail": [f"{word}@example.org" for word in words],
        "text": [f"{word} says a lot, and then says even more than that" for word in words],
        "constant": ["canaryconstant"] * 26,
        "ranges": [f"{777_000 + i % 9}-{777_001 + i % 9}" for i in range(26)],
        "number": numbers,
        "age in seconds": numbers,
        "share": [number / 1000 for number in numbers],
        "one number": [777_000_013] * 26,
        "seen": [dt.date(1777, 7, 1 + i) for i in range(26)],
        "zip code": [str(number)[:8] for number in numbers],
    }


@pytest.mark.parametrize("rows", [1, 5, 26])
def test_no_cell_value_is_ever_told(rows):
    table = pa.table({name: cells[:rows] for name, cells in _canaries().items()})
    found = inspect(table)
    told = repr(found) + "".join(reason for p in found.proposals for reason in p.reasons)
    assert "canary" not in told
    assert "777" not in told
    assert any(p.order for p in found.proposals) == (rows > 2)
    assert {p.role for p in found.proposals} >= {Role.IDENTIFIER, Role.QUASI, Role.SENSITIVE}


def test_a_notebook_shows_roles_with_reasons_and_the_risk_but_no_cell():
    table = pa.table({"<age>": [31, 34, 47], "grade": ["canary low", "canary mid", "canary top"]})
    shown = inspect(table)._repr_html_()
    assert "&lt;age&gt;" in shown
    assert "<age>" not in shown
    assert "canary" not in shown
    assert "records in groups of fewer than 2</td><td>3 of 3" in shown
    assert shown.count("<tr>") == 1 + 2 + 4


def test_time_and_status_of_survival_are_sensitive_together_and_not_alone():
    columns = {"time": list(range(30)), "status": [0, 1] * 15, "age": list(range(20, 35)) * 2}
    roles = {p.name: p.role.value for p in sf.inspect(pa.table(columns)).proposals}
    assert roles == {"time": "sensitive", "status": "sensitive", "age": "quasi"}
    del columns["status"]
    assert {p.name: p.role.value for p in sf.inspect(pa.table(columns)).proposals}["time"] != "sensitive"


def test_a_table_of_diagnoses_is_never_without_sensitive_columns(tmp_path):
    names = ["Viral sinusitis (disorder)", "Normal pregnancy", "Chronic pain", "Full-time employment (finding)"]
    codes = [444814009, 72892002, 82423001, 160903007]
    columns = {"PATIENT": [f"p{row}" for row in range(40)], "CODE": codes * 10, "DESCRIPTION": names * 10}
    columns["START"] = [dt.date(2020, 1, 1 + row % 20) for row in range(40)]
    table = pa.table(columns)
    pq.write_table(table, tmp_path / "conditions.parquet")
    for found in (sf.inspect(table), sf.inspect(tmp_path / "conditions.parquet", engine="duckdb")):
        by_name = {each.name: each for each in found.proposals}
        assert by_name["CODE"].role is by_name["DESCRIPTION"].role is Role.SENSITIVE
        assert by_name["CODE"].scale is Scale.NOMINAL
        assert by_name["CODE"].reasons[0] == (
            "its values correspond one to one to those of 'DESCRIPTION', so it tells the same"
        )
        assert str(by_name["DESCRIPTION"].reasons[0]).startswith(
            "100% of distinct values seem to tell a state of health"
        )


def test_texts_that_would_be_published_in_sets_one_and_all_are_identifiers():
    moments = [f"2195-05-{1 + row % 28} {row % 24}:{row // 24:02}" for row in range(129)]
    (found,) = sf.inspect(pa.table({"admittime": moments})).proposals
    assert found.role is Role.IDENTIFIER
    assert "there are too many texts to generalize; give it a hierarchy to keep it" in found.reasons


@pytest.mark.parametrize("name", ["age_group", "disease"])
def test_columns_that_hold_stars_are_not_published_because_they_mean_suppressed(name):
    (found,) = sf.inspect(pa.table({name: ["a", "b", "*", "b"] * 20})).proposals
    assert found.role is Role.IDENTIFIER
    assert (
        found.reasons[-1]
        == "some cells are *, which means suppressed: not published until they are replaced or cleared"
    )


@pytest.mark.parametrize("name", ["age", "income", "x"])
def test_columns_with_numbers_that_anonymize_refuses_are_not_published(name):
    table = pa.table({name: [1e300, -2.5, 3.5, 2.5] * 20, "sex": ["f", "m"] * 40})
    found = sf.inspect(table)
    assert found.proposals[0].role is Role.IDENTIFIER
    assert any(each.startswith("some numbers are beyond 1e100: not published") for each in found.proposals[0].reasons)
    release = sf.run_recipe(replace(sf.propose_recipe(found, table), count_rows=True), table)
    assert release.published.column_names == ["sex"]


def test_survival_from_one_time_to_another_is_sensitive():
    columns = {"start": list(range(30)), "end": list(range(30)), "event": [0, 1] * 15}
    assert {p.role for p in sf.inspect(pa.table(columns)).proposals} == {Role.SENSITIVE}


def test_what_looks_odd_in_texts_is_told():
    (remark,) = sf.inspect(pa.table({"weight": ["70 kg", "71 kg"], "n": [1, 2]})).remarks
    assert remark.startswith("Column 'weight' has numbers with a unit")
    assert remark.endswith("column_types={'weight': 'number:kg'}.")


def test_weights_of_a_survey_are_proposed_as_insensitive_and_weights_of_bodies_are_not():
    columns = {"sample_weight": [each % 6 / 7 for each in range(60)], "weight": [50 + each % 40 for each in range(60)]}
    found = {p.name: p for p in sf.inspect(pa.table(columns)).proposals}
    assert found["sample_weight"].role.value == "insensitive"
    assert "a survey weight" in found["sample_weight"].reasons[0]
    assert found["weight"].role.value == "quasi"


@pytest.mark.parametrize("name", ["cost", "total_hours", "sample_weight", "price", "quantity"])
def test_numbers_that_few_records_share_are_never_published_unchanged(name):
    (rare,) = sf.inspect(pa.table({name: [each / 7 for each in range(300)]})).proposals
    (shared,) = sf.inspect(pa.table({name: [each % 5 for each in range(300)]})).proposals
    assert rare.role.value in {"quasi", "sensitive"}
    assert shared.role.value == "insensitive"


def test_many_diagnoses_are_sensitive_and_no_identifiers():
    diagnoses = [f"a long name of illness number {row % 12_000}" for row in range(40_000)]
    (found,) = sf.inspect(pa.table({"diagnosis": diagnoses})).proposals
    assert found.role.value == "sensitive"


def test_a_label_speaks_where_the_name_is_silent():
    table = pa.table({"LBXGLU": [1.0, 2.0] * 20, "age": list(range(40))})
    found = inspect(table, labels={"LBXGLU": "Fasting Glucose (mg/dL)", "age": "salary"})
    assert [each.role.value for each in found.proposals] == ["sensitive", "quasi"]
    assert found.proposals[0].reasons[0].startswith("column label contains 'glucose'")
    assert inspect(table).proposals[0].role.value == "quasi"


@given(any_tables())
def test_a_recipe_is_proposed_for_any_table_that_anonymize_does_not_refuse(table):
    found = sf.inspect(table)
    if any(each.role is not Role.IDENTIFIER for each in found.proposals):
        recipe = dataclasses.replace(sf.propose_recipe(found, table), count_rows=True)  # what only the owner decides
        assert sf.check(recipe, table) == ()
