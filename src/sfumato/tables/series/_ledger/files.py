"""The files of a ledger: the tables, the key, and the head that stands beside the key."""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from sfumato.core._atomic_writes import LOCKS, lock_folder
from sfumato.core._hash_chain import (
    ENTRY_FORMAT,
    HEAD_FORMAT,
    ExternalHead,
    check_not_rolled_back,
    first_head,
    save_head,
)
from sfumato.core._locked_sqlite import PATIENCE, create_locked, read_facts
from sfumato.errors import InvalidParameterError, ReadError, WriteError
from sfumato.tables.series._ledger.chain import INTERNAL, STATED, HashChain, check_format, row_digests
from sfumato.tables.series._ledger.pseudonyms import PUBLISHED, LedgerKey, check_not_public, check_permissions
from sfumato.tables.series._ledger.state import LedgerState
from sfumato.tables.series._ledger.store import (
    FORMAT,
    PENDING,
    RELEASE,
    RELEASED,
    SCHEMA,
    WHAT,
    Rows,
    insert,
    open_store,
    remove,
)

# Record a release when it is written: pending once its folder is staged, released once that is in place.

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


KEY, HEAD = ".key", ".head"
ENDINGS = ("", KEY, HEAD)


@dataclass(frozen=True)
class LedgerFiles:
    """Where the files of a ledger are; the head is beside the key."""

    path: Path
    key_path: Path

    @classmethod
    def named(cls, path: str | os.PathLike[str], key: str | os.PathLike[str] | None) -> LedgerFiles:
        """Name the files; by default the key is beside the ledger. Refuse folders that are safe to share."""
        ledger = Path(path)
        files = cls(ledger, ledger.with_name(ledger.name + KEY) if key is None else Path(key))
        for each, what in ((files.path, WHAT), (files.key_path, "key"), (files.head_path, "head")):
            check_not_public(each, what)
        if len({files.path, files.key_path, files.head_path}) < len(ENDINGS):
            raise InvalidParameterError(f"The {WHAT} and its key must have names of their own; name another key.")
        return files

    @property
    def head_path(self) -> Path:
        """The file that tells the head."""
        return self.key_path.with_suffix(HEAD)

    @cached_property
    def key(self) -> LedgerKey:
        """The key."""
        return LedgerKey.read(self.key_path)

    def create(self) -> None:
        """Make a ledger without releases, its key and its head."""
        for path in (self.path, self.head_path):
            if path.exists():
                raise WriteError(f"{path} already exists; name another file.")
        for folder in (self.path.parent, self.key_path.parent):
            if not folder.is_dir():
                raise WriteError(f"There is no folder {folder} for the {WHAT}.")
        key, name = LedgerKey.make(self.key_path), secrets.token_hex(16)
        try:
            made = create_locked(self.path, WHAT, SCHEMA, {"format": FORMAT, "name": name, "key": key.check})
        except BaseException:
            self.key_path.unlink()
            raise
        if not made:
            self.key_path.unlink()
            raise WriteError(f"{self.path} already exists; name another file.")
        first = ExternalHead(name, 0, first_head(name))
        first.write(self.head_path, HEAD_FORMAT)
        save_head(first)

    @contextmanager
    def opened(self) -> Iterator[tuple[sqlite3.Connection, HashChain]]:
        """Hold the tables, checked against their key and their heads."""
        if not self.path.is_file():
            raise ReadError(f"There is no {WHAT} {self.path}; make one by sfumato ledger init.")
        check_permissions(self.path, WHAT)
        with open_store(self.path) as store:
            known = read_facts(store)
            check_format(self.path, known, FORMAT)
            if self.key.check != known["key"]:
                raise ReadError(f"{self.key_path} is not the key of the {WHAT} {self.path}; give the right one.")
            yield store, HashChain.of(store, self.path, known["name"])

    def without_pending(self) -> str | None:
        """Finish or undo what a killed process left, and bring the head beside the key up to date.

        Returns a sentence about what was done, if anything was. Refuses a ledger that is older than the head beside the
        key, or than a release that stands beside one of its own.
        """
        with exclusive_writer(self.key_path), self.opened() as (store, chain):
            self.check_not_older(chain, recorded_parents(store, self.path))
            done = finish_pending(store, self.path)
        self.forward()
        return done

    def checked(self) -> None:
        """Refuse an old ledger; settle what is pending; bring the head up to date."""
        with self.opened() as (store, chain):
            pending = store.execute("SELECT 1 FROM releases WHERE state = ?", (PENDING,)).fetchone()
            stated = self.check_not_older(chain, recorded_parents(store, self.path))
        if pending is not None or stated.head != chain.head:
            self.without_pending()

    def check_not_older(self, chain: HashChain, parents: Iterable[Path]) -> ExternalHead:
        """Refuse a ledger that misses an entry which was written; return the head beside the key.

        An entry is known from the head beside the key, from what this user's programs remember of the ledger wherever
        it was moved since, and from releases that are still where they were written.
        """
        stated = ExternalHead.read(self.head_path, HEAD_FORMAT)
        if stated is None:
            raise ReadError(
                f"There is no head file {self.head_path}; restore it, or write it anew by sfumato ledger repair if the "
                f"{WHAT} is the newest copy."
            )
        stated.check_not_newer(chain, f"the head file {self.head_path}")
        check_not_rolled_back(chain)
        for parent in parents:
            for file in parent.glob(f"*/{INTERNAL}/{STATED}"):
                with suppress(PermissionError):
                    mine = ExternalHead.read(file, ENTRY_FORMAT)
                    if mine is not None and mine.ledger == chain.name:
                        mine.check_not_newer(chain, f"the release in {file.parent.parent}")
        return stated

    def forward(self) -> None:
        """Write the head of the last entry beside the key, and remember it; one that is pending is none."""
        with self.opened() as (store, chain):
            if store.execute("SELECT 1 FROM releases WHERE state = ?", (PENDING,)).fetchone() is None:
                if ExternalHead.read(self.head_path, HEAD_FORMAT) != chain.newest_head:
                    chain.newest_head.write(self.head_path, HEAD_FORMAT)
                save_head(chain.newest_head)

    def recorded_head(self) -> LedgerState:
        """Read what is remembered of persons."""
        with self.opened() as (store, chain):
            return LedgerState.read(store, chain, count_releases(store))

    def relative(self, folder: Path) -> str:
        """Return the path of a folder from that of the ledger, so that both can be moved together."""
        target = Path(os.path.realpath(folder))
        try:
            return Path(os.path.relpath(target, os.path.realpath(self.path.parent))).as_posix()
        except ValueError:  # on another drive
            return target.as_posix()


def count_releases(store: sqlite3.Connection) -> int:
    """Count the releases that were written."""
    (count,) = store.execute("SELECT count(*) FROM releases WHERE state = ?", (RELEASED,)).fetchone()
    return int(count)


def recorded_parents(store: sqlite3.Connection, path: Path) -> set[Path]:
    """Return the folders that releases were written into."""
    return {(path.parent / folder).parent for (folder,) in store.execute("SELECT folder FROM releases")}
