"""The files of a ledger: made whole or not at all, and told apart from those of others."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import ReadError, WriteError
from sfumato.tables.series._ledger import files
from sfumato.tables.series._ledger.files import LedgerFiles, exclusive_writer
from sfumato.tables.series._ledger.store import open_store


def fails(*_):
    raise PermissionError(13, "Permission denied")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_ledger_that_cannot_be_made_leaves_no_key_behind(monkeypatch):
    monkeypatch.setattr(files, "create_locked", fails)
    with pytest.raises(PermissionError):
        sf.Series.create("hospital.ledger")
    assert not list(Path().iterdir())


def test_who_makes_the_same_ledger_a_moment_later_is_refused_and_leaves_no_key_behind(monkeypatch):
    monkeypatch.setattr(files, "create_locked", lambda *_: False)
    with pytest.raises(WriteError, match="already exists"):
        sf.Series.create("hospital.ledger")
    assert not list(Path().iterdir())


def test_a_key_that_cannot_be_written_is_told(monkeypatch):
    monkeypatch.setattr(os, "open", fails)
    with pytest.raises(WriteError, match=r"The key file .* cannot be written: Permission denied\."):
        sf.Series.create("hospital.ledger")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"ledger": "another"}, "belongs to another ledger"), ({"format": "another"}, "does not tell the head")],
)
def test_the_head_of_something_else_is_refused(changes, sentence):
    ledger = sf.Series.create("hospital.ledger")
    head = Path("hospital.ledger.head")
    head.write_text(json.dumps(json.loads(head.read_text("utf-8")) | changes), "utf-8")
    with pytest.raises(ReadError, match=sentence):
        ledger.verify()


def test_nobody_writes_without_a_key():
    with pytest.raises(ReadError, match="There is no key file"), exclusive_writer(Path("nowhere.key")):
        pass


def test_a_folder_on_another_drive_is_named_in_full(tmp_path, monkeypatch):
    def other_drive(*_):
        raise ValueError

    where = LedgerFiles(tmp_path / "hospital.ledger", tmp_path / "hospital.ledger.key")
    assert where.relative(tmp_path / "q1") == "q1"
    monkeypatch.setattr(os.path, "relpath", other_drive)
    assert where.relative(tmp_path / "q1") == (tmp_path / "q1").resolve().as_posix()


def test_values_that_do_not_fit_together_are_those_of_a_damaged_file():
    path = sf.Series.create("hospital.ledger").path
    with pytest.raises(ReadError, match="not a valid ledger file"), open_store(path):
        raise KeyError
