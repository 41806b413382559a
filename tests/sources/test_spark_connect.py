"""Spark Connect, where a session holds nothing of Spark but its address, makes the releases of memory."""

from __future__ import annotations

import pytest
from tests.spark_sessions import connected
from tests.spark_tables import SEGMENTS, check_counted, check_segmented, people, read, released, rows_of

from sfumato.errors import ReadError

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark():
    with connected() as session:
        yield session


def test_releases_by_spark_connect_are_those_of_memory(spark, tmp_path):
    table = people(300)
    frame = read(spark, table, tmp_path / "in", parts=2)
    counted = released(frame, tmp_path / "counted")
    check_counted(counted, table)
    check_segmented(released(frame, tmp_path / "segmented", limits=SEGMENTS), table)
    assert counted.to_spark(spark).toArrow().num_rows == rows_of(counted).num_rows


def test_workers_with_another_python_are_refused(spark, tmp_path, monkeypatch):
    frame = read(spark, people(20), tmp_path / "in")
    monkeypatch.setattr("pyspark.sql.connect.utils.sys.version_info", (3, 9, 0))
    with pytest.raises(ReadError, match="another version of Python"):
        released(frame, tmp_path / "release")


def test_errors_are_told_without_cells(spark, tmp_path):
    frame = read(spark, people(20), tmp_path / "in").selectExpr("*", "cast(disease AS int) AS number").drop("score")
    with pytest.raises(ReadError, match="Spark cannot read the table") as told:
        released(frame.withColumnRenamed("number", "score"), tmp_path / "release")
    assert "flu" not in str(told.value)
    assert not (tmp_path / "release").exists()
