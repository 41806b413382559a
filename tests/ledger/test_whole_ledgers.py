"""A ledger is whole: its files are nobody else's, and what is old, changed or missing is told."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest

import sfumato as sf
from series_of_patients import names, quarter, refused, released
from sfumato.errors import InvalidParameterError, ReadError, WriteError


def test_only_its_owner_may_read_the_files(ledger):
    for name in ("hospital.ledger", "hospital.ledger.key", "hospital.ledger.head"):
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o600
    Path("hospital.ledger.key").chmod(0o644)
    refused(ReadError, r"Others may read the key file .*; take that away by chmod 600\.", sf.Series, ledger.path)
    Path("hospital.ledger.key").chmod(0o600)
    Path("hospital.ledger").chmod(0o640)
    refused(ReadError, "Others may read the ledger file", sf.Series, ledger.path)


@pytest.mark.usefixtures("ledger")
@pytest.mark.parametrize("path", ["public/a.ledger", "q1/Public/x/a.ledger"])
def test_nothing_confidential_is_put_into_public_folders(path):
    refused(WriteError, "is in a folder named public", sf.Series.create, path)
    refused(WriteError, "key of a series is confidential", sf.Series.create, "a.ledger", key=path)


@pytest.mark.usefixtures("ledger")
def test_files_that_are_there_or_cannot_be_made_are_refused():
    refused(WriteError, "hospital.ledger already exists", sf.Series.create, "hospital.ledger")
    refused(WriteError, "There is no folder", sf.Series.create, "nowhere/a.ledger")
    Path("lone.key").touch()
    refused(
        WriteError,
        r"key already exists; name another file for the key",
        sf.Series.create,
        "b.ledger",
        key="lone.key",
    )
    refused(InvalidParameterError, "must have names of their own", sf.Series.create, "a.head", key="a.key")
    refused(
        ReadError,
        "There is no ledger a.ledger; make one by sfumato ledger init",
        sf.Series,
        "a.ledger",
        key="hospital.ledger.key",
    )


@pytest.mark.usefixtures("ledger")
def test_a_key_can_be_kept_elsewhere():
    Path("keys").mkdir()
    other = sf.Series.create("other.ledger", key="keys/other.key")
    released(other, quarter(0, 12)).write("r1", report=False)
    assert names("keys") == ["other.head", "other.key"]
    assert len(sf.Series("other.ledger", key="keys/other.key").releases()) == 1
    refused(ReadError, "is not the key of the ledger", sf.Series, "other.ledger", key="hospital.ledger.key")
    refused(ReadError, "There is no key file", sf.Series, "other.ledger")


@pytest.mark.parametrize("content", ["", "sfumato ledger key 1\nxyz\n", "sfumato ledger key 2\n" + "ab" * 32 + "\n"])
def test_a_file_that_is_no_key_is_refused(ledger, content):
    (ledger.path.parent / "hospital.ledger.key").write_text(content)
    refused(ReadError, "is not the key file of a ledger", sf.Series, "hospital.ledger")


def test_an_old_copy_of_the_ledger_is_refused(ledger, monkeypatch):
    released(ledger, quarter(0, 12)).write("q1", report=False)
    for name in names("."):
        if name.startswith("hospital"):
            shutil.copy2(name, f"old-{name}")
    released(ledger, quarter(3, 15)).write("q2", report=False)
    shutil.copy2("old-hospital.ledger", "hospital.ledger")
    refused(
        ReadError,
        r"is older than the head file .* it has 1 entries, and entry 2 was written",
        sf.Series,
        "hospital.ledger",
    )
    refused(ReadError, "is older than", released, ledger, quarter(3, 15))
    shutil.copy2("old-hospital.ledger.head", "hospital.ledger.head")
    refused(ReadError, "is older than the record of it in .* says: it has 1 entries", sf.Series, "hospital.ledger")
    monkeypatch.setenv("XDG_STATE_HOME", os.environ["XDG_STATE_HOME"] + " of somebody else")
    refused(ReadError, r"is older than the release in q2 says", sf.Series, "hospital.ledger")
    Path("elsewhere").mkdir()
    shutil.move("q2", "elsewhere/q2")
    restored = sf.Series("hospital.ledger")
    refused(ReadError, "is older than the release in elsewhere/q2", restored.verify, ["elsewhere/q2"])
    refused(ReadError, "is not a release of a series", restored.verify, ["elsewhere"])
    released(restored, quarter(4, 16)).write("q2", report=False)
    refused(ReadError, "has another entry 2 than the release in elsewhere/q2", restored.verify, ["elsewhere/q2"])


def test_a_series_may_be_moved_and_of_two_copies_only_one_goes_on(ledger):
    released(ledger, quarter(0, 12)).write("q1", report=False)
    copy = Path.cwd().with_name(f"{Path.cwd().name}-copy")
    shutil.copytree(".", copy)
    released(ledger, quarter(3, 15)).write("q2", report=False)
    refused(ReadError, "is older than the record of it in", sf.Series, copy / "hospital.ledger")
    Path("deep/new").mkdir(parents=True)
    for name in names("."):
        if name.startswith("hospital"):
            shutil.move(name, f"deep/new/{name}")
    moved = sf.Series("deep/new/hospital.ledger")
    released(moved, quarter(4, 16)).write("q3", report=False)
    assert len(moved.releases()) == 3
    refused(ReadError, "is older than the record of it in", sf.Series, copy / "hospital.ledger")


def test_a_lost_head_is_told_and_written_anew_by_repair_alone(two_quarters):
    Path("hospital.ledger.head").unlink()
    refused(ReadError, "There is no head file hospital.ledger.head", sf.Series, "hospital.ledger")
    assert "was written anew" in sf.Series.repair("hospital.ledger")
    assert len(sf.Series("hospital.ledger").releases()) == 2
    (two_quarters.path.parent / "hospital.ledger.head").write_text("{}")
    refused(ReadError, "does not tell the head of a ledger", sf.Series, "hospital.ledger")


TAMPERINGS = [
    "DELETE FROM memberships WHERE release = 1",
    "DELETE FROM persons WHERE release = 2",
    "DELETE FROM seen",
    "UPDATE signatures SET places = zeroblob(length(places))",
    "UPDATE groups SET counts = zeroblob(length(counts)) WHERE release = 2",
    "UPDATE releases SET folder = 'q3' WHERE number = 1",
    "UPDATE entries SET said = replace(said, 'q1', 'q3')",
    "UPDATE entries SET head = 'x' WHERE entry = 2",
    "DELETE FROM entries WHERE entry = 1",
    "INSERT INTO seen VALUES (1, 9, x'', x'')",
]


@pytest.mark.usefixtures("two_quarters")
@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_what_was_changed_or_taken_out_is_told(tampering):
    store = sqlite3.connect("hospital.ledger")
    with store:
        store.execute(tampering)
    store.close()

    def used():
        ledger = sf.Series("hospital.ledger")
        ledger.history("disease")
        ledger.verify()

    refused(ReadError, "The ledger hospital.ledger is not what was recorded: .*; restore the newest copy", used)


@pytest.mark.parametrize("tampering", TAMPERINGS[1:4])
def test_a_search_does_not_start_from_what_was_changed(two_quarters, tampering):
    store = sqlite3.connect("hospital.ledger")
    with store:
        store.execute(tampering)
    store.close()
    refused(ReadError, "is not what was recorded", released, two_quarters, quarter(3, 15))


def test_files_that_are_no_ledger_are_refused(two_quarters):
    store = sqlite3.connect("hospital.ledger")
    with store:
        store.execute("UPDATE facts SET value = 'sfumato ledger 0' WHERE name = 'format'")
    store.close()
    refused(ReadError, "is not a valid ledger file", sf.Series, "hospital.ledger")
    two_quarters.path.write_bytes(b"nothing")
    refused(ReadError, "is not a valid ledger file", sf.Series, "hospital.ledger")


def test_rows_that_refer_to_no_release_cannot_be_added(two_quarters):
    from sfumato.tables.series._ledger.store import RowAddress, insert, open_store

    with pytest.raises(ReadError), open_store(two_quarters.path) as store:
        insert(store, {RowAddress("persons", 99): (b"",)})


def test_verifying_tells_of_folders_that_moved_and_refuses_those_that_were_changed(two_quarters):
    assert two_quarters.verify(["q1"]) == ()
    Path("q1").rename("archive")
    assert two_quarters.verify(["archive"]) == ("Release 1 is not in q1 any more, so its files could not be checked.",)
    with Path("q2/public/table.csv").open("a") as file:
        file.write("x")
    refused(ReadError, "public/ of release 2 in q2 was changed after it was written", two_quarters.verify)


@pytest.mark.usefixtures("two_quarters")
def test_ledger_and_releases_can_be_moved_together(tmp_path, monkeypatch):
    Path("new").mkdir()
    for name in ("hospital.ledger", "hospital.ledger.key", "hospital.ledger.head", "q1", "q2"):
        shutil.move(name, "new")
    monkeypatch.chdir(tmp_path / "new")
    assert sf.Series("hospital.ledger").verify() == ()
