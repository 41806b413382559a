"""Files that one process holds: nobody else writes meanwhile, and what fails leaves nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from sfumato.core import _locked_sqlite
from sfumato.core._locked_sqlite import create_locked, open_locked, read_facts
from sfumato.errors import ReadError, WriteError

SCHEMA = "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "kept.sqlite"
    assert create_locked(path, "test", SCHEMA, {"color": "blue"})
    return path


def test_a_file_appears_complete_and_is_made_once(path):
    assert not create_locked(path, "test", SCHEMA, {"color": "red"})
    with open_locked(path, "test") as store:
        assert read_facts(store) == {"color": "blue"}
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert path.stat().st_mode & 0o077 == 0


def test_nobody_else_can_begin_to_write_before_the_holder_lets_go(path):
    other = sqlite3.connect(path, timeout=0, isolation_level=None)
    with closing(other), open_locked(path, "test"), pytest.raises(sqlite3.OperationalError, match="locked"):
        other.execute("BEGIN IMMEDIATE")


def test_who_waits_too_long_is_told_to_come_back(path, monkeypatch):
    monkeypatch.setattr(_locked_sqlite, "PATIENCE", 0.01)
    with (
        open_locked(path, "test"),
        pytest.raises(WriteError, match="is busy; try again later"),
        open_locked(path, "test"),
    ):
        pytest.fail("two hold the file")


def test_what_fails_leaves_nothing(path):
    def fail():
        with open_locked(path, "test") as store:
            store.execute("INSERT INTO facts VALUES ('shape', 'round')")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with open_locked(path, "test") as store:
        assert read_facts(store) == {"color": "blue"}


def test_what_is_no_such_file_is_refused(tmp_path):
    path = tmp_path / "kept.sqlite"
    path.write_text("text " * 500)
    with pytest.raises(ReadError, match="is not a valid test file"), open_locked(path, "test"):
        pytest.fail("it was taken for one")
    with pytest.raises(WriteError, match="There is no folder"):
        create_locked(tmp_path / "nowhere" / "kept.sqlite", "test", SCHEMA, {})
