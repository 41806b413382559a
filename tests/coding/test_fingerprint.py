"""Fingerprints: equal for equal content whatever holds it, different for any difference."""

from __future__ import annotations

from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.io._dataframes import to_arrow
from sfumato.io._values import compute_table_digest
from strategies import tables

CELLS = st.none() | st.sampled_from(["", "a", "b", "a\0b", "\0", "\1\0\0\0a", "ab"])


@given(tables(missing=True))
def test_frames_of_every_kind_have_one_fingerprint(table):
    polars = pytest.importorskip("polars")
    pytest.importorskip("pandas")
    expected = compute_table_digest(to_arrow(table)[0])
    assert compute_table_digest(to_arrow(table.to_pandas(date_as_object=False))[0]) == expected
    assert compute_table_digest(to_arrow(polars.from_arrow(table))[0]) == expected


def test_chunks_and_dictionaries_do_not_matter():
    plain = pa.table({"a": ["x", "y", None, "x"]})
    chunked = pa.table({"a": pa.chunked_array([["x"], ["y", None], [], ["x"]], pa.string())})
    encoded = pa.table({"a": pa.array(["x", "y", None, "x"]).dictionary_encode()})
    assert compute_table_digest(plain) == compute_table_digest(chunked) == compute_table_digest(to_arrow(encoded)[0])


def test_fingerprints_that_were_recorded_stay_what_they_were():
    # Recipes name the table that they were run on by these numbers.
    nothing = pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.int64())})
    missing = pa.table({"a": pa.array([None, None], pa.string())})
    cut = pa.table({"a": pa.array(["", "\u00fc", "x"], pa.string()).slice(1)})
    assert [compute_table_digest(table)[:16] for table in (nothing, missing, cut)] == [
        "7700ef94e811fcf4",
        "a43285ca307bae64",
        "9cf4361022a4fe65",
    ]


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=2, max_size=6, unique_by=tuple))
def test_different_cells_have_different_fingerprints(columns):
    prints = [compute_table_digest(pa.table({"x": pa.array(column, pa.string())})) for column in columns]
    assert len(set(prints)) == len(columns)


@given(st.lists(CELLS, min_size=4, max_size=4), st.lists(CELLS, min_size=4, max_size=4))
def test_cells_that_move_between_columns_change_the_fingerprint(left, right):
    one = pa.table({"x": pa.array(left, pa.string()), "y": pa.array(right, pa.string())})
    other = pa.table({"x": pa.array(right, pa.string()), "y": pa.array(left, pa.string())})
    assert (compute_table_digest(one) == compute_table_digest(other)) == (left == right)


def test_content_that_looks_like_a_separator_does_not_hide_a_difference():
    variants = [
        pa.table({"x": ["a\0b", None]}),
        pa.table({"x": ["a", "b"]}),
        pa.table({"x": ["ab", None]}),
        pa.table({"x": ["a", "b\0"]}),
        pa.table({"x": ["\1\0\0\0a", None]}),
        pa.table({"x": ["1", "2"]}),
        pa.table({"x": [1, 2]}),
        pa.table({"x": [1.5, 2.0]}),
        pa.table({"x": [True, False]}),
        pa.table({"x": ["true", "false"]}),
        pa.table({"x string 2 1 ": ["a", None]}),
        pa.table({"x": ["a", None]}),
        pa.table({"x": ["a", None], "y": [1, 1]}),
        pa.table({"x": ["a"], "y": [1]}),
        pa.table({"x": [None, "a"]}),
    ]
    for one, other in combinations(variants, 2):
        assert compute_table_digest(one) != compute_table_digest(other)


def test_row_order_and_column_names_matter():
    table = pa.table({"x": ["a", "b"], "y": [1, 2]})
    assert compute_table_digest(table) != compute_table_digest(table.take([1, 0]))
    assert compute_table_digest(table) != compute_table_digest(table.rename_columns(["x", "z"]))
    assert compute_table_digest(table) != compute_table_digest(table.select(["y", "x"]))
