"""Who takes part, and how messages get from one party to another.

A `Channel` carries whole messages between two parties, in order. Real ones are authenticated and encrypted and live in
a higher layer; the ones here are queues in one process, for tests and for teaching. A transport must accept a message
without waiting for the other side to read: in several protocols both sides send before they receive.
"""

from __future__ import annotations

import itertools
import queue
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from sfumato._validation import require
from sfumato.errors import ProtocolError
from sfumato.fusion.secure.messages import Message, Value, pack_message, unpack_message

PATIENCE = 600.0  # seconds to wait for a message in memory
PAIR = 2
NUMBER = "number of the message"

Result = TypeVar("Result")


class Channel(Protocol):
    """Whole messages to and from one other party, in order."""

    def send(self, message: bytes) -> None:
        """Send a message without waiting for the other side to read it."""

    def receive(self) -> bytes:
        """Wait for the next message; raise a `ProtocolError` if none will come."""

    def close(self) -> None:
        """End the conversation for both sides."""


class MemoryChannel:
    """One end of a pair of queues."""

    def __init__(self, inbox: queue.Queue[bytes | None], outbox: queue.Queue[bytes | None], patience: float) -> None:
        self._inbox = inbox
        self._outbox = outbox
        self._patience = patience

    def send(self, message: bytes) -> None:
        """Put the message into the other side's queue."""
        self._outbox.put(message)

    def receive(self) -> bytes:
        """Take the next message."""
        try:
            message = self._inbox.get(timeout=self._patience)
        except queue.Empty:
            raise ProtocolError(
                f"The other party sent nothing for {self._patience:g} seconds; start the protocol again at all parties."
            ) from None
        if message is None:
            self._inbox.put(None)
            raise ProtocolError("The other party has left; start the protocol again at all parties.")
        return message

    def close(self) -> None:
        """Wake whoever waits, at both ends."""
        self._inbox.put(None)
        self._outbox.put(None)


def memory_channels(names: Sequence[str], *, patience: float = PATIENCE) -> dict[str, dict[str, Channel]]:
    """Connect all parties inside this process: for every name, its channel to every other name."""
    channels: dict[str, dict[str, Channel]] = {name: {} for name in names}
    for first, second in itertools.combinations(names, 2):
        there: queue.Queue[bytes | None] = queue.Queue()
        back: queue.Queue[bytes | None] = queue.Queue()
        channels[first][second] = MemoryChannel(back, there, patience)
        channels[second][first] = MemoryChannel(there, back, patience)
    return channels


@dataclass(frozen=True, kw_only=True)
class Parties:
    """The parties of one run, as one of them sees it.

    Parameters
    ----------
    me
        The party whose view this is.
    names
        All parties, in the order that all of them use; the first and the second play special roles in some protocols.
    channels
        One channel to every other party.
    turns
        How many messages went to and came from every other party; views of one run share it. Every message carries
        its number, so that a lost, repeated or out-of-order message is detected.
    """

    me: str
    names: tuple[str, ...]
    channels: Mapping[str, Channel] = field(repr=False, compare=False)
    turns: Counter[tuple[str, str]] = field(default_factory=Counter, repr=False, compare=False)

    def __post_init__(self) -> None:
        distinct = len(set(self.names)) == len(self.names)
        require(distinct and len(self.names) >= PAIR, self, "names", "two or more different names", self.names)
        require(self.me in self.names, self, "me", "one of the names", self.me)
        require(
            set(self.others) <= set(self.channels), self, "channels", "one to every other party", len(self.channels)
        )

    @property
    def index(self) -> int:
        """My index in the common order, from 0."""
        return self.names.index(self.me)

    @property
    def others(self) -> tuple[str, ...]:
        """All parties except me, in the common order."""
        return tuple(name for name in self.names if name != self.me)

    @property
    def peer(self) -> str:
        """The other party, if there are two."""
        (other,) = self.others
        return other

    def neighbor(self, steps: int) -> str:
        """Return the party this many steps further around the ring."""
        return self.names[(self.index + steps) % len(self.names)]

    def pair(self, first: str, second: str) -> Parties:
        """Return my view of a conversation between two parties, one of which is me."""
        return Parties(me=self.me, names=(first, second), channels=self.channels, turns=self.turns)

    def send(self, peer: str, kind: str, **fields: Value) -> None:
        """Send a message to one party."""
        numbered = {NUMBER: self.turns["to", peer], **fields}
        self.turns["to", peer] += 1
        self.channels[peer].send(pack_message(kind, **numbered))

    def receive(self, peer: str, kind: str) -> Message:
        """Wait for a message from one party, which must be of this kind."""
        message = unpack_message(kind, self.channels[peer].receive(), sender=f"party {peer!r}")
        turn = self.turns["from", peer]
        if message.fields.get(NUMBER) != turn:
            raise ProtocolError(
                f"A message from party {peer!r} was lost, repeated or out of order; "
                "start the protocol again at all parties."
            )
        self.turns["from", peer] += 1
        return message

    def broadcast(self, kind: str, **fields: Value) -> None:
        """Send the same message to every other party."""
        for name in self.others:
            self.send(name, kind, **fields)

    def gather(self, kind: str) -> dict[str, Message]:
        """Wait for a message of this kind from every other party."""
        return {name: self.receive(name, kind) for name in self.others}


def check_party_count(parties: Parties, protocol: str, *, least: int = PAIR, most: int | None = None) -> None:
    """Refuse a protocol that does not suit the number of parties."""
    count = len(parties.names)
    expected = f"{least} or more, because the result of fewer reveals everything" if most is None else f"exactly {most}"
    require(least <= count <= (most or count), protocol, "parties", expected, count)


def check_same_settings(parties: Parties, settings: str) -> None:
    """Refuse to continue if the parties did not all choose the same settings."""
    parties.broadcast("settings", settings=settings)
    for name, message in parties.gather("settings").items():
        if message.text("settings") != settings:
            raise ProtocolError(
                f"Parties {parties.me!r} and {name!r} run the protocol with different settings "
                f"({settings} at {parties.me!r}); give the same at all parties."
            )


def run_parties(
    functions: Mapping[str, Callable[[Parties], Result]],
    *,
    channels: Mapping[str, Mapping[str, Channel]] | None = None,
) -> dict[str, Result]:
    """Run the function of every party in its own thread, and return their results.

    If one of them raises, the channels are closed, so that nobody waits forever, and its error is raised here.

    >>> def greet(parties):
    ...     parties.broadcast("hello", text=parties.me)
    ...     return [message.text("text") for message in parties.gather("hello").values()]
    >>> run_parties({"a": greet, "b": greet})
    {'a': ['b'], 'b': ['a']}
    """
    names = tuple(functions)
    connected = memory_channels(names) if channels is None else channels
    views = [Parties(me=name, names=names, channels=connected[name]) for name in names]
    with ThreadPoolExecutor(max_workers=len(names)) as pool:
        running = [pool.submit(functions[view.me], view) for view in views]
        done, pending = wait(running, return_when=FIRST_EXCEPTION)
        failed = [future for future in running if future in done and future.exception() is not None]
        if failed or pending:
            for view in views:
                for channel in view.channels.values():
                    channel.close()
    for future in failed:
        future.result()
    return {view.me: future.result() for view, future in zip(views, running, strict=True)}
