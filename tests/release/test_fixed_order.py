"""Rows are searched in an order that their cells give, whatever order they came in."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from sfumato.io._columns import strip_metadata
from sfumato.io._values import compute_table_digest
from sfumato.schema.schema import Schema
from sfumato.tables._pipeline import apply
from sfumato.tables._pipeline.apply import canonical_order, in_canonical_order

SCHEMA = Schema(identifiers=["name"], quasi_identifiers=["job", "age"], sensitive=["disease"])
DISTINCT = {"name": [None, *"dcba"], "job": [None, "", "b", "a"], "age": [3, 1, None], "disease": ["x", None, "y"]}


def table_of(rows, chunks):
    rng = np.random.default_rng(rows)
    table = pa.table(
        {name: pa.array([of[at] for at in rng.integers(0, len(of), rows)]) for name, of in DISTINCT.items()}
    )
    size = max(1, -(-rows // chunks))
    parts = [table.slice(begin, size) for begin in range(0, rows, size)]
    return pa.concat_tables(parts or [table])


@pytest.mark.parametrize("most", [apply.MOST_BYTES, 1])
@pytest.mark.parametrize(("rows", "chunks"), [(0, 1), (1, 1), (50, 1), (50, 7), (30_000, 3)])
def test_texts_that_move_as_codes_are_the_same_texts(rows, chunks, most):
    table = table_of(rows, chunks)
    with patch.object(apply, "MOST_BYTES", most):
        order, ordered = in_canonical_order(table, SCHEMA)
    assert np.array_equal(order, canonical_order(table, SCHEMA))
    assert strip_metadata(ordered).equals(table.drop_columns(["name"]).take(pa.array(order)))


@pytest.mark.parametrize(("rows", "chunks"), [(50, 7), (30_000, 3)])
def test_coded_columns_look_as_if_they_were_coded_in_their_new_order(rows, chunks):
    _, ordered = in_canonical_order(table_of(rows, chunks), SCHEMA)
    assert all(pa.types.is_dictionary(column.type) for column in ordered.columns)
    anew = strip_metadata(ordered)
    for name in ordered.column_names:
        assert ordered[name].chunk(0).dictionary.equals(anew[name].combine_chunks().dictionary_encode().dictionary)
    assert compute_table_digest(ordered) == compute_table_digest(anew)


def test_a_part_of_coded_columns_has_the_fingerprint_of_its_cells():
    _, ordered = in_canonical_order(table_of(300, 3), SCHEMA)
    some = ordered.take(pa.array([250, 7, 7, 180]))
    assert (
        compute_table_digest(some)
        == compute_table_digest(strip_metadata(some))
        != compute_table_digest(strip_metadata(ordered))
    )


def test_the_order_that_rows_came_in_has_no_effect():
    table = table_of(200, 3).drop_columns(["name"])
    mixed = table.take(pa.array(np.random.default_rng(0).permutation(200)))
    assert in_canonical_order(mixed, SCHEMA)[1].equals(in_canonical_order(table, SCHEMA)[1])
