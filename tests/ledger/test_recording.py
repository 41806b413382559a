"""Killed at any point, a release and its entry are both there or both not; two writers never both record."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from series_of_patients import quarter, released, released_by_atoms
from sfumato.core import _atomic_writes
from sfumato.errors import ReadError, WriteError
from sfumato.tables.series._ledger import draft, files
from sfumato.tables.series._ledger.draft import ReleaseDraft

KILLED_AT = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import sfumato as sf
from series_of_patients import quarter, released_by_atoms
from sfumato.core import _atomic_writes
from sfumato.tables.series._ledger import draft, files

HOMES = {
    "add_pending": draft,
    "finish_pending": draft,
    "folder_digest": draft,
    "insert": files,
    "_move_folder": _atomic_writes,
}

def killing(home, name, *, after):
    whole = getattr(home, name)
    def instead(*given, **named):
        if after:
            whole(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(home, name, instead)

def kill_at(step):
    name, _, when = step.partition(" ")
    if name == "forward":
        killing(files.LedgerFiles, "forward", after=False)
    elif name == "rename":
        moved = Path.rename
        def renamed(self, target):
            if when == "after":
                moved(self, target)
            os.kill(os.getpid(), signal.SIGKILL)
        Path.rename = renamed
    elif name == "_finish_pending":
        killing(draft.ReleaseDraft, "_finish_pending", after=when == "after")
    elif name == "_add_pending":
        killing(draft.ReleaseDraft, "_add_pending", after=when == "after")
    else:
        killing(HOMES[name], name, after=when == "after")

for step in sys.argv[2:]:
    place = Path(step.replace(" ", "-"))
    place.mkdir()
    ledger = sf.Series.create(place / "hospital.ledger")
    released_by_atoms(ledger, quarter(0, 8)).write(place / "q1", report=False)
    child = os.fork()
    if child == 0:
        release = released_by_atoms(ledger, quarter(0, 12))
        kill_at(step)
        release.write(place / "q2", report=False)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print(step, os.WTERMSIG(status) if os.WIFSIGNALED(status) else "ended", sep=":", flush=True)
"""
UNDONE = (
    "_add_pending before",
    "insert before",
    "insert after",
    "add_pending after",
    "_add_pending after",
    "rename before",
)
DONE = ("rename after", "_finish_pending before", "_finish_pending after", "forward before")


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Kill the writing of a second release at every step, each in a folder of its own."""
    folder = tmp_path_factory.mktemp("killed")
    script = folder / "killed_at.py"
    script.write_text(KILLED_AT)
    tests = Path(__file__).resolve().parent.parent
    done = subprocess.run(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-W", "ignore", str(script), str(tests), *UNDONE, *DONE],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [f"{step}:{signal.SIGKILL.value}" for step in (*UNDONE, *DONE)], done.stderr
    return folder


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is killed without fork")
@pytest.mark.parametrize("step", [*UNDONE, *DONE])
@pytest.mark.parametrize("by", ["the next run", "repair"])
def test_after_a_kill_at_any_step_a_release_and_its_entry_are_both_there_or_both_not(killed, step, by, tmp_path):
    place = tmp_path / "place"
    shutil.copytree(killed / step.replace(" ", "-"), place)
    if by == "repair":
        sf.Series.repair(place / "hospital.ledger")
    ledger = sf.Series(place / "hospital.ledger")
    written = (place / "q2").exists()
    assert written is (step in DONE)
    assert len(ledger.releases()) == 1 + written
    assert ledger.verify([place / "q2"] if written else []) == ()
    assert sf.Series.repair(place / "hospital.ledger") == "There is nothing to repair."
    released_by_atoms(ledger, quarter(0, 14)).write(place / "q3", report=False)
    assert [each.newcomers for each in ledger.releases()] == ([8, 4, 2] if written else [8, 6])
    assert not [each for each in place.iterdir() if each.name.startswith(".sfumato-")]


class Stopped(BaseException):
    """Something that stops a process tidily."""


@pytest.mark.parametrize(
    ("home", "name"),
    [
        (draft, "add_pending"),
        (draft, "folder_digest"),
        (_atomic_writes, "_move_folder"),
        (_atomic_writes, "_sync"),
        (files, "insert"),
    ],
)
def test_a_failure_at_any_step_leaves_neither_folder_nor_entry(tmp_path, monkeypatch, home, name):
    ledger = sf.Series.create(tmp_path / "hospital.ledger")
    release = released(ledger, quarter(0, 8))
    before = ledger.path.read_bytes()

    def fail(*_, **__):
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(home, name, fail)
        with pytest.raises(Stopped):
            release.write(tmp_path / "q1", report=False)
    assert not (tmp_path / "q1").exists()
    assert ledger.releases() == ()
    assert sf.Series.repair(ledger.path) == "There is nothing to repair."
    assert len(before) <= len(ledger.path.read_bytes())
    release.write(tmp_path / "q1", report=False)
    assert len(ledger.releases()) == 1


def test_a_stop_after_the_folder_is_in_place_finishes_the_entry(tmp_path, monkeypatch):
    ledger = sf.Series.create(tmp_path / "hospital.ledger")
    release = released(ledger, quarter(0, 8))

    synced = _atomic_writes._sync_folder

    def stop(folder):
        if folder == tmp_path.resolve():
            raise Stopped
        synced(folder)

    with monkeypatch.context() as patch:
        patch.setattr(_atomic_writes, "_sync_folder", stop)
        with pytest.raises(Stopped):
            release.write(tmp_path / "q1", report=False)
    assert (tmp_path / "q1").exists()
    assert len(sf.Series(ledger.path).releases()) == 1


def pending(place):
    """Leave a release pending whose folder is in place."""
    ledger = sf.Series.create(place / "hospital.ledger")
    release = released(ledger, quarter(0, 8))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReleaseDraft, "_finish_pending", lambda _: None)
        patch.setattr(files.LedgerFiles, "forward", lambda _: None)
        release.write(place / "q1", report=False)
    return ledger.path


def test_repair_says_what_it_did(tmp_path):
    path = pending(tmp_path)
    assert sf.Series.repair(path) == f"Release 1 was written to {tmp_path / 'q1'} and is recorded now."
    other = tmp_path / "other"
    other.mkdir()
    path = pending(other)
    (other / "q1").rename(other / "away")
    assert sf.Series.repair(path) == "Release 1 was never put into place; its entry was taken back."
    with pytest.raises(ReadError, match="is older than the release in"):
        sf.Series(path).verify([other / "away"])


def test_a_folder_that_was_changed_before_it_was_recorded_must_be_looked_at(tmp_path):
    path = pending(tmp_path)
    (tmp_path / "q1" / "public" / "table.csv").write_text("changed")
    for use in (sf.Series, sf.Series.repair):
        with pytest.raises(ReadError, match=r"was changed while it was recorded .*; move it away and repair that"):
            use(path)
    (tmp_path / "q1").rename(tmp_path / "away")
    assert "taken back" in sf.Series.repair(path)


def _write(path, start, wins):
    ledger = sf.Series(path)
    release = released(ledger, quarter(0, 8))
    start.wait()
    try:
        release.write(path.parent / f"by-{os.getpid()}", report=False)
    except WriteError:
        wins.put(0)
    else:
        wins.put(1)


def test_of_two_processes_that_write_at_once_one_records_and_the_other_is_told(tmp_path):
    path = sf.Series.create(tmp_path / "hospital.ledger").path
    processes = multiprocessing.get_context("fork")
    start, wins = processes.Barrier(2), processes.Queue()
    writers = [processes.Process(target=_write, args=(path, start, wins)) for _ in range(2)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert sorted(wins.get() for _ in writers) == [0, 1]
    assert len(sf.Series(path).releases()) == 1
    assert len(list(tmp_path.glob("by-*"))) == 1


def test_whoever_waits_too_long_for_another_writer_is_told(tmp_path, monkeypatch):
    ledger = sf.Series.create(tmp_path / "hospital.ledger")
    release = released(ledger, quarter(0, 8))
    monkeypatch.setattr(files, "PATIENCE", 0.1)
    with (
        files.exclusive_writer(tmp_path / "hospital.ledger.key"),
        pytest.raises(WriteError, match="Another process is writing a release"),
    ):
        release.write(tmp_path / "q1", report=False)
    assert ledger.releases() == ()


def test_there_are_no_side_files_with_data_in_them(tmp_path):
    ledger = sf.Series.create(tmp_path / "hospital.ledger")
    released(ledger, quarter(0, 8)).write(tmp_path / "q1", report=False)
    names = {each.name for each in tmp_path.iterdir()}
    assert names == {"hospital.ledger", "hospital.ledger.key", "hospital.ledger.head", "q1"}
    store = sqlite3.connect(ledger.path)
    assert store.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    store.close()


def test_no_identifier_and_no_value_of_a_person_stands_in_the_ledger(tmp_path):
    ledger = sf.Series.create(tmp_path / "hospital.ledger")
    table = quarter(0, 8)
    names = [f"Adelheid Q. {number}" for number in range(8)]
    table = table.set_column(0, "id", pa.array(names))
    released(ledger, table).write(tmp_path / "q1", report=False)
    assert b"Adelheid" not in ledger.path.read_bytes()
    assert not [path for path in (tmp_path / "q1" / "public").iterdir() if b"Adelheid" in path.read_bytes()]
