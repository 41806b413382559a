"""What killed processes leave is removed, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from sfumato.core._atomic_writes import WORKSPACE_NAME, atomic_folder, atomic_path, open_workspace

KILLED = """
import os, signal, sys
from pathlib import Path
from sfumato.core import _atomic_writes
target = Path(sys.argv[1])
rename, calls = _atomic_writes.Path.rename, []

def killed(path, other):
    calls.append(path)
    if len(calls) == {after}:
        os.kill(os.getpid(), signal.SIGKILL)
    return rename(path, other)

_atomic_writes.Path.rename = killed
with _atomic_writes.atomic_folder(target, replace=True) as made:
    (made / "new").write_text("new")
    if not {after}:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def kill(target, after: int) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED.format(after=after), target], check=False)  # noqa: S603 - ours
    assert done.returncode == -9


def write(target) -> None:
    with atomic_path(target) as temporary:
        temporary.write_text("x")


@pytest.mark.slow
def test_the_next_writer_removes_what_a_killed_one_left(tmp_path):
    kill(tmp_path / "release", after=0)
    assert [name for name in names(tmp_path) if WORKSPACE_NAME.fullmatch(name)]
    write(tmp_path / "x.csv")
    assert names(tmp_path) == ["x.csv"]


@pytest.mark.slow
def test_a_release_that_was_being_replaced_is_brought_back(tmp_path):
    target = tmp_path / "release"
    target.mkdir()
    (target / "old").write_text("old")
    kill(target, after=2)
    assert not target.exists()
    write(tmp_path / "x.csv")
    assert names(target) == ["old"]
    assert names(tmp_path) == ["release", "x.csv"]


def test_the_places_of_living_processes_are_left_alone(tmp_path):
    with open_workspace(tmp_path) as other:
        (other / "half").write_text("half")
        write(tmp_path / "x.csv")
        with atomic_folder(tmp_path / "release") as made:
            (made / "a").write_text("a")
        assert names(other) == ["half"]
    assert names(tmp_path) == ["release", "x.csv"]


def test_what_only_looks_like_ours_is_left_alone(tmp_path, monkeypatch):
    strange = [".sfumato-notes", ".0123456789abcdef", ".sfumato-0123456789abcdef.new", ".sfumato-0123456789ABCDEF"]
    for name in strange:
        (tmp_path / name).mkdir()
    (tmp_path / ".sfumato-0123456789abcdef").write_text("a file")
    (tmp_path / "far").mkdir()
    (tmp_path / ".sfumato-fedcba9876543210").symlink_to(tmp_path / "far")
    before = names(tmp_path)
    write(tmp_path / "x.csv")
    assert names(tmp_path) == sorted([*before, "x.csv"])
    (tmp_path / ".sfumato-00000000000000ff").mkdir()
    monkeypatch.setattr(os, "getuid", lambda: -1)
    write(tmp_path / "y.csv")
    assert (tmp_path / ".sfumato-00000000000000ff").is_dir()


def test_where_nothing_can_be_locked_nothing_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.core._atomic_writes.fcntl", None)
    (tmp_path / ".sfumato-00000000000000ff").mkdir()
    write(tmp_path / "x.csv")
    assert names(tmp_path) == [".sfumato-00000000000000ff", "x.csv"]


def test_a_folder_that_was_never_locked_is_removed_after_an_hour(tmp_path):
    forsaken, fresh = (tmp_path / f".sfumato-00000000000000f{digit}.new" for digit in "ab")
    for each in (forsaken, fresh):
        each.mkdir()
    os.utime(forsaken, (time.time() - 4000, time.time() - 4000))
    write(tmp_path / "x.csv")
    assert names(tmp_path) == [fresh.name, "x.csv"]
