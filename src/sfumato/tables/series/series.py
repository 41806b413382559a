"""The ledger of a series of releases: a file that remembers who was in which group of which release."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato._validation import suggest_closest
from sfumato.core._hash_chain import ENTRY_FORMAT, HEAD_FORMAT, ExternalHead, changed_file_error
from sfumato.core._locked_sqlite import corrupted_file_error
from sfumato.errors import InvalidParameterError, ReadError
from sfumato.schema.schema import Schema
from sfumato.tables.series._ledger.chain import INTERNAL, STATED, HashChain, row_digests
from sfumato.tables.series._ledger.draft import ReleaseDraft
from sfumato.tables.series._ledger.files import (
    LedgerFiles,
    count_releases,
    exclusive_writer,
    folder_digest,
    recorded_parents,
)
from sfumato.tables.series._ledger.pseudonyms import PUBLISHED, TOKEN, hash_individuals, join_tokens, random_token
from sfumato.tables.series._ledger.state import GROUPED, LedgerState, build_histories, build_history, value_texts
from sfumato.tables.series._ledger.store import (
    FORGET,
    RELEASED,
    TABLES,
    WHAT,
    Row,
    RowAddress,
    read_rows,
    unpack_numbers,
)
from sfumato.tables.series._ledger.version import TableVersion
from sfumato.tables.series.history import History


@dataclass(frozen=True, kw_only=True)
class RecordedRelease:
    """What a ledger tells about one of its releases.

    Parameters
    ----------
    number : of the release, from 1 on.
    time : when it was written.
    folder : where it was written.
    individuals : how many persons were published.
    newcomers : how many of them for the first time.
    waiting : how many were left out and have never been published.
    groups, counterfeits : how many of each, by attribute; a cell that is shown beside its record is no group.
    """

    number: int
    time: str
    folder: Path
    individuals: int
    newcomers: int
    waiting: int
    groups: Mapping[str, int]
    counterfeits: Mapping[str, int]


class Series:
    """Remember who was in which group of which release, in an SQLite file that belongs to one table.

    Give it to `sf.anonymize`: what earlier releases told is looked up, and the release is recorded when it is written.
    Persons are known by keyed hashes of their identifiers. Ledger, key and the head beside the key are as confidential
    as `internal/`; without the key nobody can use the ledger.

    Parameters
    ----------
    path : the file; `Ledger.create` makes a new one.
    key : the file of the key, by default beside the ledger, with `.key` after its name.

    Raises
    ------
    ReadError
        If the ledger is not what was recorded, is older than a release that was written, or has another key.
    """

    def __init__(self, path: str | os.PathLike[str], *, key: str | os.PathLike[str] | None = None) -> None:
        self._files = LedgerFiles.named(path, key)
        self._files.checked()

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, key: str | os.PathLike[str] | None = None) -> Series:
        """Make a ledger without releases, and its key."""
        LedgerFiles.named(path, key).create()
        return cls(path, key=key)

    @classmethod
    def repair(cls, path: str | os.PathLike[str], *, key: str | os.PathLike[str] | None = None) -> str:
        """Finish or undo what a killed process left, and say what was done.

        A head that is missing beside the key is written anew: be sure that the ledger is the newest copy.
        """
        files = LedgerFiles.named(path, key)
        missing = not files.head_path.exists()
        if missing:
            with files.opened() as (_, chain):
                ExternalHead(chain.name, 0, chain.heads[0]).write(files.head_path, HEAD_FORMAT)
        done = files.without_pending()
        written = f"The head file {files.head_path} was written anew." if missing else None
        return " ".join(filter(None, (done, written))) or "There is nothing to repair."

    def __repr__(self) -> str:
        with self._files.opened() as (store, _):
            return f"Ledger({str(self.path)!r}, {count_releases(store)} releases)"

    @property
    def path(self) -> Path:
        """The file."""
        return self._files.path

    @property
    def name(self) -> str:
        """The random name that recipes know the ledger by; it is no secret."""
        with self._files.opened() as (_, chain):
            return chain.name

    @property
    def head(self) -> str:
        """The hash of all entries."""
        with self._files.opened() as (_, chain):
            return chain.head

    def draft(self, table: pa.Table, schema: Schema, *, later_rows: bool = False) -> ReleaseDraft:
        """Look up the persons of a table that is to be released.

        Parameters
        ----------
        table : the table, whose identifiers tell who is who.
        schema : the roles of its columns.
        later_rows : whether the rows are about other people than those of earlier releases.
        """
        self._files.checked()
        version = TableVersion.read(table, schema, self._files.recorded_head(), self._files.key, later_rows=later_rows)
        return ReleaseDraft(self._files, version)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that the ledger follows."""
        return tuple(self._files.recorded_head().attributes)

    def values(self, attribute: str) -> tuple[str | None, ...]:
        """Return the texts of the values that a history of this attribute codes; None, the last, is a missing cell."""
        with self._files.opened() as (store, chain):
            return self._read(store, chain, attribute)[1]

    def history(self, attribute: str) -> History:
        """Return who was in which group of which release, and what each group showed, for a sensitive attribute."""
        with self._files.opened() as (store, chain):
            rows, _ = self._read(store, chain, attribute)
            persons = sum(len(row[0]) for row in read_rows(store, ["persons"]).values()) // TOKEN
        return build_history(rows, persons)

    def histories(self) -> dict[str, History]:
        """Return the history of every attribute that the ledger follows; none before the first release."""
        with self._files.opened() as (store, chain):
            rows = read_rows(store, (*GROUPED, "persons"))
            chain.check(rows, (*GROUPED, "persons"))
        return build_histories(rows)

    def _read(
        self, store: sqlite3.Connection, chain: HashChain, attribute: str
    ) -> tuple[dict[RowAddress, Row], tuple[str | None, ...]]:
        """Read and check the groups of an attribute; also return its values in order, the missing one last."""
        known = LedgerState.read(store, chain, count_releases(store)).attributes
        if attribute not in known:
            hint = suggest_closest(attribute, known) or "; write a release first."
            raise InvalidParameterError(f"The {WHAT} {self.path} does not follow {attribute!r}{hint}")
        at = known[attribute].number
        rows = read_rows(store, GROUPED, at)
        chain.check(rows, GROUPED, at)
        return rows, value_texts(known[attribute].texts)

    def releases(self) -> tuple[RecordedRelease, ...]:
        """Return what is recorded, release by release."""
        with self._files.opened() as (store, chain):
            rows = read_rows(store, tuple(TABLES))
            chain.check(rows, tuple(TABLES))
            listed = store.execute("SELECT number, time, folder FROM releases WHERE state = ?", (RELEASED,)).fetchall()
        return tuple(_recorded(rows, number, time, self.path.parent / folder) for number, time, folder in listed)

    def verify(self, folders: Sequence[str | os.PathLike[str]] = ()) -> tuple[str, ...]:
        """Check everything that is recorded, and the folders of all releases; return what could not be checked.

        Parameters
        ----------
        folders : further folders of releases; a ledger that is older than one of them is refused.
        """
        with self._files.opened() as (store, chain):
            sound = store.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            if not sound or store.execute("PRAGMA foreign_key_check").fetchone() is not None:
                raise corrupted_file_error(self.path, WHAT)
            chain.check(read_rows(store, tuple(TABLES)), tuple(TABLES))
            self._files.check_not_older(chain, recorded_parents(store, self.path))
            written = store.execute("SELECT number, folder, public, head FROM releases").fetchall()
        for folder in map(Path, folders):
            stated = ExternalHead.read(folder / INTERNAL / STATED, ENTRY_FORMAT)
            if stated is None:
                raise ReadError(f"{folder} is not a release of a series; give the folder of one.")
            stated.check_not_newer(chain, f"the release in {folder}")
        found = (
            self._elsewhere(number, self.path.parent / folder, public, head) for number, folder, public, head in written
        )
        return tuple(sentence for sentence in found if sentence is not None)

    def _elsewhere(self, number: int, folder: Path, public: str, head: str) -> str | None:
        """Say that a release is not where it was written; refuse one that was changed there."""
        stated = ExternalHead.read(folder / INTERNAL / STATED, ENTRY_FORMAT)
        if stated is None or stated.head != head:
            return f"Release {number} is not in {folder} any more, so its files could not be checked."
        if folder_digest(folder / PUBLISHED) != public:
            raise changed_file_error(
                self.path, WHAT, f"public/ of release {number} in {folder} was changed after it was written"
            )
        return None

    def forget(self, *identifiers: str | float | date) -> bool:
        """Replace what recognizes a person by a random number, everywhere; return whether she was there.

        Groups keep their sizes. If she comes back she is a new person, and no signature is kept for her.

        Parameters
        ----------
        identifiers : her identifiers, in the order in which the ledger has their columns.
        """
        with exclusive_writer(self._files.key_path), self._files.opened() as (store, chain):
            store.execute("PRAGMA secure_delete = ON")
            names = chain.entries[0]["columns"]["identifier"] if chain.entries else []
            if len(identifiers) != len(names):
                listed = ", ".join(repr(name) for name in names) or "nobody yet"
                raise InvalidParameterError(f"The {WHAT} {self.path} knows persons by {listed}; give a value for each.")
            table = pa.table({name: pa.array([value]) for name, value in zip(names, identifiers, strict=True)})
            token = join_tokens(hash_individuals(table, names, self._files.key).tokens)
            rows = _rows_after_erasure(read_rows(store, ("persons", "waiting", "seen")), token)
            for place, row in rows.items():
                cells = ", ".join(f"{column} = ?" for column in TABLES[place.table])
                store.execute(
                    f"UPDATE {place.table} SET {cells} WHERE release = ? AND attribute = ?",  # noqa: S608 - ours
                    (*row, place.release, place.attribute),
                )
            if rows:
                chain.append(store, {"kind": FORGET, "digests": row_digests(rows)})
        self._files.forward()
        return bool(rows)


