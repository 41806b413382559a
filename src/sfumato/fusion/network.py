"""Parties on different machines: one TLS connection between any two of them, and one session for all.

An event loop in its own thread reads and writes, so that sending never waits for the other side, and signs of life
go out while the protocol computes. If anything goes wrong with one party, the session ends for all, and all are told.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

from sfumato._progress import Progress, ignore_progress
from sfumato.encoding.coded_table import encode_column
from sfumato.errors import InfeasibleError, ProtocolError, SfumatoError
from sfumato.fusion._connections import PeerConnections
from sfumato.fusion._frames import AGAIN, FramedConnection, FramePurpose, NetworkFrame, abort_reason
from sfumato.fusion._rendezvous import Note, Rendezvous
from sfumato.fusion.party import Party
from sfumato.fusion.protocol import confirm_written, ignore_notes, run_party
from sfumato.fusion.result import FusionResult
from sfumato.fusion.secure.channel import Parties
from sfumato.fusion.secure.messages import LARGEST
from sfumato.fusion.session import SessionParameters

# Messages from other parties that have not been read yet.

MAX_QUEUE_LENGTH = 1 << 30  # bytes from one party waiting to be read


class MessageQueue:
    """Messages from one party that have not been read yet; filled by one thread and read by another."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[bytes | ProtocolError] = queue.Queue()
        self._came = 0
        self._went = 0

    def put(self, message: bytes | ProtocolError) -> None:
        """Add a message, or the reason why none will follow."""
        if isinstance(message, bytes):
            self._came += len(message)
        self._waiting.put(message)

    @property
    def full(self) -> bool:
        """Whether so much is waiting that something must be wrong."""
        return self._came - self._went > MAX_QUEUE_LENGTH

    def get(self, patience: float) -> bytes | ProtocolError | None:
        """Wait for the next message; None if there is none in time."""
        try:
            message = self._waiting.get(timeout=patience)
        except queue.Empty:
            return None
        if isinstance(message, bytes):
            self._went += len(message)
        else:
            self._waiting.put(message)
        return message


ALIVE_EVERY = 0.5  # seconds between signs of life
GRACE = 0.5  # seconds for messages from other parties that say more precisely what is wrong
LINGER = 3.0  # seconds for the others to read our last frame
TELLING = 5.0  # seconds for those who wait already to learn that this party cannot take part
FOR_GOOD = (b"refused", b"infeasible", b"protocol")  # reasons of a party that does not come back by itself


class TlsChannel:
    """Messages to and from one party of a network."""

    def __init__(self, network: PeerNetwork, peer: str) -> None:
        self._network = network
        self._peer = peer

    def send(self, message: bytes) -> None:
        """Hand a message over to the event loop."""
        if len(message) > LARGEST:
            raise ProtocolError(
                f"A message of {len(message):,} bytes is larger than the {LARGEST:,} allowed; fuse fewer people."
            )
        self._network.send(self._peer, message)

    def receive(self) -> bytes:
        """Wait for the next message."""
        return self._network.receive(self._peer)

    def close(self) -> None:
        """End the session for all parties."""
        self._network.close("stopped")


