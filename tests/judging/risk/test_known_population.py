"""Persons of a known population: by equal cells, by what cells cover, and refusals."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.schema.schema import Schema
from sfumato.tables.risk._population_uniques import count_population
from sfumato.tables.risk._record_groups import RecordGroups

EVERYBODY = pa.table({"age": [21, 25, 29, 31, 38, 44, 45, 46], "zip": ["53715"] * 4 + ["53703"] * 4})
SCHEMA = Schema(quasi_identifiers=["age", "zip"], hierarchies={"zip": sf.hierarchies.Prefixes()})


def by_record(groups, found):
    return found.by_group[groups.grouped.labels].tolist()


def test_a_raw_table_finds_its_persons_by_equal_cells():
    groups = RecordGroups.read(EVERYBODY.slice(2, 3), SCHEMA)
    found = count_population(groups, EVERYBODY, SCHEMA)
    assert by_record(groups, found) == [1, 1, 1]
    assert found.uniques == 8


def test_a_generalized_table_finds_the_persons_whom_its_cells_cover():
    published = pa.table({"age": ["[20, 30)", "[20, 30)", "[40, 50)"], "zip": ["537**", "537**", "5370*"]})
    groups = RecordGroups.read(published, SCHEMA)
    found = count_population(groups, EVERYBODY, SCHEMA)
    assert by_record(groups, found) == [3, 3, 3]
    assert found.uniques == 0
    assert found.size == 8


def test_a_generalized_table_and_a_population_recoded_alike_are_compared_cell_by_cell():
    published = pa.table({"age": ["20-30", "30-40"], "zip": ["537**", "*"]})
    population = pa.table({"age": ["20-30", "20-30", "30-40"], "zip": ["537**", "537**", "*"]})
    groups = RecordGroups.read(published, SCHEMA)
    assert by_record(groups, count_population(groups, population, SCHEMA)) == [2, 1]


def test_a_population_with_fewer_records_is_refused():
    groups = RecordGroups.read(EVERYBODY, SCHEMA)
    with pytest.raises(InvalidParameterError, match="The population has 5 records, fewer than the table's 8"):
        count_population(groups, EVERYBODY.slice(0, 5), SCHEMA)


def test_a_population_without_the_tables_persons_is_refused():
    groups = RecordGroups.read(pa.table({"age": [99, 25], "zip": ["00000", "53715"]}), SCHEMA)
    with pytest.raises(InvalidParameterError, match="fewer records than the table in 1 of 2 groups") as refused:
        count_population(groups, EVERYBODY, SCHEMA)
    assert "00000" not in str(refused.value)


def test_a_population_that_lacks_a_column_is_refused():
    groups = RecordGroups.read(EVERYBODY, SCHEMA)
    with pytest.raises(SchemaError, match="The population has no column 'zip'"):
        count_population(groups, EVERYBODY.drop_columns(["zip"]), SCHEMA)
