"""A stand-alone master with two workers on loopback makes the releases of memory, even if some of it is killed."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace

import pytest
from tests.spark_sessions import SMALL, executors_of, master_and_workers, session_on
from tests.spark_tables import SEGMENTS, check_counted, check_segmented, people, read, released

from sfumato.tables.engines import _spark_source

pytestmark = pytest.mark.spark

LARGER = replace(SEGMENTS, segment_rows=300)


@pytest.fixture(scope="module")
def cluster():
    with master_and_workers() as (address, workers), session_on(address, **SMALL) as session:
        yield session, workers


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(_spark_source, "ROWS_PER_PART", 150)


@pytest.mark.usefixtures("small_parts")
def test_two_workers_make_the_release_of_memory(cluster, tmp_path):
    spark, _ = cluster
    table = people(600)
    frame = read(spark, table, tmp_path / "in", parts=2)
    counted = released(frame, tmp_path / "counted")
    check_counted(counted, table)
    assert len(counted.paths) > 2


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(("limits", "check"), [(None, check_counted), (LARGER, check_segmented)])
def test_an_executor_that_is_killed_while_it_writes_spoils_nothing(cluster, tmp_path, limits, check):
    spark, workers = cluster
    table = people(900)
    killed, ended = [], threading.Event()

    def kill() -> None:
        """Wait until a part is being written, and kill an executor then."""
        while not any(tmp_path.glob(".sfumato-*/new/public/table/attempt-*")):
            if ended.wait(0.005):
                return
        for executor in executors_of(workers[0]):
            os.kill(executor, signal.SIGKILL)
            killed.append(executor)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        release = released(read(spark, table, tmp_path / "in", parts=2), tmp_path / "release", limits=limits)
    finally:
        ended.set()
        killer.join()
    assert killed
    check(release, table)
