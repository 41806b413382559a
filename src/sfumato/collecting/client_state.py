"""What a client has spent, in a file that survives restarts and that several processes may share."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.collecting.local_mechanism import ClientMemory
from sfumato.exceptions import ReadError, WriteError
from sfumato.table.atomic import atomic_path

FORMAT = 3
LOCK_SUFFIX = ".lock"


@contextmanager
def lock_state_file(path: Path) -> Iterator[None]:
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


@dataclass(frozen=True, kw_only=True)
class ClientState:
    """What one person has spent: the budget of all reports, and per mechanism a memory and what it has cost."""

    budget: Fraction
    memories: Mapping[str, ClientMemory]
    losses: Mapping[str, Fraction]

    def spent_by_others(self, agreed: str) -> Fraction:
        """Return what reports by all other mechanisms have cost."""
        return sum((loss for name, loss in self.losses.items() if name != agreed), Fraction(0))

    def after(self, agreed: str, memory: ClientMemory, loss: Fraction) -> ClientState:
        """Return the state after one more report."""
        return replace(self, memories={**self.memories, agreed: memory}, losses={**self.losses, agreed: loss})


def write_client_state(path: Path, state: ClientState) -> None:
    """Replace the state by a newer one, readable only by its owner."""
    mechanisms = {
        agreed: {"reports": memory.reports, "kept": memory.kept, "loss": str(state.losses[agreed])}
        for agreed, memory in state.memories.items()
    }
    content = {"format": FORMAT, "budget": str(state.budget), "mechanisms": mechanisms}
    with atomic_path(path) as temporary:
        temporary.touch(mode=0o600)
        temporary.write_text(json.dumps(content), encoding="ascii")


def read_client_state(path: Path) -> ClientState:
    """Read the state of a client; anything else is refused, never replaced."""
    try:
        content: Any = json.loads(path.read_text(encoding="ascii"))
        known = content["mechanisms"].items()
        state = ClientState(
            budget=Fraction(content["budget"]),
            memories={name: _memory_from_config(each) for name, each in known},
            losses={name: Fraction(each["loss"]) for name, each in known},
        )
        good = content["format"] == FORMAT and state.budget > 0 and all(loss > 0 for loss in state.losses.values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError):
        good = False
    if not good:
        raise ReadError(f"{path} is not a valid client state; without it nobody knows what was spent.")
    return state


def _memory_from_config(content: Any) -> ClientMemory:
    reports, kept = content["reports"], tuple(content["kept"])
    if reports < 1 or not all(type(number) is int and number >= 0 for number in (reports, *kept)):
        raise ValueError
    return ClientMemory(reports=reports, kept=kept)
