"""Run protocols over channels that keep, or spoil, what is sent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sfumato.fusion.secure.channel import Channel, memory_channels, run_parties

PATIENCE = 20.0


@dataclass(frozen=True)
class Sent:
    """One message on its way."""

    sender: str
    receiver: str
    message: bytes


class RecordingChannel:
    """Passes messages on and writes them down; `spoil` may change one, or raise."""

    def __init__(self, inner: Channel, ends: tuple[str, str], log: list[Sent], lock, spoil) -> None:
        self._inner = inner
        self._ends = ends
        self._log = log
        self._lock = lock
        self._spoil = spoil

    def send(self, message: bytes) -> None:
        """Write the message down and pass on what `spoil` makes of it."""
        sent = Sent(*self._ends, message)
        with self._lock:
            number = len(self._log)
            self._log.append(sent)
        self._inner.send(self._spoil(number, sent))

    def receive(self) -> bytes:
        """Take the next message."""
        return self._inner.receive()

    def close(self) -> None:
        """Close the channel beneath."""
        self._inner.close()


def untouched(_number: int, sent: Sent) -> bytes:
    return sent.message


def record(
    functions: Mapping[str, Callable], spoil: Callable[[int, Sent], bytes] = untouched
) -> tuple[dict[str, object], list[Sent]]:
    """Run the parties; give what each returned and every message that was sent."""
    log: list[Sent] = []
    lock = threading.Lock()
    channels = {
        name: {peer: RecordingChannel(inner, (name, peer), log, lock, spoil) for peer, inner in ends.items()}
        for name, ends in memory_channels(tuple(functions), patience=PATIENCE).items()
    }
    return run_parties(functions, channels=channels), log


def each(function: Callable, *inputs: object) -> dict[str, Callable]:
    """Give every party, named p0, p1 and so on, the function with an input of its own."""
    return {f"p{number}": lambda parties, mine=mine: function(parties, mine) for number, mine in enumerate(inputs)}