class PeerNetwork:
    """The connections of one party, and the one session that runs over them.

    Parameters
    ----------
    connections : who the others are, and where.
    agreement : the agreement of all parties.
    retry : whether to try again while a party does not listen yet.
    note : is called with what happens, from another thread.
    """

    def __init__(self, connections: PeerConnections, agreement: SessionParameters, *, retry: bool, note: Note) -> None:
        self._me = connections.me
        self._waiting = connections.waiting
        self._agreement = agreement
        self._others = [name for name in agreement.parties if name != connections.me]
        self._meeting = Rendezvous(connections, agreement, retry=retry, note=note, admit=self._admit)
        self._note = note
        self._lines: dict[str, FramedConnection] = {}
        self._nonces = {connections.me: self._meeting.greeting.nonce}
        self._inboxes = {name: MessageQueue() for name in self._others}
        self._session: bytes | None = None
        self._failed = False
        self._reason: str | None = "stopped"
        self._ready: Future[None] = Future()
        self._tasks: set[asyncio.Task[None]] = set()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._work, name="sfumato-network", daemon=True)

    def connect_all(self) -> Parties:
        """Wait until all parties have arrived."""
        self._thread.start()
        self._ready.result()
        channels = {name: TlsChannel(self, name) for name in self._others}
        return Parties(me=self._me, names=self._agreement.parties, channels=channels)

    def decline(self) -> None:
        """Tell those who wait already that this party cannot take part."""
        self._thread.start()
        with contextlib.suppress(SfumatoError, TimeoutError):
            self._ready.result(TELLING)
        self.close("refused")

    def send(self, peer: str, message: bytes) -> None:
        """Send a message; if the party has left it is dropped, and the next `receive` reports that."""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._lines[peer].write, FramePurpose.MESSAGE, message)

    def receive(self, peer: str) -> bytes:
        """Wait for the next message of a party."""
        message = self._inboxes[peer].get(self._waiting.step)
        if message is None:
            raise ProtocolError(
                f"Party {peer!r} is alive but has sent nothing for {self._waiting.step:g} seconds; check it, "
                f"then {AGAIN}."
            )
        if isinstance(message, ProtocolError):
            raise ProtocolError(*message.args)
        return message

    def close(self, reason: str | None) -> None:
        """Leave: as agreed, or for one of the known reasons."""
        if self._started.is_set():
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._leave, reason)
            self._thread.join(3 * LINGER)
        elif self._meeting.listener is not None:
            self._meeting.listener.close()

    def _work(self) -> None:
        try:
            asyncio.run(self._run())
        finally:
            ended = ProtocolError(f"The connections of this party have ended; {AGAIN}.")
            for inbox in self._inboxes.values():
                inbox.put(ended)
            if not self._ready.done():
                self._ready.set_exception(ended)

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._gathered: asyncio.Future[None] = self._loop.create_future()
        self._left = asyncio.Event()
        self._started.set()
        guests = None if self._meeting.listener is None else self._spawn(self._meeting.accept())
        for name in self._meeting.addresses:
            self._spawn(self._meeting.connect(name))
        try:
            await self._all_there()
        except ProtocolError as error:
            self._ready.set_exception(error)
        else:
            self._begin()
            self._ready.set_result(None)
            await self._stop(guests)
            await self._left.wait()
        await self._stop(guests)
        await self._close_session()

    async def _all_there(self) -> None:
        try:
            async with asyncio.timeout(self._waiting.others):
                await self._gathered
        except TimeoutError:
            self._reason = "late"
            absent = ", ".join(repr(name) for name in self._others if name not in self._lines)
            raise ProtocolError(
                f"Not all parties arrived within {self._waiting.others:g} seconds ({absent} did not); check that they "
                "run, their addresses, and that all agreements name the parties in the same order."
            ) from None

    def _admit(self, name: str, nonce: bytes, line: FramedConnection) -> None:
        """Admit a party, which may have been here before and restarted."""
        if self._session is not None:
            self._spawn(line.close(LINGER))
            return
        older = self._lines.pop(name, None)
        if older is not None:
            self._spawn(older.close(LINGER))
        self._lines[name], self._nonces[name], self._inboxes[name] = line, nonce, MessageQueue()
        self._spawn(self._listen(name, line))
        self._spawn(self._keep_alive(name, line))
        self._note(f"Party {name!r} has arrived.")
        if len(self._lines) == len(self._others) and not self._gathered.done():
            self._gathered.set_result(None)

    def _begin(self) -> None:
        """Start the session: its number depends on the agreement and on a fresh random number from every party."""
        digest = sha256(repr(sorted(self._agreement.settings().items())).encode())
        for name in self._agreement.parties:
            digest.update(self._nonces[name])
        self._session = digest.digest()[:16]
        for name, line in list(self._lines.items()):
            line.session = self._session
            line.write(FramePurpose.START)
            if line.peer_session is not None:
                self._compare_sessions(name, line)

    def _compare_sessions(self, name: str, line: FramedConnection) -> None:
        if line.peer_session != self._session:
            self._fail(name, ProtocolError(f"Party {name!r} has started another session, with other parties; {AGAIN}."))

    async def _listen(self, name: str, line: FramedConnection) -> None:
        """Read what a party sends until it leaves."""
        try:
            while (frame := await line.read(name)) is not None:
                if not self._take(name, line, frame):
                    return
        except ProtocolError as error:
            self._break_off(name, error)
            await line.ignore()
            return
        self._lose(name, line, f"The connection to party {name!r} was lost; check that it runs, then {AGAIN}.")

    def _take(self, name: str, line: FramedConnection, frame: NetworkFrame) -> bool:
        """Do what a frame says; return whether more may come."""
        inbox = self._inboxes[name]
        if frame.kind is FramePurpose.MESSAGE and line.peer_session is not None:
            inbox.put(frame.body)
            if inbox.full:
                raise ProtocolError(f"Party {name!r} sends more than it may at once; nothing is published.")
        elif frame.kind is FramePurpose.START and self._session is not None:
            self._compare_sessions(name, line)
        elif frame.kind is FramePurpose.BYE:
            inbox.put(ProtocolError(f"Party {name!r} ended before this one; nothing is published, {AGAIN}."))
            line.over.set()
            return False
        elif frame.kind is FramePurpose.ABORT:
            reason = abort_reason(name, frame.body)
            if frame.body in FOR_GOOD and not self._gathered.done():
                line.over.set()
                self._break_off(name, reason)
            else:
                self._lose(name, line, str(reason))
            return False
        elif frame.kind not in {FramePurpose.ALIVE, FramePurpose.START}:
            raise ProtocolError(f"Party {name!r} sent a frame out of order; {AGAIN}.")
        return True

    async def _keep_alive(self, name: str, line: FramedConnection) -> None:
        """Send signs of life, and watch for those of the other side; time in which we are suspended counts once."""
        quiet, seen = 0.0, line.signs
        while not line.over.is_set():
            line.write(FramePurpose.ALIVE)
            await asyncio.sleep(ALIVE_EVERY)
            quiet = quiet + ALIVE_EVERY if line.signs == seen else 0.0
            seen = line.signs
            if quiet >= self._waiting.silence:
                silence = f"gave no sign of life for {self._waiting.silence:g} seconds"
                self._lose(name, line, f"Party {name!r} {silence}; check that it runs, then {AGAIN}.")
                return

    def _lose(self, name: str, line: FramedConnection, why: str) -> None:
        """Go on without a line: before the session starts we wait for its party again, afterward nothing can go on."""
        line.over.set()
        if self._left.is_set() or self._lines.get(name) is not line:
            return
        if self._gathered.done() or line.peer_session is not None:
            self._break_off(name, ProtocolError(why))
            return
        del self._lines[name]
        self._note(f"Party {name!r} has left; waiting for it again.")
        self._spawn(line.close(LINGER))
        if name in self._meeting.addresses:
            self._spawn(self._meeting.connect(name))

    def _break_off(self, name: str, error: ProtocolError) -> None:
        """End because of what a party did."""
        if self._gathered.done():
            self._fail(name, error)
        else:
            self._reason = "protocol"
            self._gathered.set_exception(error)

    def _fail(self, name: str, error: ProtocolError) -> None:
        """End the session for all; messages from the others may say better what is wrong."""
        if self._failed:
            return
        self._failed = True
        for peer, line in self._lines.items():
            self._loop.call_later(0 if peer == name else GRACE, self._inboxes[peer].put, error)
            self._loop.call_later(GRACE, line.write, FramePurpose.ABORT, b"protocol")

    def _leave(self, reason: str | None) -> None:
        self._reason = reason
        self._left.set()
        if not self._gathered.done():
            self._gathered.set_exception(ProtocolError("This party was stopped."))

    async def _close_session(self) -> None:
        """Tell the others, let them read it, and hang up."""
        self._left.set()
        if self._failed:
            await asyncio.sleep(2 * GRACE)
        for line in self._lines.values():
            if not self._failed:
                body = b"" if self._reason is None else self._reason.encode()
                line.write(FramePurpose.BYE if self._reason is None else FramePurpose.ABORT, body)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                await asyncio.gather(*(line.over.wait() for line in self._lines.values()))
        await asyncio.gather(*(line.close(LINGER) for line in self._lines.values()))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        """Let the failure of a task end the meeting."""
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if error is not None and not self._gathered.done():
            self._reason = "protocol"
            self._gathered.set_exception(error)

    async def _stop(self, guests: asyncio.Task[None] | None) -> None:
        """Accept no more connections."""
        if guests is not None:
            guests.cancel()
            await asyncio.wait([guests])
        if self._meeting.listener is not None:
            self._meeting.listener.close()


