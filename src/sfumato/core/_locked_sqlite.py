"""SQLite files that one process at a time holds, with all changes on disk when it lets go."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from sfumato.core._atomic_writes import open_workspace
from sfumato.errors import ReadError, WriteError

PATIENCE = 60.0  # seconds to wait for other processes


@contextmanager
def open_locked(path: Path, what: str) -> Iterator[sqlite3.Connection]:
    """Hold a file exclusively; when this ends, either everything written is on disk or nothing is.

    `what` names the file's purpose in refusals.
    """
    try:
        with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as store:
            store.execute("PRAGMA journal_mode = DELETE")
            store.execute("PRAGMA synchronous = EXTRA")
            store.execute("PRAGMA foreign_keys = ON")
            store.execute("BEGIN IMMEDIATE")
            try:
                yield store
            except BaseException:
                if store.in_transaction:
                    store.execute("ROLLBACK")
                raise
            store.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname.startswith("SQLITE_BUSY"):
            raise WriteError(f"The {what} file {path} is busy; try again later.") from None
        if error.sqlite_errorname == "SQLITE_ERROR":
            raise corrupted_file_error(path, what) from None
        raise WriteError(f"The {what} file {path} cannot be written, so nothing is answered.") from None
    except sqlite3.Error:
        raise corrupted_file_error(path, what) from None


def create_locked(path: Path, what: str, schema: str, said: Mapping[str, str]) -> bool:
    """Create a file with these tables and facts that only its owner may read, unless it exists.

    The file appears complete, so an empty file is always a damaged one. Returns whether the file was created.
    """
    if path.exists():
        return False
    if not path.parent.is_dir():
        raise WriteError(f"There is no folder {path.parent} for the {what} file.")
    try:
        with open_workspace(path.parent) as place:
            made = place / path.name
            made.touch(mode=0o600)
            with open_locked(made, what) as store:
                for statement in filter(str.strip, schema.split(";")):
                    store.execute(statement)
                store.executemany("INSERT INTO facts VALUES (?, ?)", said.items())
            os.link(made, path)
    except FileExistsError:
        return False
    except OSError:
        raise WriteError(f"The {what} file {path} cannot be written.") from None
    return True


def is_complete(store: sqlite3.Connection, table: str) -> bool:
    """Return whether no entry of a table was deleted: entries are numbered, and SQLite remembers the last number."""
    count, last = store.execute(f"SELECT count(*), coalesce(max(entry), 0) FROM {table}").fetchone()  # noqa: S608 - ours
    numbered = store.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return bool(count == last == numbered[0])


def read_facts(store: sqlite3.Connection) -> dict[str, str]:
    """Return the facts that a file states about itself."""
    return dict(store.execute("SELECT name, value FROM facts"))


def corrupted_file_error(path: Path, what: str) -> ReadError:
    """Return the error for a file that is not what it should be."""
    return ReadError(f"{path} is not a valid {what} file, so nothing is answered; restore it from a copy.")
