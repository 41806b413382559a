"""A table in Spark has the canonical values that it would have in memory, and is released as in memory.

One session serves all tests. Its time zone has a gap at 02:30 on 8 March 2026, a moment that naive tables may hold.
"""

from __future__ import annotations

import datetime as dt
import math
import shutil
import sys
import warnings
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.exceptions import InvalidParameterError, ReadError, SchemaError, SfumatoError
from sfumato.recipe import Recipe
from sfumato.release.large.large_run import Limits
from sfumato.release.large.running import carry_out_large
from sfumato.sources.base import GROUP, NOWHERE, WEIGHT, ByCase, Piece, TooManyCombinationsError
from sfumato.sources.engines import Resources
from sfumato.sources.spark_source import SparkSource, _regrouped, _reworded
from sfumato.table.columns import undecorated
from sfumato.table.frames import canonical

pyspark = pytest.importorskip("pyspark", reason='PySpark is not installed; pip install "sfumato[spark]"')
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java 17 or later, which is not installed"),
]

DAY, MOMENT = dt.datetime(2026, 1, 31), dt.datetime(2026, 3, 8, 2, 30)  # noqa: DTZ001 - naive as in files
COLUMNS = {
    "whole floats": pa.array([1.0, 2.0, None]),
    "floats": pa.array([1.5, 2.0, None]),
    "not a number": pa.array([1.0, math.nan, 3.0]),
    "negative zero": pa.array([-0.0, 0.5, 0.0]),
    "nothing": pa.array([None, None, None], pa.float64()),
    "only nan": pa.array([math.nan, math.nan, None]),
    "small numbers": pa.array([1, 2, None], pa.int8()),
    "unsigned": pa.array([1, 2, 3], pa.uint64()),
    "short floats": pa.array([0.5, 0.1, 1], pa.float32()),
    "texts": pa.array(["a", "", "é"]),
    "categories": pa.array(["b", "a", "b"]).dictionary_encode(),
    "truth": pa.array([True, False, None]),
    "days": pa.array([dt.date(2026, 1, 31), None, dt.date(1899, 1, 1)]),
    "midnights": pa.array([DAY, None, DAY], pa.timestamp("ms")),
    "moments": pa.array([DAY, MOMENT, None], pa.timestamp("us")),
    "zoned": pa.array([DAY, MOMENT, None], pa.timestamp("us", "Europe/Berlin")),
    "zoned midnights": pa.array([DAY, DAY, None], pa.timestamp("us", "UTC")),
    "whole decimals": pa.array([Decimal("1.00"), Decimal("2.00"), None]),
    "decimals": pa.array([Decimal("1.25"), Decimal("2.00"), None]),
    "wide decimals": pa.array([Decimal("1.25"), Decimal("-0.000000001"), None], pa.decimal128(38, 18)),
    "large whole decimals": pa.array([Decimal(2**60), Decimal(-1), None], pa.decimal128(38, 18)),
    "large floats": pa.array([2.0**60, 1.0, 2.0]),
    "a `strange`.name": pa.array(["x", "y", "z"]),
}
REFUSED = {
    "infinite": pa.array([math.inf, 1.0]),
    "wide": pa.array([2**64 - 1, 1], pa.uint64()),
    "bytes": pa.array([b"a", b"b"]),
    "lists": pa.array([[1], [2]]),
    "long decimals": pa.array([Decimal("0.12345678901234567"), None], pa.decimal128(38, 18)),
}
SCHEMA = sf.Schema(quasi=["sex", "age", "job"], sensitive=["disease"], insensitive=["since", "score"])
DEPTHS = {
    "Mondrian": (sf.Mondrian(), (sf.KAnonymity(k=5),), 0.0),
    "Mondrian, l-diversity": (sf.Mondrian(), (sf.DistinctLDiversity(l=2, sensitive="disease"),), 0.0),
    "Datafly": (sf.algorithms.Datafly(), (sf.KAnonymity(k=3),), 0.2),
}


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.session.timeZone": "America/New_York",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "OFF",
    }
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setenv("PYSPARK_PYTHON", sys.executable)  # else workers are whatever python3 is on the path
        session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        yield session
        session.stop()


def opened(frame) -> SparkSource:
    return SparkSource(frame, temporary=Path("unused"))


def silent(_: float) -> None:
    pass


