"""Parties as processes of their own, which start in any order and are killed and stopped at every stage."""

from __future__ import annotations

import contextlib
import os
import signal

import pytest

from parties_over_tls import scan
from party_folders import NAMES, Folders, contents
from sfumato.fusion.party_file import PartyFile
from sfumato.fusion.protocol import fuse

DOOMED = """
import os, signal, sys
from sfumato.fusion.network import fuse_over_network
from sfumato.fusion.party_file import PartyFile

struck = []

def strike(done, note=""):
    if note.startswith({stage!r}) and not struck:
        struck.append(note)
        os.kill(os.getpid(), signal.{signal})

file = PartyFile.read(sys.argv[1])
fuse_over_network(file.party, file.agreement, file.connections, progress=strike)
"""
SURVIVORS = NAMES[:2]


@pytest.fixture
def folders(tmp_path):
    made = Folders(tmp_path)
    yield made
    made.stop_all()


@pytest.mark.slow
def test_three_processes_write_what_one_process_fuses(folders):
    for name in reversed(NAMES):
        folders.start(name)
    files = [PartyFile.read(folders.file(name)) for name in NAMES]
    together = fuse([file.party for file in files], target="class", requirements=files[0].agreement.requirements)
    together.write(folders.root / "together")
    for name in NAMES:
        code, said, complained = folders.end(name)
        assert code == 0, complained
        assert "Audit: holds; 54 records" in said
        assert "54 people are in the tables of all parties; rows per party: hospital 58, agency 58, insurer 58." in said
        assert f"The fusion took {together.rounds} rounds" in said
        assert "round 1: " in complained
        assert "nodes" in complained
        written = contents(folders.out(name))
        assert written == contents(folders.root / "together")
        assert {"public/table.csv", "internal/transcript.json"} <= set(written)


def nothing_is_written(folders: Folders) -> bool:
    """Look for output folders and for temporary ones."""
    found = [path.name for name in NAMES for path in (folders.root / name).iterdir()]
    return "fused" not in found and not any(name.startswith(".") for name in found)


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["comparing agreements", "aligning", "round 1", "round 3", "comparing results"])
def test_when_a_party_is_killed_the_others_end_and_write_nothing(folders, stage):
    folders.start("insurer", program=DOOMED.format(stage=stage, signal="SIGKILL"))
    for name in SURVIVORS:
        folders.start(name)
    assert folders.end("insurer")[0] == -signal.SIGKILL
    for name in SURVIVORS:
        code, said, complained = folders.end(name)
        assert (code, said) == (2, ""), complained
        last = complained.splitlines()[-1]
        assert "connection to party 'insurer' was lost" in last or "ended the session" in last
        assert "start again at all parties" in last
        assert "person-" not in complained
    assert nothing_is_written(folders)


@pytest.mark.slow
def test_when_a_party_stalls_the_others_end_and_so_does_it_when_it_goes_on(folders):
    process = folders.start("hospital", program=DOOMED.format(stage="aligning", signal="SIGSTOP"))
    for name in NAMES[1:]:
        folders.start(name)
    ends = [folders.end(name) for name in NAMES[1:]]
    for code, said, complained in ends:
        assert (code, said) == (2, ""), complained
    assert any("'hospital' gave no sign of life for 5 seconds" in complained for *_, complained in ends)
    process.send_signal(signal.SIGCONT)
    code, _, complained = folders.end("hospital")
    assert code != 0
    assert "ProtocolError" in complained
    assert nothing_is_written(folders)


@pytest.mark.slow
def test_a_party_that_is_killed_while_it_waits_may_come_again(folders):
    for name in SURVIVORS:
        folders.start(name)
    tell(folders, "hospital", "Party 'agency' has arrived.")
    folders.processes["agency"].kill()
    folders.processes["agency"].communicate()
    tell(folders, "hospital", "Party 'agency' has left; waiting for it again.")
    for name in NAMES[1:]:
        folders.start(name)
    for name in NAMES:
        code, _, complained = folders.end(name)
        assert code == 0, complained
    tables = {(folders.out(name) / "public" / "table.csv").read_bytes() for name in NAMES}
    assert len(tables) == 1


def tell(folders: Folders, name: str, expected: str) -> None:
    """Read what a process complains about until it says what is expected."""
    while line := folders.processes[name].stderr.readline():
        if expected in line:
            return
    pytest.fail(f"{name} never said: {expected}")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_party_that_is_interrupted_tells_the_others(folders):
    folders.start("hospital", how="join")
    folders.start("agency")
    folders.start("insurer", program=DOOMED.format(stage="aligning", signal="SIGINT"))
    code, _, complained = folders.end("insurer")
    assert code != 0
    assert "KeyboardInterrupt" in complained
    for name in SURVIVORS:
        code, said, complained = folders.end(name)
        assert (code, said) == (2, "")
        assert "ended the session" in complained
    assert nothing_is_written(folders)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_interrupted_party_ends_though_nobody_reads_what_it_complains_about(folders):
    unread, full = os.pipe()
    os.set_blocking(full, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(full, b"x" * 1024)
    os.set_blocking(full, True)
    process = folders.start("hospital", errors=full)
    where = PartyFile.read(folders.file("hospital")).connections.listen
    scan(where).close()  # it listens, and complains about us
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(60) == 130
    finally:
        os.close(unread)
        os.close(full)


@pytest.mark.slow
def test_parties_that_do_not_agree_all_end(folders):
    folders.contents["insurer"]["agreement"]["requirements"][0]["k"] = 7
    for name in NAMES:
        folders.contents[name]["waiting"]["others"] = 8
    folders.write()
    for name in NAMES:
        folders.start(name)
    ends = {name: folders.end(name) for name in NAMES}
    assert {code for code, *_ in ends.values()} == {2}
    assert "do not agree on: requirements; make the agreements equal." in ends["insurer"][2]
    assert nothing_is_written(folders)


@pytest.mark.slow
def test_an_out_folder_that_holds_something_is_refused_at_the_start(folders):
    folders.out("agency").mkdir()
    (folders.out("agency") / "table.csv").write_text("older")
    folders.start("agency")
    folders.start("hospital")
    code, _, complained = folders.end("agency")
    assert code == 2, complained
    assert "already contains files" in complained.splitlines()[-1]
    code, _, complained = folders.end("hospital")
    assert code == 2
    assert "'agency' ended the session: its table and settings do not allow it to take part" in complained
    assert (folders.out("agency") / "table.csv").read_text() == "older"
