"""Distinction and separation against their definitions, and the order of the table."""

from __future__ import annotations

from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InvalidParameterError
from sfumato.schema.schema import Schema
from sfumato.tables.risk._record_groups import RecordGroups
from sfumato.tables.risk._separation import measure_separation

CELLS = st.sampled_from(["a", "b", "c", None])
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=12)
QUASI = ("x", "y", "z")


def groups_of(rows):
    table = pa.table({name: pa.array([row[j] for row in rows], pa.string()) for j, name in enumerate(QUASI)})
    return RecordGroups.read(table, Schema(quasi_identifiers=QUASI))


@given(ROWS, st.integers(1, 4))
def test_every_subset_equals_its_definition(rows, largest):
    found = {each.quasi: each for each in measure_separation(groups_of(rows), largest)}
    chosen = [c for size in range(1, min(3, largest) + 1) for c in combinations(range(3), size)]
    assert len(found) == len(chosen)
    for columns in chosen:
        cells = [tuple(row[j] for j in columns) for row in rows]
        pairs = list(combinations(cells, 2))
        each = found[tuple(QUASI[j] for j in columns)]
        assert each.groups == len(set(cells))
        assert each.distinction == pytest.approx(len(set(cells)) / len(rows))
        assert each.separation == pytest.approx(sum(a != b for a, b in pairs) / len(pairs) if pairs else 1)
        assert each.unique_records == sum(cells.count(cell) == 1 for cell in cells)


@given(ROWS)
def test_the_most_separating_comes_first_and_the_smaller_of_equals(rows):
    found = measure_separation(groups_of(rows))
    keys = [(-each.separation, len(each.quasi)) for each in found]
    assert keys == sorted(keys)


def test_more_columns_never_separate_less():
    found = {e.quasi: e for e in measure_separation(groups_of([("a", "b", "c"), ("a", "c", "c"), ("b", "b", "a")]))}
    assert found["x", "y"].separation >= max(found[("x",)].separation, found[("y",)].separation)
    assert found["x", "y", "z"].separation == 1


def test_a_size_that_is_none_is_refused():
    with pytest.raises(InvalidParameterError, match="max_subset"):
        measure_separation(groups_of([("a", "b", "c")]), 0)
