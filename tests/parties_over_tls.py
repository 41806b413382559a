"""Parties over TLS on this machine, each in a thread."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from party_folders import NAMES, Folders
from sfumato.errors import SfumatoError
from sfumato.fusion._connections import Address
from sfumato.fusion.network import fuse_over_network
from sfumato.fusion.party_file import PartyFile

PAIR = NAMES[:2]


def run(folders: Folders, *, notes: list[str] | None = None, **given: Callable) -> dict[str, object]:
    """Let all parties take part, each in a thread; give what each returned or raised."""

    def take(name: str) -> object:
        try:
            file = PartyFile.read(folders.file(name))
            note = [].append if notes is None else notes.append
            return fuse_over_network(file.party, file.agreement, file.connections, note=note)
        except SfumatoError as error:
            return error

    with ThreadPoolExecutor(len(folders.names)) as pool:
        running = {name: pool.submit(given.get(name, take), name) for name in folders.names}
        return {name: each.result() for name, each in running.items()}


def scan(where: Address) -> socket.socket:
    """Connect as soon as somebody listens."""
    while True:
        with contextlib.suppress(ConnectionRefusedError):
            return socket.create_connection((where.host, where.port), timeout=60)
        time.sleep(0.05)
