"""The history of questions about a column, in a file that all users share."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.core._locked_sqlite import corrupted_file_error, create_locked, is_complete, open_locked, read_facts
from sfumato.errors import InvalidParameterError

Integers = npt.NDArray[np.int64]


# Rows that were always asked about together form one class, so that the work grows with classes, not with rows.


# Rows that were always asked about together form one class, so that the work grows with classes, not with rows.
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class PartitionCover:
    """How a set of rows meets the classes: which it covers fully, and which it would split.

    A split class keeps its uncovered rows; its covered rows get the next free number, in the order of `split`.
    """

    rows: Truths
    inside: Integers
    sizes: Integers
    full: Truths
    split: Integers

    @property
    def members(self) -> Truths:
        """Which classes are in the set, once the split is made."""
        return np.concatenate([self.full, np.ones(len(self.split), dtype=np.bool_)])

    @property
    def sizes_after(self) -> Integers:
        """The sizes of all classes, once the split is made."""
        kept = np.where(self.full, self.sizes, self.sizes - self.inside)
        return np.concatenate([kept, self.inside[self.split]])


class RowPartition:
    """The classes of rows."""

    def __init__(self, rows: int) -> None:
        self.classes = np.zeros(rows, dtype=np.int64)
        self.sizes = np.array([rows], dtype=np.int64)

    def cover(self, rows: Truths) -> PartitionCover:
        """Return how a set of rows meets the classes, without splitting any."""
        inside = np.bincount(self.classes[rows], minlength=len(self.sizes)).astype(np.int64)
        full = (inside == self.sizes) & (self.sizes > 0)
        split = np.flatnonzero((inside > 0) & ~full)
        return PartitionCover(rows=rows, inside=inside, sizes=self.sizes, full=full, split=split)

    def split(self, cover: PartitionCover) -> None:
        """Split the classes that a set covers in part."""
        numbers = np.arange(len(self.sizes))
        numbers[cover.split] = len(self.sizes) + np.arange(len(cover.split))
        self.classes[cover.rows] = numbers[self.classes[cover.rows]]
        self.sizes = cover.sizes_after


WHAT = "query history"
FORMAT = "sfumato query history 1"
SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE questions (
    entry INTEGER PRIMARY KEY AUTOINCREMENT,
    user TEXT NOT NULL,
    kind TEXT NOT NULL,
    question TEXT NOT NULL,
    denied INTEGER NOT NULL CHECK (denied IN (0, 1)),
    rows BLOB
);
"""


class RecordedQuery(NamedTuple):
    """A question of the history."""

    user: str
    kind: str
    question: str
    denied: bool


class AnsweredQuery(NamedTuple):
    """An answered question, with the rows that it is about."""

    number: int
    kind: str
    rows: Truths


@dataclass(frozen=True, kw_only=True)
class QueryHistory:
    """The questions of one column of one table."""

    path: Path
    rows: int

    @classmethod
    def open(cls, path: Path, rows: int, said: dict[str, str]) -> QueryHistory:
        """Open or create a history; refuse that of another table, column or rule."""
        create_locked(path, WHAT, SCHEMA, {"format": FORMAT, **said})
        with open_locked(path, WHAT) as store:
            sound = store.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            known = read_facts(store)
            whole = is_complete(store, "questions")
        if not (sound and whole and known.get("format") == FORMAT):
            raise corrupted_file_error(path, WHAT)
        for name, value in said.items():
            if known.get(name) != value:
                raise InvalidParameterError(f"The history {path} was started with another {name}; choose another file.")
        return cls(path=path, rows=rows)

    @contextmanager
    def lock(self) -> Iterator[Connection]:
        """Hold the history for one question."""
        with open_locked(self.path, WHAT) as store:
            if not is_complete(store, "questions"):
                raise corrupted_file_error(self.path, WHAT)
            yield store

    def answers_since(self, store: Connection, number: int) -> Iterator[AnsweredQuery]:
        """Yield answered questions after an entry, except counts, which reveal nothing."""
        found = store.execute(
            "SELECT entry, kind, rows FROM questions WHERE entry > ? AND rows IS NOT NULL ORDER BY entry", (number,)
        )
        for entry, kind, packed in found:
            try:
                bits = np.frombuffer(zlib.decompress(packed), dtype=np.uint8)
            except (zlib.error, TypeError):
                raise corrupted_file_error(self.path, WHAT) from None
            if len(bits) != -(-self.rows // 8):
                raise corrupted_file_error(self.path, WHAT)
            yield AnsweredQuery(entry, kind, np.unpackbits(bits, count=self.rows).astype(np.bool_))

    @staticmethod
    def add(store: Connection, asked: RecordedQuery, rows: Truths) -> int:
        """Record a question before it is answered or denied."""
        packed = None if asked.denied or asked.kind == "count" else zlib.compress(np.packbits(rows).tobytes(), 1)
        done = store.execute(
            "INSERT INTO questions (user, kind, question, denied, rows) VALUES (?, ?, ?, ?, ?)",
            (asked.user, asked.kind, asked.question, int(asked.denied), packed),
        )
        assert done.lastrowid is not None  # noqa: S101 - SQLite numbers every row that it inserts
        return done.lastrowid

    def all(self) -> tuple[RecordedQuery, ...]:
        """Return all questions, in order."""
        with open_locked(self.path, WHAT) as store:
            found = store.execute("SELECT user, kind, question, denied FROM questions ORDER BY entry").fetchall()
        return tuple(RecordedQuery(user, kind, question, bool(denied)) for user, kind, question, denied in found)
