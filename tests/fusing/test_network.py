"""Parties over TLS on this machine, in threads: who may come, what is refused, and how everybody learns of an end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from parties_over_tls import PAIR, run, scan
from party_folders import NAMES, Folders
from sfumato.errors import InfeasibleError, ProtocolError, ReadError, SchemaError, SfumatoError, WriteError
from sfumato.fusion import _rendezvous, network
from sfumato.fusion import network as inbox
from sfumato.fusion._connections import Address, Timeouts
from sfumato.fusion.certificates import Credentials, create_credentials, read_certificate, tls_context
from sfumato.fusion.network import connect_parties, fuse_over_network
from sfumato.fusion.party import Party
from sfumato.fusion.party_file import PartyFile
from sfumato.fusion.protocol import fuse
from sfumato.fusion.result import FusionResult
from sfumato.fusion.secure.channel import Parties


@pytest.mark.parametrize(("names", "scoring"), [(PAIR, "sensitive"), (NAMES, "sensitive"), (PAIR, "sensitive-sum")])
def test_parties_over_tls_fuse_what_one_process_fuses(tmp_path, names, scoring):
    folders = Folders(tmp_path, names)
    for name in names:
        folders.contents[name]["agreement"]["scoring"] = scoring
    folders.write()
    files = [PartyFile.read(folders.file(name)) for name in names]
    requirements = files[0].agreement.requirements
    together = fuse([file.party for file in files], target="class", requirements=requirements, scoring=scoring)
    for result in run(folders).values():
        assert isinstance(result, FusionResult)
        assert result.published.equals(together.published)
        assert result.transcript == together.transcript


def exchange(folders: Folders, talk: Callable[[Parties], object]) -> dict[str, object]:
    """Connect all parties, and let each do the same over its channels."""

    def take(name: str) -> object:
        file = PartyFile.read(folders.file(name))
        with connect_parties(file.connections, file.agreement, retry=True, note=[].append) as parties:
            return talk(parties)

    return run(folders, **dict.fromkeys(folders.names, take))


def test_both_may_send_much_before_they_receive(pair):
    def talk(parties):
        for _ in range(4):
            parties.send(parties.peer, "much", body=parties.me.encode() * (1 << 19))
        return [parties.receive(parties.peer, "much").blob("body")[:8] for _ in range(4)]

    assert exchange(pair, talk) == {"hospital": [b"agencyag"] * 4, "agency": [b"hospital"] * 4}


def test_a_message_that_is_too_large_is_not_sent(pair, monkeypatch):
    monkeypatch.setattr(network, "LARGEST", 5000)

    def talk(parties):
        with pytest.raises(ProtocolError, match="larger than the 5,000 allowed"):
            parties.send(parties.peer, "much", body=bytes(6000))
        return True

    assert set(exchange(pair, talk).values()) == {True}


def test_a_party_that_sends_too_much_at_once_is_stopped(pair, monkeypatch):
    monkeypatch.setattr(inbox, "MAX_QUEUE_LENGTH", 100_000)

    def talk(parties):
        if parties.me == "agency":
            for _ in range(4):
                parties.send(parties.peer, "much", body=bytes(50_000))
            with pytest.raises(ProtocolError, match="'hospital' ended the session"):
                parties.receive(parties.peer, "never")
            return True
        for _ in range(600):
            if not parties.channels["agency"]._network._failed:
                time.sleep(0.05)
        with pytest.raises(ProtocolError, match="'agency' sends more than it may"):
            [parties.receive(parties.peer, "much") for _ in range(9)]
        return True

    assert set(exchange(pair, talk).values()) == {True}


def test_a_party_that_is_stopped_tells_the_others(tmp_path):
    def talk(parties):
        if parties.me == "insurer":
            parties.gather("here")
            parties.channels["agency"].close()
            return "gone"
        parties.send("insurer", "here")
        with pytest.raises(ProtocolError, match="'insurer' ended the session: it was stopped there"):
            parties.receive("insurer", "never")
        with pytest.raises(ProtocolError, match="'insurer' ended the session: it was stopped there"):
            parties.receive(next(name for name in parties.others if name != "insurer"), "never")
        return "told"

    assert exchange(Folders(tmp_path), talk) == {"hospital": "told", "agency": "told", "insurer": "gone"}


def test_who_ends_too_early_is_no_silent_partner(pair):
    def talk(parties):
        if parties.me == "agency":
            return True
        with pytest.raises(ProtocolError, match="'agency' ended before this one"):
            parties.receive("agency", "never")
        return True

    assert set(exchange(pair, talk).values()) == {True}


def test_one_that_lives_but_never_goes_on_is_not_waited_for_for_ever(pair):
    pair.contents["hospital"]["waiting"]["step"] = 2
    pair.write()
    done = threading.Event()

    def talk(parties):
        if parties.me == "agency":
            return done.wait(60)
        try:
            with pytest.raises(ProtocolError, match="'agency' is alive but has sent nothing for 2 seconds"):
                parties.receive("agency", "never")
        finally:
            done.set()
        return True

    assert set(exchange(pair, talk).values()) == {True}


# What does not fit together is found at the start.


def test_different_requirements_are_named_at_both_parties(pair):
    pair.contents["agency"]["agreement"]["requirements"][0]["k"] = 3
    pair.contents["agency"]["agreement"]["scoring"] = "plain"
    pair.write()
    for result in run(pair).values():
        assert isinstance(result, ProtocolError)
        assert "do not agree on: requirements, scoring; make the agreements equal." in str(result)


def test_different_hierarchies_are_named_at_both_parties(pair):
    (pair.root / "hospital" / "job.csv").write_text("nurse;*\ndoctor;*\nbaker;*\nmason;*\n")
    for result in run(pair).values():
        assert isinstance(result, ProtocolError)
        assert "have different hierarchies for 'job'" in str(result)


def test_parties_that_all_listen_are_told_to_look_at_the_order(pair):
    pair.contents["agency"]["agreement"]["parties"].reverse()
    for content in pair.contents.values():
        content["waiting"]["others"] = 1
    pair.write()
    for result in run(pair).values():
        assert "Not all parties arrived within 1 seconds" in str(result)
        assert "name the parties in the same order" in str(result)


def test_parties_that_name_others_in_another_order_learn_it(tmp_path):
    folders = Folders(tmp_path)
    folders.contents["agency"]["agreement"]["parties"] = ["agency", "insurer", "hospital"]
    for content in folders.contents.values():
        content["waiting"]["others"] = 4
    folders.write()
    assert "'insurer' and 'agency' do not agree on: parties" in str(run(folders)["insurer"])


def test_parties_without_a_common_person_learn_just_that(pair):
    table = pair.root / "agency" / "table.csv"
    table.write_text(table.read_text().replace("person-", "nobody-"))
    for result in run(pair).values():
        assert isinstance(result, InfeasibleError)
        assert "nobody in common" in str(result)


def test_a_requirement_that_nothing_can_meet_ends_at_all_parties(pair):
    for content in pair.contents.values():
        content["agreement"]["requirements"] = [{"quasi": ["age"], "k": 57}]
    pair.write()
    for result in run(pair).values():
        assert isinstance(result, InfeasibleError)
        assert "56 people in common, but every group requires 57; require fewer" in str(result)


def test_a_table_that_its_hierarchy_does_not_cover_is_found_before_anybody_is_asked(pair):
    for name in PAIR:
        (pair.root / name / "job.csv").write_text("nurse;*\n")
    file = PartyFile.read(pair.file("agency"))
    with pytest.raises(SfumatoError, match="job"):
        fuse_over_network(file.party, file.agreement, file.connections, retry=True)


@pytest.mark.parametrize("why", ["has no column 'cost'", "do not agree on: requirements"])
def test_a_party_that_is_refused_at_once_tells_those_who_wait(tmp_path, why):
    folders, met = Folders(tmp_path), threading.Event()

    def waits(name: str) -> object:
        file = PartyFile.read(folders.file(name))
        return taking_part(file.party, file, lambda _: met.set())

    def refused(name: str) -> object:
        assert met.wait(60)  # hospital and agency have met, and wait for the insurer
        file = PartyFile.read(folders.file(name))
        if "agree" in why:
            requirements = [replace(each, k=7) for each in file.agreement.requirements]
            return taking_part(file.party, replace(file, agreement=replace(file.agreement, requirements=requirements)))
        return taking_part(replace(file.party, data=file.party.table("class").drop_columns(["cost"])), file)

    results = {name: str(each) for name, each in run(folders, hospital=waits, agency=waits, insurer=refused).items()}
    assert why in results["insurer"]
    told = [results["hospital"], results["agency"]]
    assert all("start again at all parties" in each or "do not agree on" in each for each in told)
    assert not any("Not all parties arrived" in each for each in told)
    assert "agree" in why or any("its table and settings do not allow it to take part" in each for each in told)


def taking_part(party: Party, file: PartyFile, note: Callable[[str], None] = [].append) -> object:
    try:
        return fuse_over_network(party, file.agreement, file.connections, note=note)
    except SfumatoError as error:
        return error


def test_joining_where_nobody_listens_ends_at_once(pair):
    file = PartyFile.read(pair.file("agency"))
    with pytest.raises(ProtocolError, match=r"'hospital' does not answer at 127\.0\.0\.1:"):
        fuse_over_network(file.party, file.agreement, file.connections, retry=False)


def test_a_port_that_is_taken_is_refused(pair):
    file = PartyFile.read(pair.file("hospital"))
    where = file.connections.listen
    with (
        socket.create_server((where.host, where.port)),
        pytest.raises(SchemaError, match=r"cannot listen on 127\.0\.0\.1"),
    ):
        fuse_over_network(file.party, file.agreement, file.connections)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"listen": None}, "needs an address to listen on"),
        ({"peers": ()}, "are not the other parties of the agreement"),
        ({"me": "stranger"}, "does not name party 'stranger'"),
    ],
)
def test_connections_that_cannot_work_are_refused(pair, change, match):
    file = PartyFile.read(pair.file("hospital"))
    with pytest.raises(SchemaError, match=match):
        replace(file.connections, **change).for_session(file.agreement)


def test_a_party_that_connects_needs_addresses(pair):
    file = PartyFile.read(pair.file("agency"))
    peers = [replace(peer, address=None) for peer in file.connections.peers]
    with pytest.raises(SchemaError, match="needs the address of that peer"):
        replace(file.connections, peers=peers).for_session(file.agreement)


@pytest.mark.parametrize("text", ["", "host", "host:", ":7", "host:0", "host:70000", "host:-1", "host:x"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(SchemaError, match="listen must be host:port"):
        Address.parse(text, "listen")


@pytest.mark.parametrize("waiting", [{"others": -1}, {"silence": 1}, {"step": 0}, {"silence": float("nan")}])
def test_waiting_times_that_cannot_work_are_refused(waiting):
    with pytest.raises(SfumatoError, match="Timeouts"):
        Timeouts(**waiting)


# Certificates.


def test_whoever_shows_no_peers_certificate_is_turned_away_and_waiting_goes_on(pair, tmp_path):
    notes: list[str] = []
    stranger = create_credentials("agency", tmp_path)
    known = read_certificate(pair.root / "hospital" / "hospital.crt", "hospital")
    where = PartyFile.read(pair.file("hospital")).connections.listen
    come = threading.Event()

    def late(name: str) -> object:
        scan(where).close()
        with (
            contextlib.suppress(OSError),
            tls_context(stranger, [known], server=False).wrap_socket(scan(where)) as line,
        ):
            line.recv(1)
        come.set()
        file = PartyFile.read(pair.file(name))
        return fuse_over_network(file.party, file.agreement, file.connections)

    results = run(pair, notes=notes, agency=late)
    assert come.is_set()
    assert all(isinstance(result, FusionResult) for result in results.values())
    assert sum("was turned away: it did not prove to be one of the peers" in said for said in notes) == 2


def test_strangers_who_connect_as_the_meeting_ends_leave_no_traceback(pair):
    file = PartyFile.read(pair.file("hospital"))
    complaints: list[dict] = []

    async def end() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: complaints.append(context))
        place = _rendezvous.Rendezvous(
            file.connections, file.agreement, retry=True, note=[].append, admit=lambda *_: None
        )
        welcome = loop.create_task(place.accept())
        await asyncio.sleep(2 * _rendezvous.LOOKING)
        with socket.create_connection(place.listener.getsockname()):
            loop.call_soon(welcome.cancel)  # in the very round in which the loop learns of the connection
            await asyncio.wait([welcome])
            await asyncio.sleep(0)
        place.listener.close()

    asyncio.run(end())
    assert complaints == []


def test_idle_strangers_make_room_for_the_peers(pair, monkeypatch):
    monkeypatch.setattr(_rendezvous, "MAX_GUESTS", 8)
    where = PartyFile.read(pair.file("hospital")).connections.listen
    notes: list[str] = []
    with contextlib.ExitStack() as stack:

        def late(name: str) -> object:
            idle = [stack.enter_context(scan(where)) for _ in range(60)]
            dropped = sum(hung_up(each) for each in idle[:40])
            file = PartyFile.read(pair.file(name))
            return dropped, fuse_over_network(file.party, file.agreement, file.connections)

        results = run(pair, notes=notes, agency=late)
    assert isinstance(results["hospital"], FusionResult)
    assert results["agency"][0] == 40
    assert sum("turned away" in said for said in notes) <= 21


def hung_up(line: socket.socket) -> bool:
    """Wait until the other side has hung up, and not for its own patience to end."""
    line.settimeout(_rendezvous.SHAKING_HANDS / 2)
    try:
        return line.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


def test_a_waiting_party_survives_that_no_connection_can_be_accepted(pair):
    resource = pytest.importorskip("resource")
    where = PartyFile.read(pair.file("hospital")).connections.listen
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    def late(name: str) -> object:
        scan(where).close()
        time.sleep(0.2)
        idle = [socket.socket() for _ in range(20)]
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(each.fileno() for each in idle), hard))
            for each in idle:
                each.connect((where.host, where.port))
            time.sleep(0.5)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            for each in idle:
                each.close()
        file = PartyFile.read(pair.file(name))
        return fuse_over_network(file.party, file.agreement, file.connections)

    assert all(isinstance(result, FusionResult) for result in run(pair, agency=late).values())


def test_nothing_is_put_in_place_before_all_have_written(pair):
    """The agency cannot write; the hospital, whose table is written, must not put it in place."""

    def take(name: str) -> object:
        file = PartyFile.read(pair.file(name))
        folder = pair.root / name / "fused" if name == "hospital" else pair.root / "nowhere" / "fused"
        try:
            return fuse_over_network(
                file.party, file.agreement, file.connections, write=lambda fused: fused.write(folder)
            )
        except SfumatoError as error:
            return error

    results = run(pair, hospital=take, agency=take)
    assert isinstance(results["agency"], WriteError)
    assert isinstance(results["hospital"], ProtocolError)
    assert not (pair.root / "hospital" / "fused").exists()
    assert not list((pair.root / "hospital").glob(".*"))


def test_all_put_the_same_table_in_place(pair):
    def take(name: str) -> object:
        file = PartyFile.read(pair.file(name))
        folder = pair.root / name / "fused"
        return fuse_over_network(file.party, file.agreement, file.connections, write=lambda fused: fused.write(folder))

    run(pair, hospital=take, agency=take)
    written = {(pair.root / name / "fused" / "public" / "table.csv").read_bytes() for name in pair.names}
    assert len(written) == 1


def test_a_party_whose_certificate_the_other_does_not_know_is_told(pair, tmp_path):
    other = create_credentials("agency", tmp_path)
    for made, kept in ((other.key, "agency.key"), (other.certificate, "agency.crt")):
        shutil.copy(made, pair.root / "agency" / kept)
    pair.contents["hospital"]["waiting"]["others"] = 3
    pair.write()
    results = run(pair)
    assert "'hospital' answers but rejects this party" in str(results["agency"])
    assert "Not all parties arrived within 3 seconds ('agency' did not" in str(results["hospital"])


def test_a_server_with_another_certificate_is_not_talked_to(pair, tmp_path):
    other = create_credentials("hospital", tmp_path)
    shutil.copy(other.certificate, pair.root / "agency" / "hospital.crt")
    pair.contents["hospital"]["waiting"]["others"] = 3
    pair.write()
    results = run(pair)
    assert "does not show the certificate of party 'hospital'" in str(results["agency"])
    assert isinstance(results["hospital"], ProtocolError)


def test_files_that_are_no_certificates_or_of_others_are_refused(pair):
    folder = pair.root / "hospital"
    with pytest.raises(ReadError, match=r"agency.crt was not made for party 'hospital'"):
        read_certificate(folder / "agency.crt", "hospital")
    with pytest.raises(ReadError, match="is not a certificate"):
        read_certificate(folder / "table.csv", "hospital")
    with pytest.raises(ReadError, match="cannot be read"):
        read_certificate(folder / "nothing.crt", "hospital")
    with pytest.raises(ReadError, match="do not belong together"):
        tls_context(Credentials(key=folder / "hospital.key", certificate=folder / "agency.crt"), [], server=True)


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such modes")
def test_a_key_that_others_may_read_is_refused(pair):
    folder = pair.root / "hospital"
    (folder / "hospital.key").chmod(0o640)
    with pytest.raises(ReadError, match=r"Other users may read the key .*chmod 600"):
        tls_context(Credentials(key=folder / "hospital.key", certificate=folder / "hospital.crt"), [], server=True)


def test_two_peers_may_not_have_the_same_certificate(tmp_path):
    folders = Folders(tmp_path)
    file = PartyFile.read(folders.file("hospital"))
    agency, insurer = file.connections.peers
    twice = replace(file.connections, peers=[agency, replace(insurer, certificate=agency.certificate)])
    with pytest.raises(ReadError, match="not made for party 'insurer'"):
        network.PeerNetwork(twice, file.agreement, retry=True, note=[].append)


# A hand-written agency, which has the right key but says what it should not.
