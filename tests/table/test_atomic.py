"""Files and folders appear completely or not at all."""

from __future__ import annotations

import errno
import os

import pytest

from sfumato.core import _atomic_writes
from sfumato.core._atomic_writes import atomic_folder, atomic_path
from sfumato.errors import WriteError


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_it_is_complete(tmp_path):
    target = tmp_path / "out.csv.gz"
    with atomic_path(target) as temporary:
        assert temporary.parent.parent == tmp_path
        assert temporary.name.endswith(".csv.gz")
        temporary.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"
    assert names(tmp_path) == ["out.csv.gz"]


def test_an_old_file_is_replaced_and_keeps_its_mode(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")
    target.chmod(0o640)
    with atomic_path(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path):
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    link.symlink_to(real)
    with atomic_path(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"


@pytest.mark.parametrize("failure", [KeyboardInterrupt, ValueError, SystemExit])
def test_any_failure_leaves_the_old_file_and_nothing_else(tmp_path, failure):
    target = tmp_path / "out.csv"
    target.write_text("old")

    def fail() -> None:
        with atomic_path(target) as temporary:
            temporary.write_text("half")
            raise failure

    with pytest.raises(failure):
        fail()
    assert target.read_text() == "old"
    assert names(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_refusal_by_the_system_is_one_sentence(tmp_path, monkeypatch, step):
    target = tmp_path / "out.csv"
    target.write_text("old")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if step == "fsync":
        monkeypatch.setattr(os, "fsync", refuse)
    else:
        monkeypatch.setattr(_atomic_writes.Path, "replace", refuse)

    def fail() -> None:
        with atomic_path(target) as temporary:
            temporary.write_text("new")

    with pytest.raises(WriteError, match=r"out\.csv cannot be written: No space left on device\."):
        fail()
    assert target.read_text() == "old"
    assert names(tmp_path) == ["out.csv"]


def test_places_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(WriteError, match="is a folder; choose a file in it"), atomic_path(tmp_path):
        pass
    with pytest.raises(WriteError, match="does not exist; create it first"), atomic_path(tmp_path / "no" / "x"):
        pass
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(WriteError, match="is not a regular file"), atomic_path(pipe):
        pass
    with pytest.raises(WriteError, match="cannot be written: No such file"), atomic_path(tmp_path / "nothing"):
        pass


def test_a_folder_appears_when_it_is_complete(tmp_path):
    target = tmp_path / "release"
    with atomic_folder(target) as temporary:
        (temporary / "public").mkdir()
        (temporary / "public" / "data.csv").write_text("new")
        assert not target.exists()
    assert (target / "public" / "data.csv").read_text() == "new"
    assert names(tmp_path) == ["release"]


def test_an_empty_folder_is_filled(tmp_path):
    target = tmp_path / "release"
    target.mkdir()
    with atomic_folder(target) as temporary:
        (temporary / "a").write_text("new")
    assert names(target) == ["a"]
    assert names(tmp_path) == ["release"]


def test_a_folder_with_files_is_replaced_only_when_asked(tmp_path):
    target = tmp_path / "release"
    target.mkdir()
    (target / "old").write_text("old")
    with pytest.raises(WriteError, match="already contains files; choose another folder"), atomic_folder(target):
        pass
    with atomic_folder(target, replace=True) as temporary:
        (temporary / "new").write_text("new")
        assert names(target) == ["old"]
    assert names(target) == ["new"]
    assert names(tmp_path) == ["release"]


def test_a_folder_that_was_filled_meanwhile_is_not_lost(tmp_path):
    target = tmp_path / "release"

    def race() -> None:
        with atomic_folder(target) as temporary:
            (temporary / "new").write_text("new")
            target.mkdir()
            (target / "other").write_text("other")

    with pytest.raises(WriteError, match="already contains files"):
        race()
    assert names(target) == ["other"]
    assert names(tmp_path) == ["release"]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(errno.ENOSPC, "full")])
def test_a_failed_folder_leaves_the_old_one_and_nothing_else(tmp_path, failure):
    target = tmp_path / "release"
    target.mkdir()
    (target / "old").write_text("old")

    def fail() -> None:
        with atomic_folder(target, replace=True) as temporary:
            (temporary / "half").write_text("half")
            raise failure

    with pytest.raises(WriteError if isinstance(failure, OSError) else failure):
        fail()
    assert names(target) == ["old"]
    assert names(tmp_path) == ["release"]


def test_a_failed_move_brings_the_old_folder_back(tmp_path, monkeypatch):
    target = tmp_path / "release"
    target.mkdir()
    (target / "old").write_text("old")
    rename, calls = _atomic_writes.Path.rename, []

    def second_fails(path, other):
        calls.append(path)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return rename(path, other)

    def fail() -> None:
        with atomic_folder(target, replace=True) as temporary:
            (temporary / "new").write_text("new")

    monkeypatch.setattr(_atomic_writes.Path, "rename", second_fails)
    with pytest.raises(KeyboardInterrupt):
        fail()
    assert names(target) == ["old"]
    assert names(tmp_path) == ["release"]


def test_a_file_is_no_folder(tmp_path):
    target = tmp_path / "release"
    target.write_text("x")
    with pytest.raises(WriteError, match="is a file; choose a folder"), atomic_folder(target, replace=True):
        pass
