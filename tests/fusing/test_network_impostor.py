"""What a party should not say, said by hand: every word of it ends the session in one sentence."""

from __future__ import annotations

import contextlib
import json
import ssl
import struct
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

import pytest

from parties_over_tls import run, scan
from party_folders import Folders
from sfumato.errors import ProtocolError
from sfumato.fusion import _frames, network
from sfumato.fusion._connections import PeerConnections
from sfumato.fusion._frames import FramePurpose
from sfumato.fusion.certificates import read_certificate, tls_context
from sfumato.fusion.party_file import PartyFile
from sfumato.fusion.secure.messages import pack_message, unpack_message
from sfumato.fusion.session import SessionParameters


@dataclass
class Impostor:
    """The agency's side of a connection, byte by byte."""

    line: ssl.SSLSocket
    agreement: SessionParameters
    session: bytes = _frames.NO_SESSION
    sent: int = 0

    def hello(self, **changes: object) -> None:
        """Read the hospital's greeting, and greet it."""
        head = self._read(32)
        body = self._read(struct.unpack(">I", head[-4:])[0])
        theirs = unpack_message("hello", body).blob("nonce", length=32)
        settings = self.agreement.settings()
        nonce = bytes(32)
        self.frame(
            FramePurpose.HELLO,
            pack_message("hello", **{"name": "agency", "nonce": nonce, "settings": json.dumps(settings), **changes}),
        )
        digest = sha256(repr(sorted(settings.items())).encode() + theirs + nonce)
        self.session = digest.digest()[:16]

    def start(self) -> None:
        """Greet, and begin the session."""
        self.hello()
        self.frame(FramePurpose.START)

    def message(self, body: bytes) -> None:
        """Begin the session, and send a message."""
        self.start()
        self.frame(FramePurpose.MESSAGE, body)

    def frame(self, kind: int, body: bytes = b"", **changes: int | bytes) -> None:
        """Send a frame, correct but for the changes."""
        fields = {"version": 1, "number": self.sent, "session": self.session, "length": len(body), **changes}
        head = (fields["version"], kind, fields["number"], fields["session"], fields["length"])
        self.line.sendall(struct.pack(">2sBBQ16sI", b"Sf", *head) + body)
        self.sent += 1

    def offer(self, number: int = 0) -> bytes:
        """Write a first message with any number."""
        return pack_message("offer", **{"number of the message": number, "offer": "{}"})

    def _read(self, many: int) -> bytes:
        read = b""
        while len(read) < many:
            read += self.line.recv(many - len(read))
        return read

    def hear_the_end(self) -> None:
        """Read until the other side hangs up."""
        with contextlib.suppress(OSError):
            while self.line.recv(1 << 16):
                pass


ATTACKS = {
    "sent no frame of this protocol": lambda agency: (agency.start(), agency.line.sendall(b"G" * 32)),
    "no frame of this protocol": lambda agency: (agency.start(), agency.frame(9)),
    "uses version 2 of the protocol": lambda agency: (agency.start(), agency.frame(FramePurpose.MESSAGE, version=2)),
    "is version 1; install the same": lambda agency: agency.frame(FramePurpose.HELLO, version=7),
    "announced 268,435,457 bytes": lambda agency: (
        agency.start(),
        agency.frame(FramePurpose.MESSAGE, length=(1 << 28) + 1),
    ),
    "announced 65,537 bytes": lambda agency: agency.frame(FramePurpose.HELLO, length=65_537),
    "lost, repeated or out of order; start": lambda agency: (
        agency.start(),
        agency.frame(FramePurpose.ALIVE),
        agency.frame(FramePurpose.ALIVE, number=2),
    ),
    "a frame of another session": lambda agency: (
        agency.start(),
        agency.frame(FramePurpose.MESSAGE, agency.offer(), session=bytes(range(16))),
    ),
    "of another session; start": lambda agency: (agency.start(), agency.frame(FramePurpose.START)),
    "has started another session": lambda agency: (
        agency.hello(),
        agency.frame(FramePurpose.START, session=bytes(range(16))),
    ),
    "sent a frame out of order": lambda agency: (agency.start(), agency.frame(FramePurpose.HELLO)),
    "a frame out of order": lambda agency: (
        agency.hello(),
        agency.frame(FramePurpose.MESSAGE, session=_frames.NO_SESSION),
    ),
    "something before its greeting": lambda agency: agency.frame(FramePurpose.BYE),
    "is used under another name": lambda agency: agency.hello(name="insurer"),
    "do not agree on": lambda agency: agency.hello(settings="[" * 9999),
    "is malformed or truncated": lambda agency: agency.message(b"nothing"),
    "was lost, repeated": lambda agency: agency.message(agency.offer(5)),
    "offer of party 'agency' cannot be read": lambda agency: (
        agency.start(),
        agency.frame(FramePurpose.MESSAGE, agency.offer()),
    ),
    "'offer' was expected from party 'agency', but another": lambda agency: (
        agency.start(),
        agency.frame(FramePurpose.MESSAGE, pack_message("other")),
    ),
    "ended the session: it gave no known reason": lambda agency: (
        agency.start(),
        agency.frame(FramePurpose.ABORT, b"person-0001"),
    ),
    "gave no sign of life for 2 seconds": lambda agency: (agency.start(), agency.hear_the_end()),
    "The connection to party 'agency' was lost": lambda agency: (agency.start(), agency.line.close()),
}


@pytest.mark.slow
@pytest.mark.parametrize("said", ATTACKS)
def test_what_a_party_should_not_say_ends_the_session_in_one_sentence(pair, said, monkeypatch):
    monkeypatch.setattr(network, "LINGER", 0.2)
    pair.contents["hospital"]["waiting"]["silence"] = 2 if "life" in said else 30
    pair.write()
    assert said in str(attacked(pair, ATTACKS[said]))


def attacked(folders: Folders, attack: Callable[[Impostor], object]) -> object:
    """Let the hospital meet a hand-written agency; give what it raised."""
    file = PartyFile.read(folders.file("agency"))
    connections: PeerConnections = file.connections
    where = connections.peers[0].address

    def agency(_: str) -> None:
        known = read_certificate(connections.peers[0].certificate, "hospital")
        with tls_context(connections.identity, [known], server=False).wrap_socket(scan(where)) as line:
            attack(Impostor(line, file.agreement))
            with contextlib.suppress(OSError):
                Impostor(line, file.agreement).hear_the_end()

    result = run(folders, agency=agency)["hospital"]
    assert isinstance(result, ProtocolError)
    assert "person-" not in str(result)
    return result
