"""How parties find each other: some listen, some connect, all prove their identity and compare their agreements.

Parties start in any order and wait. Anyone who connects without the certificate of a peer is turned away, and the
wait goes on; it also goes on if a party leaves before all have arrived. Strangers cannot fill the room: of those who
have not proved who they are only so many may wait, each for a short time, and the one that has taken longest makes room
for the next.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256

from sfumato.errors import ProtocolError, SchemaError
from sfumato.fusion._connections import Address, PeerConnections
from sfumato.fusion._frames import AGAIN, FramedConnection, FramePurpose, NetworkFrame
from sfumato.fusion.certificates import read_certificate, tls_context
from sfumato.fusion.secure.messages import pack_message, unpack_message
from sfumato.fusion.session import SessionParameters, differing_fields

SHAKING_HANDS = 10.0  # seconds for TLS and greetings
HANGING_UP = 1.0
OFTEN = 3
SOON = 0.1
LOOKING = 0.05  # seconds between looks who has connected
LATEST = 2.0
SLOWER = 1.5
NONCE = 32
MAX_GUESTS = 64  # who have not proved yet who they are; the one that has taken longest makes room
MAX_NOTES = 20  # about those who were turned away
BUFFER = 1 << 20

Note = Callable[[str], None]
Admit = Callable[[str, bytes, FramedConnection], None]


class PeerDisconnected(Exception):  # noqa: N818 - no failure: the other side may come again
    """The other side left before it said anything."""


class AuthenticatedPeerDisconnected(PeerDisconnected):
    """The other side proved its identity, then left."""


@dataclass(frozen=True, eq=False)
class Hello:
    """What a party says first: its name, a fresh random number, and its agreement."""

    name: str
    nonce: bytes
    agreement: SessionParameters

    def encode(self) -> bytes:
        """Return it as a message."""
        settings = json.dumps(self.agreement.settings())
        return pack_message("hello", name=self.name, nonce=self.nonce, settings=settings)

    def check_peer(self, peer: str, body: bytes) -> bytes:
        """Compare the greeting of a peer with this one; return its random number."""
        message = unpack_message("hello", body, sender=f"party {peer!r}")
        if message.text("name") != peer:
            raise ProtocolError(f"The certificate of party {peer!r} is used under another name; correct the names.")
        points = differing_fields(self.agreement.settings(), _parse_settings(message.text("settings")))
        if points:
            raise ProtocolError(
                f"Parties {self.name!r} and {peer!r} do not agree on: {', '.join(points)}; make the agreements equal."
            )
        return message.blob("nonce", length=NONCE)


class Rendezvous:
    """What one party needs to meet the others; reads and checks all files on creation.

    Parameters
    ----------
    connections : the other parties.
    agreement : the agreement of all parties.
    retry : whether to try again while a party does not listen yet.
    note : is called with what happens.
    admit : is called with every party that arrives, its random number and its line.
    """

    def __init__(
        self, connections: PeerConnections, agreement: SessionParameters, *, retry: bool, note: Note, admit: Admit
    ) -> None:
        peers, self.addresses = connections.for_session(agreement)
        certificates = {name: read_certificate(peer.certificate, name) for name, peer in peers.items()}
        read_certificate(connections.identity.certificate, connections.me)
        self._pinned = {sha256(certificate).digest(): name for name, certificate in certificates.items()}
        if len(self._pinned) < len(certificates):
            raise SchemaError("Two peers have the same certificate; give each its own.")
        self.greeting = Hello(connections.me, secrets.token_bytes(NONCE), agreement)
        self._inward = tls_context(connections.identity, certificates.values(), server=True)
        self._outward = {
            name: tls_context(connections.identity, [certificates[name]], server=False) for name in self.addresses
        }
        self._retry, self._note, self._admit = retry, note, admit
        self._turned_away = 0
        last = connections.me == agreement.parties[-1]
        self.listener = None if last or connections.listen is None else _listen_socket(connections.listen)

    async def accept(self) -> None:
        """Let others connect, until this is stopped.

        We look who is there instead of `sock_accept`, which complains about an invalid state if somebody connects at
        the moment at which it is stopped, and loses the connection.
        """
        assert self.listener is not None  # noqa: S101 - the caller has looked
        async with asyncio.TaskGroup() as guests:
            waiting: dict[asyncio.Task[None], None] = {}
            while True:
                try:
                    connected, address = self.listener.accept()
                except OSError:  # nobody, gone again, or this machine has no file left: whoever is a peer tries again
                    await asyncio.sleep(LOOKING)
                    continue
                connected.setblocking(False)  # noqa: FBT003 - a socket takes it so
                if len(waiting) >= MAX_GUESTS:
                    longest = next(iter(waiting))
                    del waiting[longest]
                    longest.cancel()
                guest = guests.create_task(self._receive(connected, str(address[0])))
                waiting[guest] = None
                guest.add_done_callback(lambda done: waiting.pop(done, None))
                guest.add_done_callback(partial(_close_if_canceled, connected))
                await asyncio.sleep(0)

    async def _receive(self, connected: socket.socket, host: str) -> None:
        try:
            line = await self._secured(connected)
            name, nonce = await self._greet(line)
        except (OSError, PeerDisconnected):
            self._note_rejection(host)
        except asyncio.CancelledError:
            self._note_rejection(host)
            raise
        else:
            self._admit(name, nonce, line)

    def _note_rejection(self, host: str) -> None:
        """Say that somebody was turned away, so often that it helps and not so often that it hides all else."""
        self._turned_away += 1
        if self._turned_away <= MAX_NOTES:
            self._note(f"A connection from {host} was turned away: it did not prove to be one of the peers.")
        if self._turned_away == MAX_NOTES:
            self._note("Further connections that do not prove to be one of the peers are turned away without a word.")

    async def _secured(self, connected: socket.socket) -> FramedConnection:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(BUFFER, loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        transport, _ = await loop.connect_accepted_socket(
            lambda: protocol, connected, ssl=self._inward, ssl_handshake_timeout=SHAKING_HANDS
        )
        return FramedConnection(reader, asyncio.StreamWriter(transport, protocol, reader, loop))

    async def connect(self, name: str) -> None:
        """Connect to a party that listens, repeatedly if requested."""
        address, delay, told, refused = self.addresses[name], SOON, False, 0
        while True:
            try:
                line = await self._called(name, address)
                _, nonce = await self._greet(line)
            except (OSError, PeerDisconnected) as error:
                refused = refused + 1 if isinstance(error, AuthenticatedPeerDisconnected) else 0
                self._abort_unless_retrying(name, address, error, refused)
                if not told:
                    self._note(f"Waiting for party {name!r} at {address}.")
                    told = True
                await asyncio.sleep(delay)
                delay = min(delay * SLOWER, LATEST)
            else:
                self._admit(name, nonce, line)
                return

    def _abort_unless_retrying(self, name: str, address: Address, error: Exception, refused: int) -> None:
        """Refuse if trying again is useless, or not requested."""
        if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
            raise ProtocolError(
                f"The listener at {address} does not show the certificate of party {name!r}; check the address "
                "and the file of the certificate, and whether it has expired."
            ) from None
        if refused and (refused == OFTEN or not self._retry):
            raise ProtocolError(
                f"Party {name!r} answers but rejects this party; give it the current certificate of this party."
            ) from None
        if not self._retry:
            raise ProtocolError(
                f"Party {name!r} does not answer at {address}; start it first or use `sfumato party serve`."
            ) from None

    async def _called(self, name: str, address: Address) -> FramedConnection:
        async with asyncio.timeout(SHAKING_HANDS):
            reader, writer = await asyncio.open_connection(
                address.host, address.port, ssl=self._outward[name], server_hostname="", limit=BUFFER
            )
        return FramedConnection(reader, writer)

    async def _greet(self, line: FramedConnection) -> tuple[str, bytes]:
        """Say who we are, and learn who the other side is: the pinned certificate decides, not what it says."""
        name = self._pinned.get(sha256(line.peer_certificate()).digest())
        if name is None:
            line.abort()
            raise PeerDisconnected
        try:
            line.write(FramePurpose.HELLO, self.greeting.encode())
            async with asyncio.timeout(SHAKING_HANDS):
                frame = await line.read(name)
            return name, self._answer(name, frame)
        except (OSError, ProtocolError, PeerDisconnected):
            await line.close(HANGING_UP)
            raise
        except asyncio.CancelledError:
            line.abort()
            raise

    def _answer(self, name: str, frame: NetworkFrame | None) -> bytes:
        if frame is not None and frame.kind is FramePurpose.HELLO:
            return self.greeting.check_peer(name, frame.body)
        if frame is None:
            raise AuthenticatedPeerDisconnected
        if frame.kind is FramePurpose.ABORT:
            raise PeerDisconnected
        raise ProtocolError(f"Party {name!r} sent something before its greeting; {AGAIN}.")


def _close_if_canceled(connected: socket.socket, guest: asyncio.Task[None]) -> None:
    """Close the connection of a guest that had to make room, also if it had not begun."""
    if guest.cancelled():
        connected.close()


def _listen_socket(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        listener = socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        raise SchemaError(
            f"This party cannot listen on {address}: {error.strerror}; choose another host or port."
        ) from None
    listener.setblocking(False)  # noqa: FBT003 - a socket takes it so
    return listener


def _parse_settings(text: str) -> dict[str, str]:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    return {str(name): str(value) for name, value in given.items()} if isinstance(given, dict) else {}
