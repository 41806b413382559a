"""What all tests share: how hard Hypothesis looks, what is traced, which tests are slow, and shared tables."""

from __future__ import annotations

import functools
import itertools
import os
import secrets
from collections.abc import Generator
from pathlib import Path

import pyarrow as pa
import pytest
import typer.testing
from coverage import Coverage
from hypothesis import HealthCheck, settings

from drawn_examples import MODERATE, THOROUGH
from sfumato._threads import count_workers

SHARED_DATA = "SFUMATO_SHARED_DATA"
TRACED_EXAMPLES = 3
# Tests are slow if they start a browser, a server, Java or other processes, or read the benchmark tables.
SLOW_FIXTURES = {"browser", "postgresql", "process_client", "shell", "start_server"}
SLOW_MARKERS = {"shared_data", "spark"}

# The same examples in every run, and no verdict that depends on how fast the machine is or what else was imported.
settings.register_profile(
    "moderate",
    derandomize=True,
    deadline=None,
    max_examples=MODERATE,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.register_profile(
    "thorough", settings.get_profile("moderate"), derandomize=False, max_examples=THOROUGH, print_blob=True
)
pa.set_cpu_count(count_workers())  # scripts/test gives other libraries one thread, and Arrow would take that, too
settings.load_profile(os.environ.get("SFUMATO_HYPOTHESIS", "moderate"))
# A test that asks for compiled loops gets them, whatever was compiled before; see sfumato.core._kernels.readiness.
os.environ.setdefault("SFUMATO_COMPILE", "always")
# All runs of commands in a process share one tree of commands, as in a terminal: most are faster than building it.
typer.testing._get_command = functools.cache(typer.testing._get_command)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Trace only the first examples of a property: the others take the same branches, and tracing makes them slow."""
    tracer, drawn = Coverage.current(), getattr(pyfuncitem.obj, "hypothesis", None)
    if tracer is None or drawn is None:
        return (yield)
    body, numbers = drawn.inner_test, itertools.count()

    @functools.wraps(body)
    def traced_at_first(*arguments: object, **named: object) -> object:
        if next(numbers) == TRACED_EXAMPLES:
            tracer.stop()
        return body(*arguments, **named)

    drawn.inner_test = traced_at_first
    try:
        return (yield)
    finally:
        drawn.inner_test = body
        if next(numbers) > TRACED_EXAMPLES:
            tracer.start()


@pytest.hookimpl(tryfirst=True)  # before pytest selects by markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests by what they use, and skip tests of the shared benchmark tables where there are none."""
    for item in items:
        used = {*getattr(item, "fixturenames", ()), *(marker.name for marker in item.iter_markers())}
        if used & (SLOW_FIXTURES | SLOW_MARKERS):
            item.add_marker(pytest.mark.slow)
    if _shared_data_folder() is not None:
        return
    absent = pytest.mark.skip(reason=f"{SHARED_DATA} does not name a folder")
    for item in items:
        if item.get_closest_marker("shared_data"):
            item.add_marker(absent)


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every test begin as a user whose programs remember no ledgers and budgets."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state" / secrets.token_hex(8)))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Give the folder of the shared benchmark tables to a test marked `shared_data`."""
    folder = _shared_data_folder()
    if folder is None:
        pytest.fail(f"A test that uses the fixture shared_data must be marked with it ({SHARED_DATA} is not set).")
    return folder


def _shared_data_folder() -> Path | None:
    named = os.environ.get(SHARED_DATA)
    return Path(named) if named and Path(named).is_dir() else None
