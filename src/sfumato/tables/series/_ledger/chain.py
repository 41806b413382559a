"""The chain of entries of a ledger, which says what all its tables hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sfumato.core._hash_chain import EntryChain, changed_file_error
from sfumato.core._locked_sqlite import corrupted_file_error
from sfumato.tables.series._ledger.store import RELEASE, WHAT, Row, RowAddress, Rows, row_digest

INTERNAL, STATED = "internal", "ledger.json"  # where a release says which entry it is
STATED_BY_ENTRY = ("number", "time", "recipe", "source", "folder", "public")


@dataclass(frozen=True)
class HashChain(EntryChain):
    """All entries of a ledger, each checked against its head."""

    @classmethod
    def of(cls, store: sqlite3.Connection, path: Path, name: str) -> HashChain:
        """Read all entries, and refuse a ledger in which one was changed or taken out."""
        chain = cls.read(store, path, name, WHAT)
        chain.compare(store)
        return chain

    def compare(self, store: sqlite3.Connection) -> None:
        """Refuse a table of releases that says something else than the entries."""
        said = [
            (each["number"], at + 1, *(each[name] for name in STATED_BY_ENTRY[1:]), self.heads[at + 1])
            for at, each in enumerate(self.entries)
            if each["kind"] == RELEASE
        ]
        columns = "number, entry, time, recipe, source, folder, public, head"
        found = store.execute(f"SELECT {columns} FROM releases ORDER BY number").fetchall()  # noqa: S608 - ours
        if found != said:
            raise changed_file_error(self.path, WHAT, "a release was changed or taken out")

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
        found = {str(place): row_digest(row) for place, row in rows.items()}
        if found != asked:
            differing = sum(found.get(place) != asked.get(place) for place in found.keys() | asked.keys())
            raise changed_file_error(
                self.path, WHAT, f"{differing:,} of {len(asked):,} recorded rows were changed or taken out"
            )


def row_digests(rows: Mapping[RowAddress, Row]) -> dict[str, str]:
    """Return what an entry says about rows."""
    return {str(place): row_digest(row) for place, row in rows.items()}


def check_format(path: Path, known: Mapping[str, str], format_: str) -> None:
    """Refuse a file that is not a ledger."""
    if known.get("format") != format_ or not {"name", "key"} <= set(known):
        raise corrupted_file_error(path, WHAT)