def read(spark, table: pa.Table, folder, parts: int = 1):
    """Read a table by way of Parquet files, as Spark does."""
    folder.mkdir(exist_ok=True)
    size = -(-table.num_rows // parts)
    for at in range(parts):
        pq.write_table(table.slice(at * size, size), folder / f"{at}.parquet")
    return spark.read.parquet(str(folder))


def people(rows: int) -> pa.Table:
    """Make a table with missing cells, texts that order differs by bytes, and moments inside the gap."""
    rng = np.random.default_rng(rows)
    jobs = np.array(["clerk", "Clerk", "émigré", "z", ""])[rng.integers(0, 5, rows)]
    since = [MOMENT + dt.timedelta(minutes=int(each)) for each in rng.integers(0, 90, rows)]
    return pa.table(
        {
            "disease": pa.array(np.array(["flu", "cold", "none"])[rng.integers(0, 3, rows)]),
            "sex": pa.array(rng.integers(0, 2, rows) == 0, mask=rng.random(rows) < 0.05),
            "age": pa.array(rng.integers(18, 90, rows).astype(float), mask=rng.random(rows) < 0.05),
            "since": pa.array(since, pa.timestamp("us"), mask=rng.random(rows) < 0.1),
            "job": pa.array(jobs),
            "score": pa.array(rng.integers(-4, 5, rows) / 4 * np.where(rng.random(rows) < 0.5, -1.0, 1.0)),
        }
    )


@pytest.mark.parametrize("name", DEPTHS)
def test_rows_and_their_order_are_those_of_memory(name, spark, tmp_path):
    algorithm, models, share = DEPTHS[name]
    table = people(1000)
    recipe = Recipe(schema=SCHEMA, models=models, algorithm=algorithm, max_suppressed=share, seed=1)
    expected = sf.carry_out(recipe, table)
    found = sf.carry_out(recipe, read(spark, table, tmp_path / "in", parts=2), out=tmp_path / "release")
    assert isinstance(found, sf.LargeRelease)
    assert [path.name for path in found.paths] == ["part-00000.parquet"]
    assert pq.read_table(found.paths[0]).equals(undecorated(expected.published))
    assert found.audit.holds
    assert found.audit.to_dict()["levels"] == expected.audit.to_dict()["levels"]
    assert found.proof == expected.proof
    assert found.suppressed == expected.suppressed
    assert found.passage.engine == f"spark {pyspark.__version__}"


def test_segments_hold_the_rows_of_memory(spark, tmp_path):
    table = people(300)
    recipe = Recipe(schema=SCHEMA, models=(sf.KAnonymity(k=5),), algorithm=sf.Mondrian(), seed=1)
    out = tmp_path / "release"
    frame = read(spark, table, tmp_path / "in", parts=2)
    with Resources(memory="100MB").opened(frame, recipe.reading, out) as source:
        found = carry_out_large(
            recipe,
            source,
            out,
            memory=10**8,
            replace_older=False,
            report=False,
            progress=lambda *_: None,
            limits=Limits(combinations=0, groups=10_000, segment_rows=100),
        )
    assert found.passage.way == "segmented"
    assert found.audit.truth.holds
    expected = undecorated(sf.carry_out(recipe, table).published)
    by = [(name, "ascending") for name in table.column_names]
    rows = pa.concat_tables([pq.read_table(path) for path in found.paths])
    assert rows.sort_by(by).equals(expected.sort_by(by))


def test_types_and_values_are_canonical(spark, tmp_path):
    table = pa.table(COLUMNS)
    source, expected = opened(read(spark, table, tmp_path / "in")), canonical(table)
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
    expected = Counter(tuple(row.values()) for row in canonical(table).select(names).to_pylist())
    assert profile.combinations == pytest.approx(len(expected), rel=0.2)
    assert source.estimate(names) == pytest.approx(len(expected), rel=0.2)
    whole = source.count(names, 200, silent)
    pieces = [source.count(names, 199, silent, Piece(at, 3, ("job",))) for at in range(3)]
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


def rule_on(cases: pa.Table, group: list[int], shown: list[str], names: list[str]) -> ByCase:
    return ByCase(
        cases=cases.append_column(GROUP, pa.array(group, pa.int32())),
        shown=pa.table({"age": pa.array(shown).dictionary_encode()}),
        names=tuple(names),
        order=(np.arange(len(shown)), *names[1:]),
    )


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
        sf.anonymize(frame, SCHEMA, [sf.KAnonymity(k=2)], engine="duckdb", out=tmp_path / "release")
    with pytest.raises(SfumatoError):
        sf.anonymize(frame, SCHEMA, [sf.KAnonymity(k=6)], out=tmp_path / "release")
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("sizes", [[3, 4, 5], [12], [1] * 12, [0, 12, 0]])
def test_rows_are_regrouped_in_their_order(sizes):
    ends = np.cumsum(sizes)
    tables = [pa.table({"a": np.arange(end - size, end)}) for end, size in zip(ends, sizes, strict=True)]
    found = list(_regrouped(iter(tables), 5))
    assert [each.num_rows for each in found] == [5, 5, 2]
    assert pa.concat_tables(found)["a"].to_pylist() == list(range(12))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("ModuleNotFoundError: No module named 'pyarrow'", "needs pandas and PyArrow"),
        ("java.io.FileNotFoundException: /secret", "folder that all workers see"),
    ],
)
def test_what_workers_lack_is_named(said, told):
    sentence = str(_reworded(RuntimeError(said), "read"))
    assert told in sentence
    assert "secret" not in sentence
