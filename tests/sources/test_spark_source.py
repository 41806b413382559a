"""A table in Spark has the canonical values that it would have in memory, and is released as in memory.

One session serves all tests. Its time zone has a gap at 02:30 on 8 March 2026, a moment that naive tables may hold.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest
from tests import odd_columns
from tests.odd_columns import MOMENT, rule_on
from tests.spark_sessions import session_on
from tests.spark_tables import RECIPE, SCHEMA, SEGMENTS, check_counted, check_segmented, people, read, released, rows_of

import sfumato as sf
from sfumato.errors import InvalidParameterError, ReadError, SchemaError, SfumatoError, WriteError
from sfumato.io._columns import strip_metadata
from sfumato.io._dataframes import to_canonical
from sfumato.tables.engines import _spark_source, _spark_workers
from sfumato.tables.engines._source import NOWHERE, WEIGHT, TablePiece, TooManyCombinationsError, ValueMapping
from sfumato.tables.engines._spark_source import SparkSource, collect_parts
from sfumato.tables.out_of_core._levels import LevelCounts

pytestmark = pytest.mark.spark

COLUMNS = {
    **odd_columns.COLUMNS,
    "wide decimals": pa.array([Decimal("1.25"), Decimal("-0.000000001"), None], pa.decimal128(38, 18)),
    "large whole decimals": pa.array([Decimal(2**60), Decimal(-1), None], pa.decimal128(38, 18)),
}
REFUSED = {
    **odd_columns.REFUSED,
    "long decimals": pa.array([Decimal("0.12345678901234567"), None], pa.decimal128(38, 18)),
}
DEPTHS = {
    "Mondrian": (sf.algorithms.Mondrian(), (sf.models.KAnonymity(k=5),), 0.0),
    "Mondrian, l-diversity": (sf.algorithms.Mondrian(), (sf.models.DistinctLDiversity(l=2, sensitive="disease"),), 0.0),
    "Datafly": (sf.algorithms.Datafly(), (sf.models.KAnonymity(k=3),), 0.2),
}


@pytest.fixture(scope="module")
def spark():
    with session_on("local[2]") as session:
        yield session


def opened(frame) -> SparkSource:
    return SparkSource(frame, temporary=Path("unused"))


def silent(_: float) -> None:
    pass


@pytest.mark.parametrize("name", DEPTHS)
def test_rows_and_their_order_are_those_of_memory(name, spark, tmp_path):
    algorithm, models, share = DEPTHS[name]
    table = people(1000).select(["disease", "sex", "age", "since", "job", "score"])  # a kept column comes first
    recipe = replace(RECIPE, models=models, algorithm=algorithm, max_suppressed=share)
    expected = sf.run_recipe(recipe, table)
    found = sf.run_recipe(recipe, read(spark, table, tmp_path / "in", parts=2), out=tmp_path / "release")
    assert isinstance(found, sf.StoredRelease)
    assert rows_of(found).equals(strip_metadata(expected.published))
    assert found.audit.holds
    assert found.audit.to_dict()["levels"] == expected.audit.to_dict()["levels"]
    assert found.proof == expected.proof
    assert found.suppressed == expected.suppressed
    assert found.passage.engine == f"spark {pyspark.__version__}"


def test_workers_write_parts_in_their_order(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(_spark_source, "ROWS_PER_PART", 100)
    table, odd = people(600), tmp_path / "age=1 [é],{x}*\\%20?"  # nothing of it is a pattern, a code or a column
    odd.mkdir()
    found = released(read(spark, table, tmp_path / "in", parts=2), odd / "release")
    check_counted(found, table)
    assert len(found.paths) > 4
    frame = found.to_spark(spark)
    assert frame.columns == table.column_names
    assert Counter(frame.toArrow()["age"].to_pylist()) == Counter(rows_of(found)["age"].to_pylist())


def test_segments_hold_the_rows_of_memory(spark, tmp_path):
    table = people(300)
    check_segmented(
        released(read(spark, table, tmp_path / "in", parts=2), tmp_path / "release", limits=SEGMENTS), table
    )


def test_blocks_hold_the_rows_of_memory(spark, tmp_path):
    table, recipe = people(300), replace(RECIPE, algorithm=sf.algorithms.TopDownNCP(), block_rows=100)
    found = released(read(spark, table, tmp_path / "in", parts=2), tmp_path / "release", recipe=recipe)
    assert found.passage.way == "blocked"
    assert found.passage.segments > 2
    by = [(name, "ascending") for name in table.column_names]
    assert rows_of(found).sort_by(by).equals(strip_metadata(sf.run_recipe(recipe, table).published).sort_by(by))


@pytest.mark.parametrize("algorithm", [sf.algorithms.Anatomy(), sf.algorithms.Slicing()], ids=repr)
def test_buckets_hold_the_rows_of_memory_and_are_judged_in_pieces(spark, tmp_path, algorithm):
    models, table = (sf.models.FrequencyLDiversity(l=2, sensitive="disease"),), people(300)
    recipe = replace(RECIPE, algorithm=algorithm, models=models, secret="5f" * 32, block_rows=100)
    frame, few = read(spark, table, tmp_path / "in", parts=2), replace(SEGMENTS, groups=150)
    found = released(frame, tmp_path / "release", recipe=recipe, limits=few)
    assert found.passage.segments > 2
    expected, by = sf.run_recipe(recipe, table), [(name, "ascending") for name in rows_of(found).column_names]
    assert rows_of(found).sort_by(by).equals(strip_metadata(expected.published).sort_by(by))
    assert found.audit.to_dict()["levels"] == expected.audit.to_dict()["levels"]


def test_levels_hold_the_rows_of_memory_in_their_order(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(LevelCounts, "max_combinations", 100)
    table, recipe = people(300), replace(RECIPE, algorithm=sf.algorithms.Datafly(), max_suppressed=0.1)
    found = released(read(spark, table, tmp_path / "in"), tmp_path / "release", recipe=recipe, limits=SEGMENTS)
    assert found.passage.way == "leveled"
    assert found.audit.truth.holds
    expected = sf.run_recipe(recipe, table)
    assert found.suppressed == expected.suppressed
    assert rows_of(found).equals(strip_metadata(expected.published))


def test_values_are_looked_up_and_others_are_left_out(spark, tmp_path):
    at = pa.array([MOMENT, MOMENT, None, MOMENT, MOMENT], pa.timestamp("us"))
    source = opened(read(spark, pa.table({"job": ["b", "a", None, "", "c"], "at": at, "n": range(5)}), tmp_path / "in"))
    source.profile(["job", "at", "n"], ["job"])
    jobs = ValueMapping(pa.array(["b", "a", None]), pa.array(["a", None, "b"]))
    found = source.with_mapping({"job": jobs, "at": ValueMapping(at[1:3], at[:2])})
    counted = found.count(["job", "at"], 10, silent)
    assert sorted(counted.to_pylist(), key=str) == [
        {"job": "a", "at": MOMENT, WEIGHT: 1},
        {"job": "b", "at": MOMENT, WEIGHT: 2},
        {"job": None, "at": MOMENT, WEIGHT: 1},
    ]
    assert [found.count_in_small_groups(size, ["job"]) for size in (1, 2, 3)] == [0, 2, 4]
    assert source.count(["job"], 10, silent).num_rows == 4


def test_types_and_values_are_canonical(spark, tmp_path):
    table = pa.table(COLUMNS)
    source, expected = opened(read(spark, table, tmp_path / "in")), to_canonical(table)
    profile = source.profile(table.column_names, [])
    assert {each.name: each.type for each in profile.columns} == dict(
        zip(expected.column_names, expected.schema.types, strict=True)
    )
    assert [each.missing for each in profile.columns] == [each.null_count for each in expected.columns]
    assert {each.name: each.zone for each in profile.columns if each.zone} == {"zoned": "UTC"}
    found = pa.Table.from_batches(source.batches(table.column_names, silent))
    assert found.to_pydict() == expected.to_pydict()
    assert not any(math.copysign(1, cell) < 0 for cell in found["negative zero"].to_pylist())


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_published_is_refused_without_its_values(name, spark, tmp_path):
    source = opened(read(spark, pa.table({"column": REFUSED[name]}), tmp_path / "in"))
    with pytest.raises(SchemaError, match="Column 'column'"):
        source.profile(["column"], ["column"])


def test_combinations_are_counted_as_often_as_they_occur(spark, tmp_path):
    table = people(200)
    source = opened(read(spark, table, tmp_path / "in"))
    names = ["job", "age", "since"]
    profile = source.profile(table.column_names, names)
    expected = Counter(tuple(row.values()) for row in to_canonical(table).select(names).to_pylist())
    assert profile.combinations == pytest.approx(len(expected), rel=0.2)
    assert source.estimate(names) == pytest.approx(len(expected), rel=0.2)
    whole = source.count(names, 200, silent)
    pieces = [source.count(names, 199, silent, TablePiece(at, 3, ("job",))) for at in range(3)]
    for found in (whole, pa.concat_tables(pieces)):
        counted = Counter()
        for row, weight in zip(found.select(names).to_pylist(), found[WEIGHT].to_pylist(), strict=True):
            counted[tuple(row.values())] += weight
        assert counted == expected
    firsts = [set(piece["job"].to_pylist()) for piece in pieces]
    assert sum(map(len, firsts)) == len(set().union(*firsts))
    with pytest.raises(TooManyCombinationsError):
        source.count(names, len(expected) - 1, silent)
    assert source.count([], 1, silent)[WEIGHT].to_pylist() == [200]
    assert source.values("job").to_pylist() == ["Clerk", "clerk", "z", "émigré"]
    assert source.distinct(["job", "sex"]) == {"job": 4, "sex": 2}
    assert source.distinct([]) == {}


def test_rows_are_recoded_and_ordered_and_nothing_is_carried_along(spark, tmp_path):
    ages, jobs = [31, 39, None, 31, 77], ["b", "a", None, None, "only the suppressed"]
    at = pa.array([MOMENT] * 5, pa.timestamp("us", "Asia/Tokyo"))
    source = opened(read(spark, pa.table({"age": ages, "job": jobs, "at": at}), tmp_path / "in"))
    names = ["age", "job", "at"]
    source.profile(names, ["age"])
    rule = rule_on(pa.table({"age": [31, 39, None, 77]}), [0, 0, 1, NOWHERE], ["[30, 40)", "?"], names)
    written = source.write(rule, tmp_path / "parts", silent)
    assert written.rows == 4
    file = tmp_path / "parts" / written.parts[0]
    table = pq.read_table(file)
    assert table.select(["age", "job"]).to_pylist() == [
        {"age": "[30, 40)", "job": "a"},
        {"age": "[30, 40)", "job": "b"},
        {"age": "[30, 40)", "job": None},
        {"age": "?", "job": None},
    ]
    assert table["at"].cast(pa.timestamp("us")).to_pylist() == [MOMENT] * 4
    assert b"suppressed" not in file.read_bytes()
    again = source.written(tmp_path / "parts")
    again.profile(names, ["age"])
    assert source.digest(rule) == again.digest_written(rule)
    pq.write_table(table.set_column(1, "job", [["a", "a", None, None]]), file)
    changed = source.written(tmp_path / "parts")
    changed.profile(names, ["age"])
    assert source.digest(rule) != changed.digest_written(rule)
    unknown = rule_on(pa.table({"age": [31]}), [0], ["[30, 40)"], names)
    with pytest.raises(ReadError, match="changed while it was read"):
        source.write(unknown, tmp_path / "other", silent)


def test_the_digest_of_a_table_depends_on_its_rows_and_not_on_their_order(spark, tmp_path):
    table = people(50)
    alike = table.take(pa.array(np.random.default_rng(1).permutation(50)))
    score = table["score"].to_pylist()
    other = table.set_column(table.column_names.index("score"), "score", [[score[0] + 1, *score[1:]]])
    digests = [
        opened(read(spark, each, tmp_path / str(at))).profile(table.column_names, ["age"]).digest
        for at, each in enumerate((table, alike, other))
    ]
    assert digests[0] == digests[1] != digests[2]


def test_cells_that_mean_suppressed_are_counted(spark, tmp_path):
    texts = ["*", " ** ", "*\t*\n", "a*", "", None, "**\x85"]
    source = opened(read(spark, pa.table({"job": texts}), tmp_path / "in"))
    assert source.profile(["job"], ["job"]).column("job").stars == 3


def test_workers_with_another_python_are_refused(spark, tmp_path, monkeypatch):
    source = opened(read(spark, pa.table({"age": [1]}), tmp_path / "in"))
    monkeypatch.setattr(spark.sparkContext, "pythonVer", "3.9")
    with pytest.raises(ReadError, match="another version of Python") as told:
        source.profile(["age"], ["age"])
    assert str(told.value).count(".") == 1


@pytest.mark.parametrize(("version", "told"), [("9.9", "another version of Sfumato"), (None, "do not have Sfumato")])
def test_workers_without_the_same_sfumato_are_refused(version, told, spark, tmp_path, monkeypatch):
    source = opened(read(spark, pa.table({"age": [1]}), tmp_path / "in"))
    real = _spark_workers.run_in_workers

    def pretended(frame, function, kinds):
        if kinds == _spark_workers.FOUND:
            nothing = "cast(null AS string)"
            return frame.selectExpr(nothing if version is None else f"'{version}'", nothing)
        return real(frame, function, kinds)

    monkeypatch.setattr(_spark_workers, "run_in_workers", pretended)
    with pytest.raises(ReadError, match=told) as raised:
        source.profile(["age"], ["age"])
    assert str(raised.value).count(". ") == 0


def test_a_folder_that_workers_do_not_see_is_refused_before_any_scan(spark, tmp_path):
    frame = spark.range(10).selectExpr("raise_error('a row was read') AS age")
    source = SparkSource(frame, temporary=tmp_path, folders=[tmp_path, tmp_path / "elsewhere"])
    with pytest.raises(WriteError, match="do not see the folder"):
        source.profile(["age"], ["age"])


def test_a_part_that_the_session_does_not_see_is_refused(tmp_path):
    (tmp_path / "attempt-a").mkdir()
    (tmp_path / "attempt-a" / "part-00000.parquet").write_bytes(b"12345")
    with pytest.raises(WriteError, match="do not see the folder"):
        collect_parts(tmp_path, [(0, 1, "attempt-a/part-00000.parquet", 4)])
    with pytest.raises(WriteError, match="do not see the folder"):
        collect_parts(tmp_path, [(0, 1, "attempt-b/part-00000.parquet", 5)])


def test_a_release_goes_to_an_address_and_comes_back_from_there(spark, tmp_path):
    table, address = people(60), (tmp_path / "stored").as_uri()
    release = sf.run_recipe(RECIPE, read(spark, table, tmp_path / "in"), out=address, temporary=tmp_path)
    assert release.scan().to_table().equals(strip_metadata(sf.run_recipe(RECIPE, table).published))
    assert release.to_spark(spark).count() == release.audit.records
    assert {path.name for path in tmp_path.iterdir()} == {"in", "stored"}


def test_databases_are_refused_before_any_scan(spark):
    frame = spark.range(10).selectExpr("raise_error('a row was read') AS age")
    with pytest.raises(WriteError, match="postgresql:// addresses"):
        sf.anonymize(
            frame, sf.Schema(quasi_identifiers=["age"]), [sf.models.KAnonymity(k=2)], out="postgresql://host/release"
        )


def test_errors_of_spark_are_told_without_cells(spark, tmp_path):
    from pyspark.sql import functions

    frame = read(spark, pa.table({"age": ["a secret cell"]}), tmp_path / "in")
    source = opened(frame.select(functions.col("age").cast("int").alias("age")))
    with pytest.raises(ReadError, match="Spark cannot read the table") as told:
        source.profile(["age"], ["age"])
    assert "secret" not in str(told.value)
    assert told.value.__cause__ is None


def test_an_empty_table_and_names_that_spark_confuses_are_refused(spark, tmp_path):
    with pytest.raises(SchemaError, match="no rows"):
        opened(read(spark, pa.table({"a": pa.array([], pa.int64())}), tmp_path / "in")).profile(["a"], ["a"])
    with pytest.raises(SchemaError, match="differ only in case"):
        opened(spark.range(1).selectExpr("id AS age", "id AS Age"))


def test_a_spark_table_stays_in_spark(spark, tmp_path):
    frame = read(spark, people(5), tmp_path / "in")
    with pytest.raises(InvalidParameterError, match='engine="spark"'):
        sf.anonymize(frame, SCHEMA, [sf.models.KAnonymity(k=2)], engine="duckdb", out=tmp_path / "release")
    with pytest.raises(SfumatoError):
        sf.anonymize(frame, SCHEMA, [sf.models.KAnonymity(k=6)], out=tmp_path / "release")
    assert not (tmp_path / "release").exists()