def _rows_after_erasure(rows: Mapping[RowAddress, Row], token: bytes) -> dict[RowAddress, Row]:
    """Return the rows that change if a person is forgotten: her token, and the hashes of her values."""
    instead, found, first, number = random_token(), dict[RowAddress, Row](), 0, -1
    for place, (tokens, *rest) in rows.items():
        if place.table not in {"persons", "waiting"}:
            continue
        at = _find_token(tokens, token)
        if at >= 0:
            found[place] = (tokens[: at * TOKEN] + instead + tokens[(at + 1) * TOKEN :], *rest)
            number = first + at if place.table == "persons" else number
        first += len(tokens) // TOKEN if place.table == "persons" else 0
    for place, row in rows.items():
        if place.table == "seen" and number >= 0 and (mine := np.flatnonzero(unpack_numbers(row[0]) == number)).size:
            at = 8 * int(mine[0])
            found[place] = (row[0], row[1][:at] + os.urandom(8) + row[1][at + 8 :])
    return found


def _find_token(tokens: bytes, token: bytes) -> int:
    """Return the place of a token among others, -1 if it is not there."""
    at = tokens.find(token)
    while at >= 0 and at % TOKEN:
        at = tokens.find(token, at + 1)
    return at // TOKEN if at >= 0 else -1


def _recorded(rows: Mapping[RowAddress, Row], number: int, time: str, folder: Path) -> RecordedRelease:
    names = {
        place.attribute: row[0] for place, row in rows.items() if (place.table, place.release) == ("attributes", number)
    }
    people = [unpack_numbers(rows[RowAddress("memberships", number, at)][0]) for at in names]
    fake = {name: unpack_numbers(rows[RowAddress("groups", number, at)][3]) for at, name in names.items()}
    return RecordedRelease(
        number=number,
        time=time,
        folder=folder,
        individuals=len(np.unique(np.concatenate(people))),
        newcomers=len(rows[RowAddress("persons", number)][0]) // TOKEN,
        waiting=len(rows[RowAddress("waiting", number)][0]) // TOKEN,
        groups={name: rows[RowAddress("groups", number, at)][4] for at, name in names.items()},
        counterfeits={name: int(each.sum()) for name, each in fake.items()},
    )
