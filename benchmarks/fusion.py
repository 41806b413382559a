"""Fusion: the protocol between two owners against one who has everything, over loopback TLS and in memory.

Run `SFUMATO_SHARED_DATA=folder python benchmarks/fusion.py` for the 45,222 complete records of Adult, where the folder
holds `adult_full/`, or give a number of records to make up (1000000). Targets: for Adult, two owners of 7 attributes
and k = 50, over loopback TLS at most 10 times as long as the centralized run and at most 60 seconds; for a million at
most 5 minutes; bytes of a round in proportion to the records of the node that is split.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from papers.fusion.setting import OWNERS, PERSON, FusionSubject, adult_subject, synthetic_subject

import sfumato as sf
from sfumato.fusion._connections import Address, Peer, PeerConnections
from sfumato.fusion.certificates import Credentials, create_credentials
from sfumato.fusion.network import fuse_over_network
from sfumato.fusion.party import Party
from sfumato.fusion.protocol import fuse, run_party
from sfumato.fusion.secure import comparison, set_intersection
from sfumato.fusion.secure.channel import Channel, Parties, memory_channels, run_parties
from sfumato.fusion.session import SessionParameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sfumato.fusion.result import FusionResult

K = 50
WAIT = 1800


def subject_of(records: int | None) -> FusionSubject:
    """Read Adult, or make records up."""
    if records is not None:
        return synthetic_subject(rows=records)
    folder = os.environ.get("SFUMATO_SHARED_DATA")
    if folder is None:
        raise SystemExit("Set SFUMATO_SHARED_DATA to the folder of the shared tables, or give a number of records.")
    return adult_subject(sf.read(Path(folder) / "adult_full" / "adult_full.csv"))


def agreement_of(subject: FusionSubject) -> SessionParameters:
    """Require groups of K, with the factors of the text."""
    return SessionParameters(parties=OWNERS, target=subject.target, requirements=(subject.requirement(K),))


@dataclass
class Clock:
    """Seconds in cryptographic protocols, by what they do; waiting for the other party counts."""

    seconds: dict[str, float] = field(default_factory=lambda: {"alignment": 0.0, "maximum": 0.0})

    def timed(self, what: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """Count the time of a function."""

        def run(*arguments: Any, **named: Any) -> Any:
            begin = time.perf_counter()
            try:
                return work(*arguments, **named)
            finally:
                if threading.current_thread().name.endswith(("_0", "MainThread")):
                    self.seconds[what] += time.perf_counter() - begin

        return run

    @contextmanager
    def watching(self) -> Iterator[Clock]:
        """Count the alignment of persons and all maxima of one party."""
        session = comparison.MaximumSession
        with (
            patch.object(session, "__init__", self.timed("maximum", session.__init__)),
            patch.object(session, "find", self.timed("maximum", session.find)),
            patch.object(
                set_intersection, "secure_intersection", self.timed("alignment", set_intersection.secure_intersection)
            ),
        ):
            yield self

    def said(self, whole: float) -> str:
        """Tell shares of a time."""
        parts = ", ".join(f"{what} {seconds:.2f} s" for what, seconds in self.seconds.items())
        return f"cryptography {sum(self.seconds.values()) / whole:.0%} of it ({parts})"


class CountingChannel:
    """Counts the bytes of every kind of message."""

    def __init__(self, inner: Channel, sizes: list[tuple[str, int]]) -> None:
        self.inner, self.sizes = inner, sizes

    def send(self, message: bytes) -> None:
        """Count a message and pass it on."""
        self.sizes.append((message[5 : 5 + message[4]].decode(), len(message)))
        self.inner.send(message)

    def receive(self) -> bytes:
        """Take the next message."""
        return self.inner.receive()

    def close(self) -> None:
        """Close the channel beneath."""
        self.inner.close()


def centralized(subject: FusionSubject) -> tuple[float, FusionResult]:
    """Let one owner have everything, with the same factors."""
    parties = subject.parties(0)
    weights = [party.attribute_factors or {} for party in parties]
    table = subject.table.append_column(PERSON, parties[0].data[PERSON])  # type: ignore[index]
    joined = Party(
        name="all",
        data=table,
        id=PERSON,
        attributes=subject.columns,
        hierarchies=subject.hierarchies,
        attribute_factors={name: 0.5 * each for mine in weights for name, each in mine.items()} or None,
        value_factors={name: each for party in parties for name, each in party.value_factors.items()},
    )
    begin = time.perf_counter()
    fused = fuse([joined], target=subject.target, requirements=[subject.requirement(K)])
    return time.perf_counter() - begin, fused


def in_memory(subject: FusionSubject) -> tuple[float, FusionResult, Clock, list[tuple[str, int]]]:
    """Let two owners talk inside this process."""
    agreement, sizes = agreement_of(subject), list[tuple[str, int]]()
    channels = {
        name: {peer: CountingChannel(inner, sizes) for peer, inner in ends.items()}
        for name, ends in memory_channels(OWNERS, patience=WAIT).items()
    }

    def function(party: Party) -> Callable[[Parties], FusionResult]:
        return lambda connected: run_party(party, agreement, connected)

    with Clock().watching() as clock:
        begin = time.perf_counter()
        results = run_parties({party.name: function(party) for party in subject.parties(0)}, channels=channels)
        seconds = time.perf_counter() - begin
    return seconds, results[OWNERS[0]], clock, sizes


def talk(place: int, records: int | None, meeting: tuple[list[Credentials], int], ready: Any, told: Any) -> None:
    """Be one owner in a process of its own."""
    subject, (identities, port) = subject_of(records), meeting
    party, agreement = subject.parties(0)[place], agreement_of(subject)
    address = Address(host="127.0.0.1", port=port)
    peer = Peer(
        name=OWNERS[1 - place], certificate=identities[1 - place].certificate, address=address if place else None
    )
    connections = PeerConnections(
        me=OWNERS[place], identity=identities[place], peers=[peer], listen=None if place else address
    )
    with Clock().watching() as clock:
        ready.wait(WAIT)
        begin = time.perf_counter()
        fused = fuse_over_network(party, agreement, connections)
        seconds = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_SELF)
    told.put((seconds, clock, fused.published.num_rows, fused.rounds, used.ru_maxrss / 1e6))


def over_tls(records: int | None) -> None:
    """Let two processes talk over loopback TLS."""
    context = multiprocessing.get_context("spawn")
    ready, told = context.Barrier(2), context.Queue()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        identities = [create_credentials(name, Path(folder)) for name in OWNERS]
        processes = [
            context.Process(target=talk, args=(place, records, (identities, port), ready, told)) for place in (0, 1)
        ]
        for process in processes:
            process.start()
        answers = [told.get(timeout=WAIT) for _ in processes]
        for process in processes:
            process.join()
    seconds, clock, rows, rounds, memory = max(answers, key=lambda answer: answer[0])
    print(f"two processes, TLS   {seconds:8.2f} s  {rows:,} records, {rounds} rounds, peak {memory:.2f} GB each")
    print(f"                     {clock.said(seconds)}")


def volume(fused: FusionResult, sizes: list[tuple[str, int]]) -> None:
    """Set the bytes of rounds against the records of the nodes that they split."""
    kinds: Counter[str] = Counter()
    for kind, size in sizes:
        kinds[kind.partition("-")[0]] += size
    print("bytes by protocol    " + ", ".join(f"{kind} {size:,}" for kind, size in kinds.most_common()))
    records = np.array([sum(event.records) for event in fused.transcript])
    told = np.array([size for kind, size in sizes if kind == "specialize"])
    slope, fixed = np.polyfit(records, told, 1)
    print(f"bytes of a round     {fixed:,.0f} + {slope:.3f} per record of the split node (least squares)")
    order = np.argsort(records)
    for at in dict.fromkeys(order[[0, len(order) // 4, len(order) // 2, 3 * len(order) // 4, -1]].tolist()):
        print(f"                     {records[at]:>9,} records  {told[at]:>9,} bytes")


def main(records: int | None) -> None:
    """Measure everything once, the centralized run twice, since it is short."""
    subject = subject_of(records)
    alone, central = min((centralized(subject) for _ in range(2)), key=lambda run: run[0])
    print(f"centralized          {alone:8.2f} s  {central.published.num_rows:,} records, {central.rounds} rounds")
    seconds, fused, clock, sizes = in_memory(replace(subject))
    print(f"two owners, memory   {seconds:8.2f} s  {seconds / alone:.1f} times")
    print(f"                     {clock.said(seconds)}")
    volume(fused, sizes)
    over_tls(records)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else None)
