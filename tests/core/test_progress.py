"""A bar on a terminal and in a notebook, a function, or nothing."""

from __future__ import annotations

import io
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import _progress as module
from sfumato._progress import (
    ignore_progress,
    open_progress,
    open_progress_bar,
    run_with_progress,
    scale_progress,
    wait_for_futures,
)

PEOPLE = sf.datasets.generate_hospital(60, seed=1)
SCHEMA = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=["disease"])


class Terminal(io.StringIO):
    """What rich takes for a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def on_terminal(monkeypatch, title: str) -> str:
    """Show a bar on a terminal, and return what it has shown."""
    monkeypatch.setenv("TERM", "xterm-256color")
    with redirect_stderr(Terminal()) as shown, open_progress_bar(title) as tell:
        tell(0.5, "halfway")
    return shown.getvalue()


@pytest.fixture
def notebook(monkeypatch) -> list[str]:
    """Pretend to run in a notebook, and list what it shows."""
    shown: list[str] = []
    handle = types.SimpleNamespace(update=shown.append)
    display = types.ModuleType("IPython.display")
    display.HTML = str
    display.display = lambda html, display_id: (shown.append(html), handle)[1] if display_id else None
    package = types.ModuleType("IPython")
    package.get_ipython = lambda: types.SimpleNamespace(kernel=None)
    package.display = display
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


def test_a_terminal_shows_a_bar(monkeypatch):
    assert "Searching" in on_terminal(monkeypatch, "Searching")


def test_a_notebook_shows_a_bar_that_disappears(notebook):
    with open_progress_bar("Sea<rching") as tell:
        for step in range(1001):
            tell(step / 1000, "<note>")
    assert notebook[0] == 'Sea&lt;rching <progress value="0.00" max="1"></progress> '
    assert '<progress value="0.50" max="1"></progress> &lt;note&gt;' in notebook[50]
    assert notebook[-1] == ""
    assert len(notebook) == 102


def test_the_bar_disappears_also_where_the_work_fails(notebook):
    with pytest.raises(ValueError, match="broken"), open_progress_bar("Searching"):
        raise ValueError("broken")
    assert notebook[-1] == ""


def test_true_shows_a_bar_false_nothing_and_a_function_is_called(notebook):
    told: list[float] = []

    def listen(done: float, note: str = "") -> None:  # noqa: ARG001 - as Progress
        told.append(done)

    for progress in (False, listen):
        with open_progress(progress, "Searching") as tell:
            tell(0.5)
    assert notebook == []
    assert told == [0.5]
    with open_progress(progress=True, title="Searching") as tell:
        tell(0.5)
    assert len(notebook) == 3


def test_every_verb_that_takes_long_can_show_a_bar(notebook, tmp_path):
    release = sf.anonymize(PEOPLE, SCHEMA, [sf.models.KAnonymity(k=3)], progress=True)
    assert notebook[0].startswith("Searching")
    release.write(tmp_path / "out", progress=True)
    sf.explore(PEOPLE, SCHEMA, [sf.models.KAnonymity(k=3)], progress=True)
    sf.compare_algorithms(PEOPLE, release.recipe, "mondrian", progress=True)
    people = PEOPLE.append_column("person", pa.array([f"p{row}" for row in range(60)]))
    party = sf.fusion.Party(
        name="clinic", data=people.select(["person", "disease", "age"]), id="person", attributes=["age"]
    )
    asked = [sf.fusion.KAnonymityRequirement(quasi=("age",), k=5)]
    sf.fusion.fuse([party], target="disease", requirements=asked, scoring="plain", progress=True)
    begun = [each.split()[0] for each in notebook if 'value="0.00"' in each]
    assert begun == ["Searching", "Writing", "Exploring", "Trying", "Fusing"]
    assert notebook.count("") == 5


def test_outside_a_notebook_ipython_makes_no_difference(monkeypatch):
    package = types.ModuleType("IPython")
    package.get_ipython = types.SimpleNamespace
    monkeypatch.setitem(sys.modules, "IPython", package)
    assert "Reading" in on_terminal(monkeypatch, "Reading")


def test_what_work_says_is_repeated_while_it_goes_on(monkeypatch):
    monkeypatch.setattr(module, "UPDATE_INTERVAL", 0.001)
    enough, told = threading.Event(), []

    def work(tell):
        tell(0.5, "halfway")
        assert enough.wait(60)
        return "done"

    def hear(done, note=""):
        told.append((done, note))
        if told.count((0.5, "halfway")) == 3:
            enough.set()

    assert run_with_progress(work, hear) == "done"
    assert told[0] == (0.0, "")
    assert told.count((0.5, "halfway")) >= 3


def test_who_listens_stops_the_work_the_next_time_it_speaks(monkeypatch):
    monkeypatch.setattr(module, "UPDATE_INTERVAL", 0.001)
    asked, spoken = threading.Event(), []

    def work(tell):
        assert asked.wait(60)
        while True:
            spoken.append(1)
            tell(0.5)

    def hear(*_):
        asked.set()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_with_progress(work, hear)
    assert spoken


def test_work_that_fails_while_somebody_listens_fails_here(monkeypatch):
    monkeypatch.setattr(module, "UPDATE_INTERVAL", 0.001)

    def work(_):
        raise ValueError("no")

    for listener in (ignore_progress, scale_progress(ignore_progress, 0.0, 0.5)):
        with pytest.raises(ValueError, match="no"):
            run_with_progress(work, listener)


def test_waiting_ends_with_the_first_failure_and_drops_what_has_not_begun(monkeypatch):
    monkeypatch.setattr(module, "UPDATE_INTERVAL", 60)

    def fail():
        raise ValueError("no")

    with ThreadPoolExecutor(1) as pool:
        begun = [pool.submit(fail), *(pool.submit(threading.Event().wait, 0.001) for _ in range(50))]
        wait_for_futures(begun, lambda: None)
    assert isinstance(begun[0].exception(), ValueError)
    assert begun[-1].cancelled()
