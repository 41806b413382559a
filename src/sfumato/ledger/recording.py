"""Record a release when it is written: pending once its folder is staged, released once that is in place."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sfumato.exceptions import ReadError, WriteError
from sfumato.ledger.chain import INTERNAL, STATED, HashChain, row_digests
from sfumato.ledger.key import PUBLISHED
from sfumato.ledger.store import PENDING, RELEASE, RELEASED, WHAT, Rows, insert, remove
from sfumato.table.chain import ENTRY_FORMAT, ExternalHead
from sfumato.table.held_file import PATIENCE
from sfumato.table.workplace import LOCKS, lock_folder

PAUSE = 0.05  # seconds between two looks at a lock


@contextmanager
def exclusive_writer(key: Path) -> Iterator[None]:
    """Be the only one who writes the ledger of a key; the lock is gone with the process, however that ends."""
    if not key.is_file():
        raise ReadError(f"There is no key file {key}; the ledger cannot be used without its key.")
    until, lock = time.monotonic() + PATIENCE, lock_folder(key)
    while lock is None and LOCKS:
        if time.monotonic() > until:
            raise WriteError(f"Another process is writing a release of the {WHAT} of {key}; try again later.")
        time.sleep(PAUSE)
        lock = lock_folder(key)
    try:
        yield
    finally:
        if lock is not None:
            os.close(lock)


def add_pending(
    store: sqlite3.Connection,
    chain: HashChain,
    *,
    number: int,
    said: dict[str, str],
    columns: dict[str, list[str]],
    rows: Rows,
) -> ExternalHead:
    """Add a release that is staged and not in place yet.

    Parameters
    ----------
    store, chain : the ledger.
    number : of the release.
    said : the digests of recipe and source, the folder and the digest of `public/`, in this order.
    columns : the columns by role.
    rows : what is recorded.
    """
    told = {"time": datetime.now(UTC).isoformat(timespec="seconds"), **said}
    entry = {"kind": RELEASE, "number": number, **told, "columns": columns, "digests": row_digests(rows)}
    made = chain.append(store, entry)
    store.execute(
        "INSERT INTO releases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (number, made.entry, PENDING, *told.values(), made.head),
    )
    insert(store, rows)
    return made


def finish_pending(store: sqlite3.Connection, path: Path) -> str | None:
    """Finish a release that was pending if its folder is in place, or undo it; say what was done.

    A folder that says that it is this release, and is not what was staged, is refused: it must be looked at.
    """
    pending = store.execute("SELECT number, folder, public, head FROM releases WHERE state = ?", (PENDING,)).fetchone()
    if pending is None:
        return None
    number, folder, public, head = pending
    place = path.parent / folder
    stated = ExternalHead.read(place / INTERNAL / STATED, ENTRY_FORMAT)
    ours = stated is not None and stated.head == head
    if ours and folder_digest(place / PUBLISHED) == public:
        store.execute("UPDATE releases SET state = ? WHERE number = ?", (RELEASED, number))
        return f"Release {number} was written to {place} and is recorded now."
    if ours:
        raise ReadError(
            f"{place} was changed while it was recorded in the {WHAT} {path}; move it away and repair that."
        )
    remove(store, number)
    return f"Release {number} was never put into place; its entry was taken back."


def folder_digest(folder: Path) -> str:
    """Return the SHA-256 of the names and contents of all files in a folder."""
    hashed = hashlib.sha256()
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        name = file.relative_to(folder).as_posix().encode()
        with file.open("rb") as opened:
            content = hashlib.file_digest(opened, "sha256").digest()
        hashed.update(b"%d %s %s" % (len(name), name, content))
    return hashed.hexdigest()
