"""A table in DuckDB has the canonical values that it would have in memory, and is counted and written by them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import odd_columns
from tests.drawn_examples import examples
from tests.odd_columns import DAY, MOMENT, rule_on
from tests.strategies import tables

from sfumato.errors import ReadError, SchemaError
from sfumato.io._dataframes import to_canonical
from sfumato.tables.engines._duckdb_source import DuckDBSource
from sfumato.tables.engines._duckdb_sql import select_parquet
from sfumato.tables.engines._source import (
    GROUP,
    NOWHERE,
    WEIGHT,
    CombinationRecoding,
    TablePiece,
    TooManyCombinationsError,
    ValueMapping,
)

COLUMNS = {**odd_columns.COLUMNS, "fine moments": pa.array([DAY, MOMENT, None], pa.timestamp("ns"))}
REFUSED = {**odd_columns.REFUSED, "fine": pa.array([1, 2], pa.timestamp("ns"))}


def silent(_: float) -> None:
    pass


def opened(table: pa.Table, folder, zones=None) -> DuckDBSource:
    file = folder / "table.parquet"
    pq.write_table(table, file)
    return DuckDBSource(select_parquet([file]), memory=10**8, temporary=folder, zones=zones)


@pytest.mark.parametrize("name", COLUMNS)
def test_types_and_values_are_canonical(name, tmp_path):
    table = pa.table({"column": COLUMNS[name]})
    source, expected = opened(table, tmp_path), to_canonical(table)["column"]
    column = source.profile(["column"], ["column"]).column("column")
    assert column.type == expected.type
    assert column.missing == expected.null_count
    found = source.count(["column"], 10, silent)
    cells = Counter(dict(zip(found["column"].to_pylist(), found[WEIGHT].to_pylist(), strict=True)))
    assert cells == Counter(expected.to_pylist())
    assert found["column"].type == expected.type


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_published_is_refused_without_its_values(name, tmp_path):
    source = opened(pa.table({"column": REFUSED[name]}), tmp_path)
    with pytest.raises(SchemaError, match="Column 'column'"):
        source.profile(["column"], ["column"])


@given(table=tables(missing=True, most_rows=40))
@examples(15)
def test_combinations_are_counted_as_often_as_they_occur(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("source")
    source = opened(table, folder)
    names = table.column_names[:3]
    source.profile(table.column_names, names)
    expected = Counter(tuple(row.values()) for row in to_canonical(table).select(names).to_pylist())
    whole = source.count(names, 100, silent)
    pieces = [source.count(names, 100, silent, TablePiece(at, 3, tuple(names[:1]))) for at in range(3)]
    for found in (whole, pa.concat_tables(pieces)):
        rows = found.select(names).to_pylist()
        counted = Counter()
        for row, weight in zip(rows, found[WEIGHT].to_pylist(), strict=True):
            counted[tuple(row.values())] += weight
        assert counted == expected
    firsts = [set(piece[names[0]].to_pylist()) for piece in pieces]
    assert sum(map(len, firsts)) == len(set().union(*firsts))


@pytest.mark.parametrize("name", COLUMNS)
def test_values_of_every_type_are_looked_up_and_keep_it(name, tmp_path):
    source = opened(pa.table({"column": COLUMNS[name], "other": pa.array(range(len(COLUMNS[name])))}), tmp_path)
    kind = source.profile(["column", "other"], ["column"]).column("column").type
    values = source.values("column")
    everything = pa.concat_arrays([values, pa.nulls(1, values.type)])
    looked_up = source.with_mapping(
        {"column": ValueMapping(everything, pa.concat_arrays([everything[:1]] * len(everything)))}
    )
    found = looked_up.count(["column"], 10, silent)
    assert found["column"].type == kind
    assert found["column"].to_pylist() == everything[:1].to_pylist()
    assert found[WEIGHT].to_pylist() == [len(COLUMNS[name])]
    assert source.count(["column"], 10, silent).num_rows == len(set(canonical_cells(source)))


def canonical_cells(source):
    return [cell for batch in source.batches(["column"], silent) for cell in batch.column(0).to_pylist()]


def test_rows_without_a_look_up_are_left_out_and_all_others_stay(tmp_path):
    source = opened(pa.table({"x": [1, 2, 2, None, 3], "y": ["a", "b", "c", "d", None]}), tmp_path)
    source.profile(["x", "y"], ["x", "y"])
    looked_up = source.with_mapping({"x": ValueMapping(pa.array([1, 2, None]), pa.array([2, 2, None]))})
    found = looked_up.count(["x", "y"], 10, silent)
    cells = Counter(zip(found["x"].to_pylist(), found["y"].to_pylist(), strict=True))
    assert cells == Counter([(2, "a"), (2, "b"), (2, "c"), (None, "d")])


@given(table=tables(missing=True, most_rows=40), size=st.integers(1, 6))
@examples(10)
def test_rows_in_small_groups_are_counted(table, size, tmp_path_factory):
    source, names = opened(table, tmp_path_factory.mktemp("source")), table.column_names[:2]
    source.profile(table.column_names, names)
    cells = Counter(zip(*(to_canonical(table)[name].to_pylist() for name in names), strict=True))
    assert source.count_in_small_groups(size, names) == sum(many for many in cells.values() if many < size)
    assert source.count_in_small_groups(size, []) == (table.num_rows if table.num_rows < size else 0)


def test_too_many_combinations_are_refused(tmp_path):
    source = opened(pa.table({"a": list(range(100))}), tmp_path)
    source.profile(["a"], ["a"])
    with pytest.raises(TooManyCombinationsError):
        source.count(["a"], 99, silent)


def test_rows_are_recoded_and_ordered_and_nothing_is_carried_along(tmp_path):
    ages, jobs = [31, 39, None, 31, 77], ["b", "a", None, None, "only the suppressed"]
    source = opened(pa.table({"age": ages, "job": jobs}), tmp_path)
    source.profile(["age", "job"], ["age"], ["job"])
    rule = rule_on(pa.table({"age": [31, 39, None, 77]}), [0, 0, 1, NOWHERE], ["[30, 40)", "?"], ["age", "job"])
    written = source.write(rule, tmp_path / "parts", silent)
    table = pq.read_table(tmp_path / "parts" / written.parts[0])
    assert table.to_pylist() == [
        {"age": "[30, 40)", "job": "a"},
        {"age": "[30, 40)", "job": "b"},
        {"age": "[30, 40)", "job": None},
        {"age": "?", "job": None},
    ]
    file = pq.ParquetFile(tmp_path / "parts" / written.parts[0], read_dictionary=["job"])
    assert file.read()["job"].chunk(0).dictionary.to_pylist() == ["a", "b"]
    assert file.schema_arrow.metadata is None
    again = source.written(tmp_path / "parts")
    again.profile(["age", "job"], ["age"], ["job"])
    by_rows = source.digest(rule), again.digest_written(rule)
    for each in (source, again):
        each.count(["age"], 10, silent)
    assert by_rows[0] == by_rows[1] == source.digest(rule) == again.digest_written(rule)


def test_digests_tell_a_changed_row(tmp_path):
    source = opened(pa.table({"age": [31, 39], "job": ["a", "b"]}), tmp_path)
    source.profile(["age", "job"], ["age"])
    rule = rule_on(pa.table({"age": [31, 39]}), [0, 0], ["[30, 40)"], ["age", "job"])
    (tmp_path / "parts").mkdir()
    swapped = pa.table({"age": ["[30, 40)"] * 2, "job": ["a", "a"]})
    pq.write_table(swapped, tmp_path / "parts" / "part.parquet")
    changed = source.written(tmp_path / "parts")
    changed.profile(["age", "job"], ["age"], ["job"])
    assert source.digest(rule) != changed.digest_written(rule)


def test_a_table_that_changes_meanwhile_is_noticed(tmp_path):
    source = opened(pa.table({"age": [31, 39], "job": ["a", "b"]}), tmp_path)
    source.profile(["age", "job"], ["age"])
    rule = rule_on(pa.table({"age": [31]}), [0], ["[30, 40)"], ["age", "job"])
    with pytest.raises(ReadError, match="changed while it was read"):
        source.write(rule, tmp_path / "parts", silent)


@given(table=tables(missing=True, most_rows=30), seed=st.integers(0, 5))
@examples(8)
def test_the_digest_of_a_table_depends_on_its_rows_and_not_on_their_order(table, seed, tmp_path_factory):
    order = np.random.default_rng(seed).permutation(table.num_rows)
    names = table.column_names
    alike, other = table.take(pa.array(order)), pa.concat_tables([table, table.slice(0, 1)])
    digests = [
        opened(each, tmp_path_factory.mktemp("source")).profile(names, names[:1]).digest
        for each in (table, alike, other)
    ]
    assert digests[0] == digests[1] != digests[2]


def test_files_that_are_damaged_are_told_without_their_content(tmp_path):
    file = tmp_path / "table.parquet"
    file.write_bytes(b"PAR1 secret cells PAR1")
    with pytest.raises(ReadError, match="check its files") as told:
        DuckDBSource(select_parquet([file]), memory=10**8, temporary=tmp_path)
    assert "secret" not in str(told.value)


def test_moments_with_a_zone_are_compared_as_moments(tmp_path):
    moments = pa.array([MOMENT, DAY], pa.timestamp("us", "Europe/Berlin"))
    source = opened(
        pa.table({"at": moments, "seen": moments}), tmp_path, {"at": "Europe/Berlin", "seen": "Europe/Berlin"}
    )
    source.profile(["at", "seen"], ["at"])
    cases = source.count(["at"], 10, silent).select(["at"])
    rule = CombinationRecoding(
        cases=cases.append_column(GROUP, pa.array([0, 1], pa.int32())),
        shown=cases,
        names=("at", "seen"),
        order=(np.argsort(np.argsort(cases["at"].to_numpy())), "seen"),
        records=np.ones(2, dtype=np.int64),
    )
    written = source.write(rule, tmp_path / "parts", silent)
    table = pq.read_table(tmp_path / "parts" / written.parts[0])
    assert table.schema.field("at").type == pa.timestamp("us", "Europe/Berlin")
    assert sorted(table["at"].to_pylist()) == sorted(moments.to_pylist())
    again = source.written(tmp_path / "parts")
    again.profile(["at", "seen"], ["at"], ["seen"])
    assert source.digest(rule) == again.digest_written(rule)
