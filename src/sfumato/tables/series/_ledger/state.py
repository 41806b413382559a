"""What a ledger remembers of persons, as arrays: all of its rows about them, checked and put together."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from sfumato.tables.published.groups import Histogram
from sfumato.tables.series._ledger.chain import HashChain
from sfumato.tables.series._ledger.pseudonyms import TOKEN, Tokens, split_tokens
from sfumato.tables.series._ledger.store import Row, RowAddress, read_rows, unpack_hashes, unpack_numbers
from sfumato.tables.series.history import GroupedRelease, History

Ints = npt.NDArray[np.int64]


ABOUT_PERSONS = ("attributes", "persons", "signatures", "seen", "waiting")
STRANGER = -1  # the number of a person whom the ledger does not know
SHOWN = -1  # in place of a signature: the cell was shown beside its record
UNSIGNED = -1


@dataclass(eq=False, repr=False)
class AttributeState:
    """What is remembered of one attribute.

    `texts` are its values in the order in which they came, `sets` the signatures, as numbers of values. For every
    person of the ledger there is the place of her signature, whether her cell was shown, and the hash of her value.
    """

    number: int
    name: str
    permanent: bool
    texts: list[str | None]
    sets: list[tuple[int, ...]]
    place: npt.NDArray[np.int32]
    shown: npt.NDArray[np.bool_]
    seen: npt.NDArray[np.bool_]
    hashes: npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False, repr=False)
class LedgerState:
    """All persons of a ledger, numbered from 0 in the order in which they were published."""

    chain: HashChain
    releases: int
    tokens: Tokens
    attributes: Mapping[str, AttributeState]
    waiting: Tokens
    since: Ints

    def numbers(self, tokens: Tokens) -> Ints:
        """Return the numbers of persons, `STRANGER` for those who were never published."""
        return _positions(tokens, self.tokens)

    def waited(self, tokens: Tokens) -> Ints:
        """Return for how many releases persons have waited."""
        place = _positions(tokens, self.waiting)
        if not len(self.since):
            return np.zeros(len(tokens), dtype=np.int64)
        return np.where(place < 0, 0, self.releases + 1 - self.since[place])

    @classmethod
    def read(cls, store: sqlite3.Connection, chain: HashChain, releases: int) -> LedgerState:
        """Read what is remembered, and refuse rows that are not what was recorded."""
        rows = read_rows(store, ABOUT_PERSONS)
        chain.check(rows, ABOUT_PERSONS)
        tokens = split_tokens(b"".join(row[0] for place, row in rows.items() if place.table == "persons"))
        numbers = sorted({place.attribute for place in rows if place.table == "attributes"})
        attributes = [_attribute(rows, number, len(tokens)) for number in numbers]
        last = rows.get(RowAddress("waiting", releases), (b"", b""))
        return cls(
            chain,
            releases,
            tokens,
            {each.name: each for each in attributes},
            split_tokens(last[0]),
            unpack_numbers(last[1]).astype(np.int64),
        )


def _positions(tokens: Tokens, among: Tokens) -> Ints:
    if not len(among):
        return np.full(len(tokens), -1, dtype=np.int64)
    found = pc.fill_null(pc.index_in(tokens, value_set=among), -1)
    return np.asarray(found.to_numpy(zero_copy_only=False)).astype(np.int64)


def _attribute(rows: Mapping[RowAddress, Row], number: int, persons: int) -> AttributeState:
    """Put together what all releases say about an attribute; what was said first of a person stays."""

    def all_of(table: str) -> list[Row]:
        return [row for place, row in rows.items() if (place.table, place.attribute) == (table, number)]

    said = all_of("attributes")
    made = AttributeState(
        number,
        said[0][0],
        bool(said[0][1]),
        [text for row in said for text in json.loads(row[2])],
        [],
        np.full(persons, UNSIGNED, dtype=np.int32),
        np.zeros(persons, dtype=np.bool_),
        np.zeros(persons, dtype=np.bool_),
        np.zeros(persons, dtype=np.uint64),
    )
    for sets, people, places in all_of("signatures"):
        who, where = unpack_numbers(people), unpack_numbers(places)
        made.shown[who[where == SHOWN]] = True
        signed = where != SHOWN
        made.place[who[signed]] = where[signed]
        made.sets += [tuple(each) for each in json.loads(sets)]
    for people, hashes in all_of("seen"):
        who = unpack_numbers(people)
        made.seen[who], made.hashes[who] = True, unpack_hashes(hashes)
    return made


# The history of an attribute: what the rows of a ledger say about who was in which group of which release.

GROUPED = ("attributes", "groups", "memberships")  # the tables that a history is made from, beside that of persons


def build_histories(rows: Mapping[RowAddress, Row]) -> dict[str, History]:
    """Return the history of every attribute, given all rows about persons and groups."""
    persons = sum(len(row[0]) for place, row in rows.items() if place.table == "persons") // TOKEN
    found = {}
    for at in sorted({place.attribute for place in rows if place.table == "attributes"}):
        mine = {place: row for place, row in rows.items() if place.attribute == at}
        found[next(iter(mine.values()))[0]] = build_history(mine, persons)
    return found


def build_history(rows: Mapping[RowAddress, Row], persons: int) -> History:
    """Return the history of one attribute, given its rows and how many persons the ledger knows."""
    said = [row for place, row in rows.items() if place.table == "attributes"]
    came = [text for row in said for text in json.loads(row[2])]
    values = value_texts(came)
    order = {text: place for place, text in enumerate(values)}
    codes = np.array([order[text] for text in came], dtype=np.int64)
    at = next(iter(rows)).attribute
    releases = []
    for number in sorted({place.release for place in rows}):
        offsets, coded, counts, counterfeits, first_shown = rows[RowAddress("groups", number, at)]
        people, groups = map(unpack_numbers, rows[RowAddress("memberships", number, at)])
        members = np.full(persons, -1, dtype=np.int64)
        members[people] = groups
        fake = unpack_numbers(counterfeits).astype(np.int64)
        histogram = Histogram.from_entries(
            np.repeat(np.arange(len(fake)), np.diff(unpack_numbers(offsets))),
            codes[unpack_numbers(coded)],
            unpack_numbers(counts).astype(np.int64),
            groups=len(fake),
            width=len(values),
        )
        releases.append(GroupedRelease(members, histogram, fake, np.arange(len(fake)) >= first_shown))
    return History(
        said[0][0],
        persons,
        tuple(releases),
        transient=not said[0][1],
        values=tuple(text for text in values[:-1] if text is not None),
    )


def value_texts(came: list[str | None]) -> tuple[str | None, ...]:
    """Return the texts of values in the order of their codes in a history; None, the last, is a missing cell."""
    return (*sorted(text for text in came if text is not None), None)
