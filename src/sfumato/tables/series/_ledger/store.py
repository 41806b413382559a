"""The tables of a ledger: for every release and attribute one row, with a number for every person or group."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.core._locked_sqlite import corrupted_file_error, open_locked

FORMAT = "sfumato ledger 1"
WHAT = "ledger"
PENDING, RELEASED = "pending", "released"
RELEASE, FORGET = "release", "forget"
TABLES: Mapping[str, tuple[str, ...]] = {
    "attributes": ("name", "permanent", "texts"),
    "persons": ("tokens",),
    "groups": ("offsets", "codes", "counts", "counterfeits", "shown"),
    "memberships": ("persons", "numbers"),
    "signatures": ("sets", "persons", "places"),
    "seen": ("persons", "hashes"),
    "waiting": ("tokens", "since"),
}  # what is recorded of a release, and of each of its attributes; persons and waiting are those of attribute 0
SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (
    entry INTEGER PRIMARY KEY,
    said TEXT NOT NULL,
    head TEXT NOT NULL
);
CREATE TABLE releases (
    number INTEGER PRIMARY KEY,
    entry INTEGER NOT NULL REFERENCES entries (entry),
    state TEXT NOT NULL CHECK (state IN ('pending', 'released')),
    time TEXT NOT NULL,
    recipe TEXT NOT NULL,
    source TEXT NOT NULL,
    folder TEXT NOT NULL,
    public TEXT NOT NULL,
    head TEXT NOT NULL
);
""" + "".join(
    f"""
CREATE TABLE {name} (
    release INTEGER NOT NULL REFERENCES releases (number),
    attribute INTEGER NOT NULL,
    {", ".join(f"{column} NOT NULL" for column in columns)},
    PRIMARY KEY (release, attribute)
);"""
    for name, columns in TABLES.items()
)
Numbers = npt.NDArray[np.int32]
Row = tuple[Any, ...]


@dataclass(frozen=True)
class RowAddress:
    """Where a row is: its table, its release, and the number of its attribute, from 1 on; 0 is no attribute."""

    table: str
    release: int
    attribute: int = 0

    def __str__(self) -> str:
        return f"{self.table} {self.release} {self.attribute}"


Rows = Mapping[RowAddress, Row]


@contextmanager
def open_store(path: Path) -> Iterator[sqlite3.Connection]:
    """Hold the ledger; values that do not fit together are those of a damaged file."""
    with open_locked(path, WHAT) as store:
        try:
            yield store
        except (KeyError, IndexError, TypeError, json.JSONDecodeError):
            raise corrupted_file_error(path, WHAT) from None


def row_digest(row: Row) -> str:
    """Return the SHA-256 of the cells of a row, each with its kind and length before it."""
    hashed = hashlib.sha256()
    for cell in row:
        said = cell if isinstance(cell, bytes) else json.dumps(cell).encode()
        hashed.update(b"%s %d " % (type(cell).__name__.encode(), len(said)))
        hashed.update(said)
    return hashed.hexdigest()


def insert(store: sqlite3.Connection, rows: Rows) -> None:
    """Add rows."""
    for place, row in rows.items():
        marks = ", ".join("?" * (len(row) + 2))
        store.execute(
            f"INSERT INTO {place.table} VALUES ({marks})",  # noqa: S608 - the name of one of our tables
            (place.release, place.attribute, *row),
        )


def remove(store: sqlite3.Connection, release: int) -> None:
    """Remove everything that is recorded of a release that never was."""
    for table in (*TABLES,):
        store.execute(f"DELETE FROM {table} WHERE release = ?", (release,))  # noqa: S608 - the name of one of our tables
    (entry,) = store.execute("SELECT entry FROM releases WHERE number = ?", (release,)).fetchone()
    store.execute("DELETE FROM releases WHERE number = ?", (release,))
    store.execute("DELETE FROM entries WHERE entry = ?", (entry,))


def read_rows(store: sqlite3.Connection, tables: Sequence[str], attribute: int | None = None) -> dict[RowAddress, Row]:
    """Read all rows of some tables, by release and attribute, or those of one attribute."""
    found: dict[RowAddress, Row] = {}
    for table in tables:
        columns = ", ".join(TABLES[table])
        asked = f"SELECT release, attribute, {columns} FROM {table} WHERE attribute = coalesce(?, attribute) "  # noqa: S608 - ours
        for release, at, *row in store.execute(f"{asked} ORDER BY release, attribute", (attribute,)):
            found[RowAddress(table, release, at)] = tuple(row)
    return found


def pack_numbers(numbers: npt.NDArray[np.integer]) -> bytes:
    """Write numbers as 32 bits each, the same on all machines."""
    return numbers.astype("<i4").tobytes()


def unpack_numbers(cell: bytes) -> Numbers:
    """Read numbers that were packed."""
    return np.frombuffer(cell, dtype="<i4").astype(np.int32)


def pack_hashes(hashes: npt.NDArray[np.uint64]) -> bytes:
    """Write hashes as 64 bits each, the same on all machines."""
    return hashes.astype("<u8").tobytes()


def unpack_hashes(cell: bytes) -> npt.NDArray[np.uint64]:
    """Read hashes that were packed."""
    return np.frombuffer(cell, dtype="<u8").astype(np.uint64)
