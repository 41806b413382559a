"""Cells are flagged by a table of flags or by rules."""

from __future__ import annotations

from datetime import date

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato.errors import SchemaError
from sfumato.schema.schema import Schema
from sfumato.schema.sensitive_cells import mark_sensitive_cells
from sfumato.tables._pipeline.anonymize import anonymize
from sfumato.tables.algorithms.bucketization.local_anatomy import LocalAnatomy
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity

PEOPLE = pa.table(
    {
        "name": ["a", "b", "c", "d"],
        "age": [30, 71, None, 65],
        "job": ["judge", "clerk", "judge", "cook"],
        "born": [date(1990, 1, 1), date(1950, 1, 1), date(2000, 1, 1), date(1960, 1, 1)],
    }
)
SCHEMA = Schema(identifiers=["name"], quasi_identifiers=["age", "job", "born"])


def flags_of(rules, name):
    return mark_sensitive_cells(PEOPLE, SCHEMA, rules=rules)[0][f"{name}__sensitive"].to_pylist()


def test_rules_list_values_or_compare_and_missing_cells_are_flagged():
    assert flags_of({"job": ["judge", "cook"]}, "job") == [True, False, True, True]
    assert flags_of({"age": (">=", 65)}, "age") == [False, True, True, True]
    assert flags_of({"age": (">", 65)}, "age") == [False, True, True, False]
    assert flags_of({"age": ("<", 65)}, "age") == [True, False, True, False]
    assert flags_of({"age": ("<=", 65.0)}, "age") == [True, False, True, True]
    assert flags_of({"age": [71]}, "age") == [False, True, True, False]
    assert flags_of({"born": ("<", date(1960, 1, 1))}, "born") == [False, True, False, False]


def test_mask_and_rules_add_up_and_attributes_without_a_flag_have_none():
    mask = pa.table({"age": [True, False, False, False], "job": [False] * 4})
    table, schema = mark_sensitive_cells(PEOPLE, SCHEMA, mask=mask, rules={"age": (">", 70)})
    assert table["age__sensitive"].to_pylist() == [True, True, True, False]
    assert schema.flags == {"age": "age__sensitive"}
    assert "job__sensitive" not in table.column_names
    assert PEOPLE.column_names == ["name", "age", "job", "born"]


def test_the_same_kind_of_dataframe_comes_back():
    frame = PEOPLE.to_pandas().set_index(pd.Index([5, 6, 7, 8]))
    flagged, _ = mark_sensitive_cells(frame, SCHEMA, rules={"job": ["judge"]})
    assert flagged.index.tolist() == [5, 6, 7, 8]
    assert flagged["job__sensitive"].tolist() == [True, False, True, False]
    assert "job__sensitive" not in frame.columns
    flagged, _ = mark_sensitive_cells(
        pl.from_arrow(PEOPLE), SCHEMA, mask=pl.DataFrame({"job": [True, False, True, False]})
    )
    assert isinstance(flagged, pl.DataFrame)
    assert flagged["job__sensitive"].to_list() == [True, False, True, False]


def test_what_was_flagged_can_be_protected():
    table, schema = mark_sensitive_cells(
        PEOPLE, SCHEMA, rules={"job": ["judge", "clerk"]}, mask=pa.table({"job": [False] * 3 + [True]})
    )
    release = anonymize(table, schema, [FrequencyLDiversity(l=2, sensitive="job")], LocalAnatomy(), seed=1)
    assert release.audit.holds
    assert "job__sensitive" not in release.frame.column_names


BAD = [
    ({"mask": pa.table({"age": [True, False]})}, "The mask has 2 rows but the table has 4"),
    ({"mask": pa.table({"age": [1, 0, 1, 0]})}, "Column 'age' of the mask must be true or false"),
    ({"mask": pa.table({"age": [True, None, True, True]})}, "Column 'age' of the mask must be true or false"),
    ({"mask": pa.table({"ages": [True] * 4})}, "did you mean 'age'"),
    ({"mask": pa.table({"name": [True] * 4})}, "because its role is not quasi or sensitive"),
    ({"mask": pa.table({"age": [False] * 4})}, "No cell is flagged"),
    ({}, "No cell is flagged"),
    ({"rules": {"born": (">", date(2020, 1, 1))}}, "No cell is flagged"),
    ({"rules": {"job": ["judge", "jugde"]}}, "lists 1 values that are not in the column"),
    ({"rules": {"job": ["judge", None]}}, "lists a missing value"),
    ({"rules": {"job": [["judge"]]}}, "lists something that cannot be a value"),
    ({"rules": {"job": []}}, "must be a list of values or a comparison"),
    ({"rules": {"job": "judge"}}, "must be a list of values or a comparison"),
    ({"rules": {"age": ("~", 5)}}, "must be a list of values or a comparison"),
    ({"rules": {"age": (">", "old")}}, "The rule for 'age' cannot be compared"),
    ({"rules": {"age": (">", date(2020, 1, 1))}}, "The rule for 'age' cannot be compared"),
    ({"rules": {"job": (">", 5)}}, "The rule for 'job' cannot be compared"),
    ({"rules": ["age"]}, "The rules must be a mapping"),
]


@pytest.mark.parametrize(("given", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_flags_of_a_wrong_shape_or_type_are_refused_without_telling_a_value(given, sentence):
    with pytest.raises(SchemaError, match=sentence) as refused:
        mark_sensitive_cells(PEOPLE, SCHEMA, **given)
    assert "judge" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_an_attribute_is_not_flagged_twice():
    table, schema = mark_sensitive_cells(PEOPLE, SCHEMA, rules={"age": (">", 65)})
    with pytest.raises(SchemaError, match="'age' already has flags"):
        mark_sensitive_cells(table, schema, rules={"age": (">", 20)})
    with pytest.raises(SchemaError, match="'age' already has flags"):
        mark_sensitive_cells(table, SCHEMA, rules={"age": (">", 20)})
