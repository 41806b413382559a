"""A chain of entries in an SQLite file, and its newest head, which stands elsewhere: so an older copy is seen.

Each head is the hash of an entry and of the head before, so that nothing can be taken out or changed. The user's state
folder remembers the newest head of every chain by the chain's random name. So a chain may be moved to any folder, and
of two copies only the one that has everything that was written goes on.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sfumato.core._atomic_writes import atomic_path
from sfumato.errors import ReadError, WriteError

HEAD_FORMAT = "sfumato ledger head 1"
ENTRY_FORMAT = "sfumato ledger entry 1"
NAME = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class EntryChain:
    """All entries of a file, each checked against its head.

    Parameters
    ----------
    path : the file.
    name : the random name of the chain.
    what : what refusals call the file.
    entries : what the entries say, in order.
    heads : the head before the first entry, and after every one.
    """

    path: Path
    name: str
    what: str
    entries: tuple[Mapping[str, Any], ...]
    heads: tuple[str, ...]

    @property
    def head(self) -> str:
        """The head of the last entry."""
        return self.heads[-1]

    @property
    def newest_head(self) -> ExternalHead:
        """The head of the last entry, with its number."""
        return ExternalHead(self.name, len(self.entries), self.head)

    @classmethod
    def read(cls, store: sqlite3.Connection, path: Path, name: str, what: str) -> Self:
        """Read all entries, and refuse a file in which one was changed or taken out."""
        heads, entries = [first_head(name)], []
        for number, (entry, said, head) in enumerate(
            store.execute("SELECT entry, said, head FROM entries ORDER BY entry"), start=1
        ):
            heads.append(next_head(heads[-1], said))
            if entry != number or head != heads[-1]:
                raise changed_file_error(path, what, f"entry {number} was changed, or one before it is missing")
            entries.append(json.loads(said))
        return cls(path, name, what, tuple(entries), tuple(heads))

    def append(self, store: sqlite3.Connection, said: Mapping[str, Any]) -> ExternalHead:
        """Add an entry to the file; return its head."""
        written = json.dumps(said, sort_keys=True)
        made = ExternalHead(self.name, len(self.entries) + 1, next_head(self.head, written))
        store.execute("INSERT INTO entries VALUES (?, ?, ?)", (made.entry, written, made.head))
        return made


@dataclass(frozen=True)
class ExternalHead:
    """A head that stands somewhere else than in its file."""

    ledger: str
    entry: int
    head: str

    @classmethod
    def read(cls, path: Path, format_: str) -> ExternalHead | None:
        """Read it; None if there is no such file."""
        try:
            said = json.loads(path.read_text("utf-8"))
            if said["format"] == format_:
                return cls(str(said["ledger"]), int(said["entry"]), str(said["head"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            pass
        raise ReadError(f"{path} does not tell the head of a ledger; restore it from a copy.")

    def write(self, path: Path, format_: str) -> None:
        """Write it for nobody but the owner."""
        said = {"format": format_, "ledger": self.ledger, "entry": self.entry, "head": self.head}
        with atomic_path(path) as temporary:
            temporary.touch(mode=0o600)
            temporary.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")

    def check_not_newer(self, chain: EntryChain, where: str) -> None:
        """Refuse a file that does not have this head."""
        if self.ledger != chain.name:
            raise ReadError(f"{where} belongs to another {chain.what} than {chain.path}.")
        if self.entry >= len(chain.heads):
            raise ReadError(
                f"The {chain.what} {chain.path} is older than {where} says: it has {len(chain.entries)} entries, and "
                f"entry {self.entry} was written; restore the newest copy."
            )
        if chain.heads[self.entry] != self.head:
            raise ReadError(
                f"The {chain.what} {chain.path} has another entry {self.entry} than {where} says; restore the newest "
                "copy."
            )


def first_head(name: str) -> str:
    """Return the head of a chain without entries."""
    return hashlib.sha256(f"{ENTRY_FORMAT}\n{name}".encode()).hexdigest()


def next_head(head: str, said: str) -> str:
    """Return the head after an entry."""
    return hashlib.sha256(f"{head}\n{said}".encode()).hexdigest()


def changed_file_error(path: Path, what: str, how: str) -> ReadError:
    """Return the error about a file that somebody changed."""
    return ReadError(f"The {what} {path} is not what was recorded: {how}; restore the newest copy.")


def state_folder() -> Path:
    """Return the folder in which the programs of a user remember what outlives them."""
    state = os.environ.get("XDG_STATE_HOME")
    try:
        return (Path(state) if state else Path.home() / ".local" / "state") / "sfumato"
    except RuntimeError:
        raise WriteError("There is no home folder; name a folder that lasts by XDG_STATE_HOME.") from None


def load_head(name: str) -> ExternalHead | None:
    """Return the newest head of a chain that this user's programs wrote; None if they know none."""
    return ExternalHead.read(_head_path(name), HEAD_FORMAT)


def save_head(head: ExternalHead) -> None:
    """Remember the newest head of a chain, unless it is remembered."""
    if load_head(head.ledger) != head:
        path = _head_path(head.ledger)
        _make(path.parent)
        head.write(path, HEAD_FORMAT)


def check_not_rolled_back(chain: EntryChain) -> None:
    """Refuse a copy that is older than what is remembered of its chain, or that went on in another way."""
    known = load_head(chain.name)
    if known is not None:
        known.check_not_newer(chain, f"the record of it in {_head_path(chain.name).parent}")


def register_budget(digest: str, name: str, path: Path) -> tuple[list[str], Path]:
    """Note that a budget belongs to data with this digest; return where other budgets of it are, and the note.

    Data are known by a keyed hash, whose key never leaves the state folder.
    """
    folder = state_folder() / "budgets" / hmac.digest(_key(), digest.encode(), "sha256").hex()
    _make(folder)
    mine = folder / name
    with atomic_path(mine) as temporary:
        temporary.touch(mode=0o600)
        temporary.write_text(str(path.absolute()), encoding="utf-8")
    others = sorted(each for each in folder.iterdir() if NAME.fullmatch(each.name) and each.name != name)
    return [each.read_text("utf-8") for each in others], mine


def _head_path(name: str) -> Path:
    return state_folder() / "heads" / f"{name}.json"


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(
            f"The folder {folder}, which remembers ledgers and budgets, cannot be made: {error.strerror}; name another "
            "one that lasts by XDG_STATE_HOME."
        ) from None


def _key() -> bytes:
    """Return the key of the state folder, which is drawn when it is first asked for."""
    path = state_folder() / "key"
    _make(path.parent)
    if not path.exists():
        drawn = path.with_name(f"key-{secrets.token_hex(8)}")
        handle = os.open(drawn, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(32))
        try:
            os.link(drawn, path)
        except FileExistsError:
            pass  # another process was faster
        finally:
            drawn.unlink()
    return path.read_bytes()
