"""Rows are searched in an order that their cells give, whatever order they came in."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from sfumato.release import applying
from sfumato.release.applying import fixed_order, in_fixed_order
from sfumato.schema.schema import Schema

SCHEMA = Schema(identifier=["name"], quasi=["job", "age"], sensitive=["disease"])
DISTINCT = {"name": [None, *"dcba"], "job": [None, "", "b", "a"], "age": [3, 1, None], "disease": ["x", None, "y"]}


def table_of(rows, chunks):
    rng = np.random.default_rng(rows)
    table = pa.table(
        {name: pa.array([of[at] for at in rng.integers(0, len(of), rows)]) for name, of in DISTINCT.items()}
    )
    size = max(1, -(-rows // chunks))
    parts = [table.slice(begin, size) for begin in range(0, rows, size)]
    return pa.concat_tables(parts or [table])


@pytest.mark.parametrize("most", [applying.MOST_BYTES, 1])
@pytest.mark.parametrize(("rows", "chunks"), [(0, 1), (1, 1), (50, 1), (50, 7), (30_000, 3)])
def test_texts_that_move_as_codes_are_the_same_texts(rows, chunks, most):
    table = table_of(rows, chunks)
    with patch.object(applying, "MOST_BYTES", most):
        order, ordered = in_fixed_order(table, SCHEMA)
    assert np.array_equal(order, fixed_order(table, SCHEMA))
    assert ordered.schema == table.schema
    assert ordered.equals(table.take(pa.array(order)))


def test_the_order_that_rows_came_in_has_no_effect():
    table = table_of(200, 3).drop_columns(["name"])
    mixed = table.take(pa.array(np.random.default_rng(0).permutation(200)))
    assert in_fixed_order(mixed, SCHEMA)[1].equals(in_fixed_order(table, SCHEMA)[1])
