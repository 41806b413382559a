"""A published table is read as a stranger would: equal cells make a group, whatever types they have."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import SchemaError
from sfumato.schema.schema import Schema
from sfumato.tables.published.published_table import PublishedTable, read_bucket_numbers
from sfumato.tables.published.solution import NOT_PUBLISHED
from strategies import CELLS, tables

SCHEMA = Schema(identifiers=["name"], quasi_identifiers=["age", "sex"], sensitive=["disease"])
TABLE = pa.table({"age": ["[20, 30)", "*", "[20, 30)"], "sex": ["F", None, "F"], "disease": ["flu", "flu", "cold"]})


@given(tables(["age", "income", "born", "member", "zip"], missing=True))
def test_groups_are_records_with_equal_texts(table):
    read = PublishedTable.read(table, Schema(quasi_identifiers=table.column_names))
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    sizes = Counter(rows)
    assert read.grouped.counts[read.grouped.labels].tolist() == [sizes[row] for row in rows]
    for column, name in zip(read.columns, table.column_names, strict=True):
        shown = [column.texts[code] for code in column.codes]
        assert [text is None for text in shown] == [value is None for value in table[name].to_pylist()]


@given(tables(["zip", "age"], missing=True, least_rows=2), st.randoms(use_true_random=False))
def test_chunks_and_dictionaries_change_nothing(table, random):
    cut = random.randrange(table.num_rows)
    pieces = pa.concat_tables([table.slice(0, cut), table.slice(cut)])
    coded = pieces.set_column(0, "zip", pieces["zip"].dictionary_encode())
    schema = Schema(quasi_identifiers=table.column_names)
    whole = PublishedTable.read(table, schema)
    for other in (pieces, coded):
        read = PublishedTable.read(other, schema)
        assert sorted(read.grouped.counts) == sorted(whole.grouped.counts)
        for mine, theirs in zip(read.columns, whole.columns, strict=True):
            assert [mine.texts[c] for c in mine.codes] == [theirs.texts[c] for c in theirs.codes]


def test_every_group_shows_its_text():
    read = PublishedTable.read(TABLE, SCHEMA)
    for column in read.columns:
        shown = np.array(column.texts, dtype=object)
        assert shown[read.by_group(column)][read.grouped.labels].tolist() == TABLE[column.name].to_pylist()


def test_a_cell_that_stands_in_a_bucket_says_nothing_about_its_record():
    read = PublishedTable.read(TABLE.append_column("_bucket_age", pa.array([None, 4, 4])), SCHEMA)
    age = read.columns[0]
    assert [age.texts[code] for code in age.codes] == ["[20, 30)", "*", "*"]


@pytest.mark.parametrize("junk", ["-", " ", "*", "None", "NaN", "01", "1.5", "-1"])
@pytest.mark.parametrize("name", ["age", "disease"])
def test_what_is_no_bucket_number_is_refused_and_empty_means_linked(name, junk):
    column = f"_bucket_{name}"
    strange = TABLE.append_column(column, pa.array(["1", junk, junk]))
    with pytest.raises(SchemaError, match=f"'{column}' holds 1 different values that are no bucket numbers"):
        read_bucket_numbers(strange, name)
    linked = read_bucket_numbers(TABLE.append_column(column, pa.array(["1", None, None])), name)
    assert linked.tolist() == [0, NOT_PUBLISHED, NOT_PUBLISHED]


@pytest.mark.parametrize("buckets", [[1, -1, -1], [0.5, 1.5, 1.5], [True, False, False]])
def test_buckets_are_numbered_from_0_on(buckets):
    with pytest.raises(SchemaError, match="values that are no bucket numbers; number buckets from 0 on"):
        read_bucket_numbers(TABLE.append_column("_bucket_age", pa.array(buckets)), "age")


def test_nothing_stands_in_buckets_without_numbers():
    empty = TABLE.append_column("_bucket_age", pa.nulls(3, pa.string()))
    assert read_bucket_numbers(empty, "age").tolist() == [NOT_PUBLISHED] * 3


def test_stars_in_a_column_are_told():
    read = PublishedTable.read(TABLE, SCHEMA)
    assert [column.mask_suppressed().tolist() for column in read.columns] == [
        [False, True, False],
        [False, False, False],
    ]


def test_without_quasi_identifiers_all_records_are_one_group():
    read = PublishedTable.read(TABLE, Schema(sensitive=["disease"]))
    assert len(read.grouped) == 1
    assert read.grouped.counts.tolist() == [3]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (TABLE.drop(["sex"]), "The published table has no column 'sex'."),
        (
            TABLE.rename_columns(["agee", "sex", "disease"]),
            "The published table has no column 'age'; did you mean 'agee'?",
        ),
        (TABLE.drop(["disease"]), "The published table has no column 'disease'."),
        (TABLE.append_column("name", pa.array(["x", "y", "z"])), "still has the identifier 'name'; drop that column."),
        (TABLE.slice(0, 0), "has no rows; there is nothing to audit."),
    ],
)
def test_tables_that_cannot_be_judged_are_refused(table, sentence):
    with pytest.raises(SchemaError, match=sentence):
        PublishedTable.read(table, SCHEMA)


def test_no_representation_shows_a_cell():
    read = PublishedTable.read(TABLE, SCHEMA)
    shown = repr(read) + repr(read.columns) + repr(read.columns[0].coverage)
    assert not any(text in shown for text in ("[20", "30)", "flu"))


def test_strategies_cover_every_type_of_column():
    assert {str(kind) for kind, _ in CELLS.values()} == {"int64", "double", "date32[day]", "string", "bool"}
