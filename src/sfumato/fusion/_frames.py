"""What goes over a connection: numbered frames, each bound to its session and of bounded size.

A frame begins with 32 bytes: `Sf`, the version, the kind, its number on this connection and in this direction, the
session, and the length of its body. TLS protects all of it. The session is a hash of the agreement and of a fresh
random number of every party, so that a frame of an earlier session fits nowhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
from dataclasses import dataclass
from enum import IntEnum

from sfumato.errors import ProtocolError
from sfumato.fusion.secure.messages import LARGEST

WIRE_VERSION = 1
NO_SESSION = bytes(16)
PIECE = 1 << 18
AGAIN = "start again at all parties"

_MAGIC = b"Sf"
_HEADER = struct.Struct(">2sBBQ16sI")


class FramePurpose(IntEnum):
    """The purpose of a frame."""

    HELLO = 1
    START = 2
    MESSAGE = 3
    ALIVE = 4
    BYE = 5
    ABORT = 6


LIMITS = {
    FramePurpose.HELLO: 1 << 16,
    FramePurpose.START: 0,
    FramePurpose.MESSAGE: LARGEST,
    FramePurpose.ALIVE: 0,
    FramePurpose.BYE: 0,
    FramePurpose.ABORT: 32,
}

REASONS = {
    "stopped": "it was stopped there",
    "refused": "its table and settings do not allow it to take part",
    "infeasible": "the requirements cannot be met",
    "protocol": "another party left, stalled, or broke the protocol",
    "late": "not all parties arrived in time",
}


@dataclass(frozen=True, kw_only=True)
class NetworkFrame:
    """A frame that was read."""

    kind: FramePurpose
    session: bytes
    body: bytes


def encode_frame(kind: FramePurpose, number: int, session: bytes, body: bytes = b"") -> bytes:
    """Encode a frame as bytes."""
    return _HEADER.pack(_MAGIC, WIRE_VERSION, kind, number, session, len(body)) + body


def abort_reason(sender: str, body: bytes) -> ProtocolError:
    """Return the error for a session that another party ended, with its reason if it is a known one."""
    why = REASONS.get(body.decode("latin-1"), "it gave no known reason")
    return ProtocolError(f"Party {sender!r} ended the session: {why}; see the message there, then {AGAIN}.")


class FramedConnection:
    """One connection as frames, both ways; lives in the thread of its event loop."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._sent = 0
        self._heard = 0
        self._their_session: bytes | None = None
        self.session = NO_SESSION
        self.signs = 0  # of life: grows with everything that arrives
        self.over = asyncio.Event()

    @property
    def peer_session(self) -> bytes | None:
        """The session that the other side has started, if any."""
        return self._their_session

    def write(self, kind: FramePurpose, body: bytes = b"") -> None:
        """Send a frame; after the end it is dropped."""
        if self._writer.is_closing():
            return
        self._writer.write(encode_frame(kind, self._sent, self.session, body))
        self._sent += 1

    async def read(self, sender: str) -> NetworkFrame | None:
        """Wait for the next frame; None when the connection ends."""
        try:
            head = await self._reader.readexactly(_HEADER.size)
            kind, session, length = self._opened(head, sender)
            body = await self._body(length)
        except (asyncio.IncompleteReadError, OSError):
            return None
        return NetworkFrame(kind=kind, session=session, body=body)

    async def _body(self, length: int) -> bytes:
        """Read the body of a frame; every piece of a long one is a sign of life."""
        pieces = []
        while length:
            piece = await self._reader.readexactly(min(length, PIECE))
            pieces.append(piece)
            length -= len(piece)
            self.signs += 1
        self.signs += 1
        return b"".join(pieces)

    def _opened(self, head: bytes, sender: str) -> tuple[FramePurpose, bytes, int]:
        """Parse the header of a frame, and refuse what is too large, of another version or out of place."""
        magic, version, code, number, session, length = _HEADER.unpack(head)
        if magic != _MAGIC or (version == WIRE_VERSION and code not in set(FramePurpose)):
            raise ProtocolError(f"Party {sender!r} sent no frame of this protocol; nothing is published.")
        if version != WIRE_VERSION:
            raise ProtocolError(
                f"Party {sender!r} uses version {version} of the protocol, but this is version {WIRE_VERSION}; "
                "install the same version of Sfumato at all parties."
            )
        kind = FramePurpose(code)
        if length > LIMITS[kind]:
            raise ProtocolError(
                f"Party {sender!r} announced {length:,} bytes, more than the {LIMITS[kind]:,} allowed; "
                "nothing is published."
            )
        if number != self._heard:
            raise ProtocolError(f"A frame from party {sender!r} was lost, repeated or out of order; {AGAIN}.")
        self._heard += 1
        if kind is FramePurpose.START and self._their_session is None and session != NO_SESSION:
            self._their_session = session
        elif kind is FramePurpose.START or session != (self._their_session or NO_SESSION):
            raise ProtocolError(f"Party {sender!r} sent a frame of another session; {AGAIN}.")
        return kind, session, int(length)

    async def ignore(self) -> None:
        """Read and ignore the rest, so that the other side can read our last frame."""
        with contextlib.suppress(OSError):
            while await self._reader.read(PIECE):
                pass
        self.over.set()

    def peer_certificate(self) -> bytes:
        """Return the certificate that the other side has shown."""
        shown: bytes | None = self._writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return shown or b""

    async def close(self, patience: float) -> None:
        """Send the rest, and end the connection."""
        self._writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(patience):
                await self._writer.wait_closed()
        self.abort()

    def abort(self) -> None:
        """End the connection at once."""
        self._writer.transport.abort()
        self.over.set()
