"""Tables of other tools, files read back, and frames in the states that frames get into."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.schema import Schema
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from strategies import described_tables

SCHEMA = Schema(quasi_identifiers=["age-group", "home zip"], sensitive=["disease"])
PATIENTS = pd.DataFrame(
    {
        "age-group": ["20-29"] * 4 + ["30-39"] * 3 + ["40+"] * 2,
        "home zip": ["537**"] * 7 + ["53***"] * 2,
        "disease": ["flu", "cold", "flu", "ulcer", "flu", "flu", "cold", "cold", "flu"],
    }
)


def test_levels_of_a_table_that_another_tool_made():
    audit = sf.audit(PATIENTS, SCHEMA, [KAnonymity(k=2), DistinctLDiversity(l=2, sensitive="disease")])
    assert audit.holds
    assert audit.sizes.tolist() == [4, 3, 2]
    assert audit.level("k-anonymity") == 2
    assert audit.level("distinct-l-diversity") == 2


@pytest.mark.parametrize(
    "frame",
    [
        PATIENTS.sample(frac=1, random_state=1),
        PATIENTS.set_axis(["x"] * 9, axis=0),
        PATIENTS.set_axis(range(100, 109), axis=0),
        pd.concat([PATIENTS, PATIENTS]).iloc[:9],
        PATIENTS.set_index(["disease", "age-group"], drop=False),
        PATIENTS[["disease", "home zip", "age-group"]],
        PATIENTS.astype("category"),
        PATIENTS.astype({"age-group": pd.CategoricalDtype(["never", *PATIENTS["age-group"].unique(), "nobody"])}),
        PATIENTS.astype(object),
        PATIENTS.convert_dtypes(),
        pl.from_pandas(PATIENTS),
        pl.from_pandas(PATIENTS).cast(pl.Categorical),
        pa.Table.from_pandas(PATIENTS, preserve_index=False),
    ],
    ids=[
        "permuted",
        "one label for all rows",
        "shifted",
        "filtered",
        "multi-index",
        "columns reordered",
        "categorical",
        "unused categories",
        "objects",
        "pandas nullable",
        "Polars",
        "Polars categorical",
        "Arrow",
    ],
)
def test_no_state_of_a_frame_changes_the_audit(frame):
    expected = sf.audit(PATIENTS, SCHEMA, [KAnonymity(k=3)])
    audit = sf.audit(frame, SCHEMA, [KAnonymity(k=3)])
    assert audit.to_dict() == expected.to_dict()


def test_rows_with_a_missing_quasi_identifier_do_not_vanish():
    frame = PATIENTS.copy()
    frame.loc[0, "home zip"] = None
    audit = sf.audit(frame, SCHEMA)
    assert audit.records == 9
    assert audit.level("k-anonymity") == 1


def test_a_filtered_frame_with_unused_categories_keeps_its_k():
    frame = PATIENTS.astype("category")
    assert sf.audit(frame[frame["age-group"] == "20-29"], SCHEMA).level("k-anonymity") == 4


def test_typed_columns_are_judged_by_their_values():
    frame = pd.DataFrame(
        {
            "age-group": [30.0, 30.0, 40.0, 40.0],
            "home zip": pd.to_datetime(["2024-01-01", "2024-01-01", "2024-02-01", "2024-02-01"]),
            "disease": [True, False, True, False],
        }
    )
    audit = sf.audit(frame, SCHEMA)
    assert audit.level("k-anonymity") == 2
    assert audit.level("distinct-l-diversity") == 2


def test_a_table_of_another_tool_is_compared_with_the_original():
    original = pd.DataFrame(
        {
            "age-group": [20, 24, 25, 29, 30, 31, 39, 40, 88],
            "home zip": ["53701", "53702", "53703", "53704", "53705", "53706", "53707", "53201", "53999"],
            "disease": PATIENTS["disease"],
        }
    )
    assert sf.audit(PATIENTS, SCHEMA, original=original).truth.holds
    assert sf.audit(PATIENTS, SCHEMA, original=original, correspondence=range(9)).truth.holds
    by_text = original.astype({"home zip": "int64"})
    assert sf.audit(PATIENTS, SCHEMA, original=by_text, correspondence=range(9)).truth.holds
    original.loc[0, "age-group"] = 19
    original.loc[8, "home zip"] = "54000"
    forged = sf.audit(PATIENTS, SCHEMA, original=original, correspondence=range(9)).truth
    assert forged.false_cells == 2
    assert sf.audit(PATIENTS, SCHEMA, original=original).truth.unmatched == 2


def test_a_label_at_its_open_end_is_false():
    original = pd.DataFrame({"age": [20, 25], "s": ["a", "b"]})
    published = pd.DataFrame({"age": ["[20, 25)", "[20, 25)"], "s": ["a", "b"]})
    schema = Schema(quasi_identifiers=["age"], sensitive=["s"])
    assert sf.audit(published, schema, original=original, correspondence=[0, 1]).truth.false_cells == 1
    with_levels = Schema(quasi_identifiers=["age"], sensitive=["s"], hierarchies={"age": Intervals(5, 10)})
    assert sf.audit(published, with_levels, original=original, correspondence=[0, 1]).truth.false_cells == 1


def test_labels_of_hierarchies_are_read_back():
    original = pd.DataFrame({"age": [20, 27], "zip": ["53715", "53703"], "job": ["clerk", "lawyer"]})
    schema = Schema(
        quasi_identifiers=["age", "zip", "job"],
        hierarchies={
            "age": Intervals(5, 10),
            "zip": Prefixes(),
            "job": Taxonomy({"20-24": ["clerk", "lawyer"], "x": ["y"]}),
        },
    )
    published = pd.DataFrame({"age": ["[20, 30)"] * 2, "zip": ["537**"] * 2, "job": ["20-24"] * 2})
    assert sf.audit(published, schema, original=original, correspondence=[1, 0]).truth.holds


@given(described_tables(least_rows=4, most_rows=25), st.integers(2, 4))
def test_the_largest_k_survives_a_file(tmp_path_factory, described, k):
    table, schema = described
    k = min(k, table.num_rows)
    release = sf.anonymize(table, schema, models=[KAnonymity(k=k)])
    path = tmp_path_factory.mktemp("published") / "table.csv"
    sf.write(release.frame, path)
    read = sf.audit(sf.read(path), schema, [KAnonymity(k=k)])
    assert read.level("k-anonymity") == release.audit.level("k-anonymity") >= k
    assert read.holds
    assert sorted(read.sizes.tolist()) == sorted(release.audit.sizes.tolist())
