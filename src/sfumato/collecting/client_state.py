"""What a client has spent, in a file that survives restarts and that several processes may share."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sfumato.collecting.local_mechanism import ClientMemory
from sfumato.exceptions import ReadError, WriteError
from sfumato.table.atomic import atomic_path

SECRET_BYTES = 32
FORMAT = 1
LOCK_SUFFIX = ".lock"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one client at a time read and write a state; the others wait."""
    try:
        file = path.with_name(path.name + LOCK_SUFFIX).open("a+b")
    except OSError:
        raise WriteError(f"The state {path} cannot be locked; nothing was sent.") from None
    with file:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def write_state(path: Path, memory: ClientMemory, agreed: str) -> None:
    """Replace the state by a newer one, readable only by its owner."""
    content = {"format": FORMAT, "agreed": agreed, "secret": memory.secret.hex(), "counts": memory.counts}
    with atomic_path(path) as temporary:
        temporary.touch(mode=0o600)
        temporary.write_text(json.dumps(content), encoding="ascii")


def read_state(path: Path, agreed: str) -> ClientMemory:
    """Read the state of a client of the agreed mechanism; anything else is refused, never replaced."""
    damaged = ReadError(f"{path} is not a valid client state; without it nobody knows what was spent.")
    try:
        content: Any = json.loads(path.read_text(encoding="ascii"))
        secret, counts = bytes.fromhex(content["secret"]), content["counts"]
        held = content["format"] == FORMAT and len(secret) == SECRET_BYTES and isinstance(counts, dict)
        other = content["agreed"] != agreed
    except (OSError, ValueError, KeyError, TypeError):
        raise damaged from None
    if not held or not all(type(times) is int and times > 0 for times in counts.values()):
        raise damaged
    if other:
        raise ReadError(f"{path} is the state of a client of another mechanism; choose another file.")
    return ClientMemory(secret=secret, counts=counts)
