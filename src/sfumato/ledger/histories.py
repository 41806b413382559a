"""The history of an attribute: what the rows of a ledger say about who was in which group of which release."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from sfumato.core.groups import Histogram
from sfumato.core.history import GroupedRelease, History
from sfumato.ledger.persons import TOKEN
from sfumato.ledger.store import Row, RowAddress, unpack_numbers

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