@contextlib.contextmanager
def connect_parties(
    connections: PeerConnections, agreement: SessionParameters, *, retry: bool, note: Note
) -> Iterator[Parties]:
    """Connect to all parties of an agreement, and leave them at the end; after a failure they are told its kind."""
    network = PeerNetwork(connections, agreement, retry=retry, note=note)
    reason: str | None = "stopped"
    try:
        yield network.connect_all()
        reason = None
    except ProtocolError:
        reason = "protocol"
        raise
    except InfeasibleError:
        reason = "infeasible"
        raise
    except SfumatoError:
        reason = "refused"
        raise
    finally:
        network.close(reason)


@contextlib.contextmanager
def declining(connections: PeerConnections, agreement: SessionParameters, *, note: Note) -> Iterator[None]:
    """Tell the others if this party is refused before it connects, so that they do not wait for it."""
    try:
        yield
    except SfumatoError:
        with contextlib.suppress(SfumatoError):
            network = PeerNetwork(connections, agreement, retry=True, note=ignore_notes)
            note("This party cannot take part; telling the others.")
            network.decline()
        raise


def _check_coverage(party: Party, agreement: SessionParameters) -> None:
    """Refuse a table that its hierarchies do not cover before the others are involved."""
    table, schema = party.table(agreement.target), party.schema()
    for name in party.attributes:
        encode_column(name, table[name], schema)


def fuse_over_network(
    party: Party,
    agreement: SessionParameters,
    connections: PeerConnections,
    *,
    retry: bool = True,
    progress: Progress = ignore_progress,
    note: Note = ignore_notes,
    write: Callable[[FusionResult], None] | None = None,
) -> FusionResult:
    """Fuse this party's table with those of parties on other machines.

    Parameters
    ----------
    party : this party and its table.
    agreement : the agreement of all parties.
    connections : who the others are, and where.
    retry : whether to wait for parties that do not listen yet.
    progress : is called with the share of the work that is done, and a note on its state.
    note : is called with who comes and goes, from another thread.
    write : writes the release. It is put in place only after all parties have said that theirs is written.
    """
    with declining(connections, agreement, note=note):
        _check_coverage(party, agreement)
    with connect_parties(connections, agreement, retry=retry, note=note) as parties:
        fused = run_party(party, agreement, parties, progress, note)
        if write is not None:
            write(replace(fused, confirm=partial(confirm_written, parties)))
        return fused
