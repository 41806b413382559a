"""The state of a stream of ways: who is in which crowd, where everybody was last, and who waits."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.exceptions import ReadError
from sfumato.table.atomic import atomic_path

TITLE = "sfumato stream of ways, format 1"
KEY_BYTES = 8


@dataclass(kw_only=True, eq=False, repr=False)
class StreamGroups:
    """What a stream remembers: one point of every person who was seen within the window.

    Parameters
    ----------
    clock : the last moment that was seen, in microseconds.
    last : the last moment, column and row of every person.
    crowd : the key of every person's crowd.
    since : since when those without a crowd wait.
    late, suppressed : how many points came too late, and how many times somebody was left out because nobody came to
        join.
    """

    clock: int = -(2**62)
    last: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    crowd: dict[str, str] = field(default_factory=dict)
    since: dict[str, int] = field(default_factory=dict)
    late: int = 0
    suppressed: int = 0

    def members(self) -> dict[str, list[str]]:
        """Return the persons of every crowd."""
        found: dict[str, list[str]] = {}
        for person, key in self.crowd.items():
            found.setdefault(key, []).append(person)
        return found

    def remove(self, person: str) -> None:
        """Forget a person."""
        for kept in (self.last, self.crowd, self.since):
            kept.pop(person, None)

    def form_group(self, persons: list[str]) -> None:
        """Make a crowd of persons, with a key that nobody had before."""
        key = secrets.token_hex(KEY_BYTES)
        for person in persons:
            self.crowd[person] = key
            self.since.pop(person, None)


def write_state(path: Path, settings: dict[str, Any], crowds: StreamGroups) -> None:
    """Write the state, readable only by its owner, completely or not at all."""
    content = {"settings": settings, **vars(crowds)}
    text = json.dumps(content)
    with atomic_path(path) as temporary:
        temporary.touch(mode=0o600)
        temporary.write_text(f"{TITLE}\n{hashlib.sha256(text.encode()).hexdigest()}\n{text}", encoding="utf-8")


def read_state(path: Path) -> tuple[dict[str, Any], StreamGroups]:
    """Read what `write_state` wrote; refuse files that are something else, truncated or altered."""
    try:
        title, checksum, text = path.read_text(encoding="utf-8").split("\n", 2)
    except (OSError, ValueError):
        raise ReadError(f"{path} is not the state of a stream of ways.") from None
    if title != TITLE:
        raise ReadError(f"{path} is not the state of a stream of ways, or of another version of Sfumato.")
    if hashlib.sha256(text.encode()).hexdigest() != checksum:
        raise ReadError(f"{path} is truncated or was altered; without it nobody knows who is in which crowd.")
    content: dict[str, Any] = json.loads(text)
    settings = content.pop("settings")
    last = {person: (int(at[0]), int(at[1]), int(at[2])) for person, at in content.pop("last").items()}
    return settings, StreamGroups(last=last, **content)
