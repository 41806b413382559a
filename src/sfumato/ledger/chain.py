"""The chain of entries: each head is the hash of an entry and of the head before, so that nothing can be taken out."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.exceptions import ReadError
from sfumato.ledger.store import RELEASE, WHAT, Row, RowPlace, Rows, digest
from sfumato.table.atomic import atomic_path
from sfumato.table.held_file import damaged

HEAD_FORMAT = "sfumato ledger head 1"
ENTRY_FORMAT = "sfumato ledger entry 1"
INTERNAL, STATED = "internal", "ledger.json"  # where a release says which entry it is
STATED_BY_ENTRY = ("number", "time", "recipe", "source", "folder", "public")


@dataclass(frozen=True)
class Chain:
    """All entries of a ledger, each checked against its head.

    Parameters
    ----------
    path : the file.
    name : the name of the ledger.
    entries : what the entries say, in order.
    heads : the head before the first entry, and after every one.
    """

    path: Path
    name: str
    entries: tuple[Mapping[str, Any], ...]
    heads: tuple[str, ...]

    @property
    def head(self) -> str:
        """The head of the last entry."""
        return self.heads[-1]

    @classmethod
    def read(cls, store: sqlite3.Connection, path: Path, name: str) -> Chain:
        """Read all entries, and refuse a ledger in which one was changed or taken out."""
        heads, entries = [first_head(name)], []
        for number, (entry, said, head) in enumerate(
            store.execute("SELECT entry, said, head FROM entries ORDER BY entry"), start=1
        ):
            heads.append(next_head(heads[-1], said))
            if entry != number or head != heads[-1]:
                raise changed(path, f"entry {number} was changed, or one before it is missing")
            entries.append(json.loads(said))
        chain = cls(path, name, tuple(entries), tuple(heads))
        chain._compare(store)
        return chain

    def _compare(self, store: sqlite3.Connection) -> None:
        """Refuse a table of releases that says something else than the entries."""
        said = [
            (each["number"], at + 1, *(each[name] for name in STATED_BY_ENTRY[1:]), self.heads[at + 1])
            for at, each in enumerate(self.entries)
            if each["kind"] == RELEASE
        ]
        columns = "number, entry, time, recipe, source, folder, public, head"
        found = store.execute(f"SELECT {columns} FROM releases ORDER BY number").fetchall()  # noqa: S608 - ours
        if found != said:
            raise changed(self.path, "a release was changed or taken out")

    def digests(self) -> dict[str, str]:
        """Return the digest of every row that is recorded, as the last entry about it says."""
        known: dict[str, str] = {}
        for entry in self.entries:
            known |= entry["digests"]
        return known

    def check(self, rows: Rows, tables: Sequence[str], attribute: int | None = None) -> None:
        """Refuse rows that are not what the entries say, or not all of them."""
        asked = {
            place: said
            for place, said in self.digests().items()
            if (words := place.split())[0] in tables and attribute in {None, int(words[2])}
        }
        found = {str(place): digest(row) for place, row in rows.items()}
        if found != asked:
            differing = sum(found.get(place) != asked.get(place) for place in found.keys() | asked.keys())
            raise changed(self.path, f"{differing:,} of {len(asked):,} recorded rows were changed or taken out")


@dataclass(frozen=True)
class StatedHead:
    """A head that stands somewhere else than in the ledger: beside the key, or in `internal/` of a release."""

    ledger: str
    entry: int
    head: str

    @classmethod
    def read(cls, path: Path, format_: str) -> StatedHead | None:
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

    def refuse_newer(self, chain: Chain, where: str) -> None:
        """Refuse a ledger that does not have this head."""
        if self.ledger != chain.name:
            raise ReadError(f"{where} belongs to another ledger than {chain.path}.")
        if self.entry >= len(chain.heads):
            raise ReadError(
                f"The ledger {chain.path} is older than {where} says: it has {len(chain.entries)} entries, and entry "
                f"{self.entry} was written; restore the newest copy."
            )
        if chain.heads[self.entry] != self.head:
            raise ReadError(
                f"The ledger {chain.path} has another entry {self.entry} than {where} says; restore the newest copy."
            )


def first_head(name: str) -> str:
    """Return the head of a ledger without entries."""
    return hashlib.sha256(f"{ENTRY_FORMAT}\n{name}".encode()).hexdigest()


def next_head(head: str, said: str) -> str:
    """Return the head after an entry."""
    return hashlib.sha256(f"{head}\n{said}".encode()).hexdigest()


def append(store: sqlite3.Connection, chain: Chain, said: Mapping[str, Any]) -> StatedHead:
    """Add an entry; return its head."""
    written = json.dumps(said, sort_keys=True)
    made = StatedHead(chain.name, len(chain.entries) + 1, next_head(chain.head, written))
    store.execute("INSERT INTO entries VALUES (?, ?, ?)", (made.entry, written, made.head))
    return made


def digests_of(rows: Mapping[RowPlace, Row]) -> dict[str, str]:
    """Return what an entry says about rows."""
    return {str(place): digest(row) for place, row in rows.items()}


def changed(path: Path, what: str) -> ReadError:
    """Return the error about a ledger that somebody changed."""
    return ReadError(f"The ledger {path} is not what was recorded: {what}; restore the newest copy.")


def refuse_strange(path: Path, known: Mapping[str, str], format_: str) -> None:
    """Refuse a file that is not a ledger."""
    if known.get("format") != format_ or not {"name", "key"} <= set(known):
        raise damaged(path, WHAT)
