"""Spark for the tests: in this process, as a master with two workers on loopback, and as a server of Spark Connect."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyspark
import pytest

HOME = Path(pyspark.__file__).parent
LOOPBACK = "127.0.0.1"
PATIENCE = 300  # seconds; far more than anything takes, so that a busy machine fails no test
WORKERS = 2
# Jobs are short: a compiler that thinks longer, or a second one, would take more than it gives.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.driver.host": LOOPBACK,
    "spark.driver.bindAddress": LOOPBACK,
    "spark.log.level": "OFF",
}
SMALL = {"spark.cores.max": str(WORKERS), "spark.executor.cores": "1", "spark.executor.memory": "512m"}


@contextmanager
def surroundings() -> Iterator[pytest.MonkeyPatch]:
    """Give every process of Spark this Python, and compilers that suit short jobs."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setenv("PYSPARK_PYTHON", sys.executable)  # else workers are whatever python3 is on the path
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(_package()), os.environ.get("PYTHONPATH")])))
        patch.setenv("JDK_JAVA_OPTIONS", JAVA)
        patch.setenv("SPARK_LOCAL_IP", LOOPBACK)
        yield patch


@contextmanager
def session_on(master: str, **also: str) -> Iterator[Any]:
    """Start a session; no other one lives in this process meanwhile."""
    from pyspark.sql import SparkSession

    with surroundings():
        session = SparkSession.builder.master(master).config(map={**SETTINGS, **also}).getOrCreate()
        try:
            yield session
        finally:
            session.stop()


@contextmanager
def master_and_workers() -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a stand-alone master and two workers of one core each; yield its address and the workers."""
    port = _free_port()
    address = f"spark://{LOOPBACK}:{port}"
    begin = [str(HOME / "bin" / "spark-class")]
    with surroundings() as patch, ExitStack() as stack:
        patch.setenv("SPARK_DAEMON_MEMORY", "256m")
        place = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        where = ["--host", LOOPBACK, "--webui-port", "0"]
        master = [*begin, "org.apache.spark.deploy.master.Master", *where, "--port", str(port)]
        _wait_for(port, stack.enter_context(_running(master)))
        size = ["--cores", "1", "--memory", "600m", "--work-dir", place]
        worker = [*begin, "org.apache.spark.deploy.worker.Worker", *where, *size, address]
        yield address, [stack.enter_context(_running(worker)) for _ in range(WORKERS)]


@contextmanager
def connected() -> Iterator[Any]:
    """Start a server of Spark Connect, and a session that knows nothing of Spark but its address."""
    port = _free_port()
    binding = {"spark.connect.grpc.binding.port": str(port), "spark.connect.grpc.binding.address": LOOPBACK}
    given = [part for name, value in (SETTINGS | binding).items() for part in ("--conf", f"{name}={value}")]
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    command = [str(HOME / "bin" / "spark-submit"), "--class", server, "--master", "local[2]", *given]
    with surroundings() as patch:
        from pyspark.sql.connect.session import SparkSession

        patch.setenv("SPARK_CONNECT_MODE", "0")  # of the server itself, which is no client of another one
        with _running(command) as process:
            _wait_for(port, process)
            session = SparkSession.builder.remote(f"sc://{LOOPBACK}:{port}").create()
            try:
                yield session
            finally:
                session.stop()
                for name in ("SPARK_CONNECT_MODE_ENABLED", "SPARK_REMOTE"):
                    os.environ.pop(name, None)  # else a session of Spark itself could not be started any more


def executors_of(worker: subprocess.Popen[bytes]) -> list[int]:
    """List the processes that a worker started to do the work."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == worker.pid:
            found.append(int(status.parent.name))
    return found


@contextmanager
def _running(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 - Spark's own
    try:
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until a process listens."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as tried:
            if tried.connect_ex((LOOPBACK, port)) == 0:
                return
        time.sleep(0.2)
    pytest.fail("Spark did not start.")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        return int(free.getsockname()[1])


def _package() -> Path:
    import sfumato

    return Path(sfumato.__file__).parent.parent
