"""Groups of equal records: suppressed rows, missing cells, and who else a record can be taken for."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import SchemaError
from sfumato.schema.schema import Schema
from sfumato.tables.risk._record_groups import RecordGroups

CELLS = st.sampled_from(["a", "b", None])
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=14)
QUASI = ("x", "y", "z")


def frame(rows):
    return pa.table({name: pa.array([row[j] for row in rows], pa.string()) for j, name in enumerate(QUASI)})


def matches(one, other):
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def by_record(groups, values):
    return values[groups.grouped.labels].tolist()


@given(ROWS)
def test_groups_are_records_with_equal_cells(rows):
    groups = RecordGroups.read(frame(rows), Schema(quasi_identifiers=QUASI))
    assert by_record(groups, groups.sizes) == [rows.count(row) for row in rows]
    assert groups.candidates is groups.sizes


def worst_matches(mine, others):
    """Count the records that the person of one may be, if nobody else has what its missing cells would say."""
    hollow = all(cell is None for cell in mine)
    return sum(
        all(b is None or a == b for a, b in zip(mine, other, strict=True))
        and (hollow or any(cell is not None for cell in other))
        for other in others
    )


@given(ROWS)
def test_candidates_are_those_of_the_worst_that_missing_cells_may_be(rows):
    groups = RecordGroups.read(frame(rows), Schema(quasi_identifiers=QUASI, missing="matches-all"))
    assert by_record(groups, groups.candidates) == [worst_matches(row, rows) for row in rows]


@given(ROWS, ROWS)
def test_persons_of_a_population_are_counted_by_equal_cells(rows, others):
    schema = Schema(quasi_identifiers=QUASI)
    groups, population = RecordGroups.read(frame(rows), schema), RecordGroups.read(frame(others), schema)
    assert by_record(groups, groups.counted_in(population)) == [others.count(row) for row in rows]


@given(ROWS, ROWS)
def test_persons_of_a_population_are_counted_by_matching_cells(rows, others):
    schema = Schema(quasi_identifiers=QUASI, missing="matches-all")
    groups, population = RecordGroups.read(frame(rows), schema), RecordGroups.read(frame(others), schema)
    expected = [sum(matches(row, other) for other in others) for row in rows]
    assert by_record(groups, groups.counted_in(population)) == expected


def test_values_that_only_the_population_has_match_missing_cells_alone():
    schema = Schema(quasi_identifiers=["x", "y"], missing="matches-all")
    sample = RecordGroups.read(pa.table({"x": [1, 2], "y": pa.array([None, "a"], pa.string())}), schema)
    population = RecordGroups.read(pa.table({"x": [1, 2, 1], "y": ["c", "c", "d"]}), schema)
    assert by_record(sample, sample.counted_in(population)) == [2, 0]


def test_cells_are_compared_as_texts_whatever_their_type():
    schema = Schema(quasi_identifiers=["age"])
    numbers = RecordGroups.read(pa.table({"age": [30, 40]}), schema)
    texts = RecordGroups.read(pa.table({"age": ["30", "30", "50", "40"]}), schema)
    assert by_record(numbers, numbers.counted_in(texts)) == [2, 1]


def test_rows_that_are_suppressed_everywhere_are_left_out():
    table = pa.table({"x": ["*", "a", "a", "**", "*"], "y": ["*", "b", "b", "*", "b"]})
    groups = RecordGroups.read(table, Schema(quasi_identifiers=["x", "y"]))
    assert groups.suppressed == 2
    assert groups.rows.tolist() == [1, 2, 4]
    assert sorted(groups.sizes.tolist()) == [1, 2]


def test_cells_in_buckets_link_nobody():
    table = pa.table({"x": ["a", "a", "a"], "y": ["b", "c", "d"], "_bucket_y": [1, 1, None]})
    groups = RecordGroups.read(table, Schema(quasi_identifiers=["x", "y"]))
    assert by_record(groups, groups.sizes) == [2, 2, 1]


@given(ROWS)
def test_unions_count_records_that_agree_on_some_columns(rows):
    groups = RecordGroups.read(frame(rows), Schema(quasi_identifiers=QUASI))
    labels, sizes = groups.merge([0, 2])
    assert by_record(groups, sizes[labels]) == [sum((o[0], o[2]) == (r[0], r[2]) for o in rows) for r in rows]


@pytest.mark.parametrize(
    ("table", "schema", "sentence"),
    [
        (
            pa.table({"zip": ["1"]}),
            Schema(quasi_identifiers=["zipp"]),
            "The table has no column 'zipp'; did you mean 'zip'?",
        ),
        (pa.table({"zip": ["1"]}), Schema(), "The schema has no quasi-identifier"),
        (pa.table({"zip": pa.array([], pa.string())}), Schema(quasi_identifiers=["zip"]), "The table has no rows"),
        (pa.table({"zip": ["*", "*"]}), Schema(quasi_identifiers=["zip"]), "All 2 rows of the table are suppressed"),
    ],
)
def test_tables_without_anybody_at_risk_are_refused(table, schema, sentence):
    with pytest.raises(SchemaError, match=sentence.replace("?", r"\?")):
        RecordGroups.read(table, schema)


def test_one_row_is_a_group():
    assert RecordGroups.read(pa.table({"x": [1]}), Schema(quasi_identifiers=["x"])).sizes.tolist() == [1]


def test_groups_of_many_wide_columns_do_not_overflow():
    rng = np.random.default_rng(5)
    columns = {f"c{j}": rng.integers(0, 2**40, 50) for j in range(12)}
    groups = RecordGroups.read(pa.table(columns), Schema(quasi_identifiers=list(columns)))
    assert len(groups.sizes) == 50
