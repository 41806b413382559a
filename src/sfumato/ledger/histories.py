"""The history of an attribute: what the rows of a ledger say about who was in which group of which release."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from sfumato.core.groups import Histogram
from sfumato.core.history import GroupedRelease, History
from sfumato.ledger.persons import TOKEN
from sfumato.ledger.store import Row, RowPlace, unpacked

GROUPED = ("attributes", "groups", "memberships")  # the tables that a history is made from, beside that of persons


def histories_of(rows: Mapping[RowPlace, Row]) -> dict[str, History]:
    """Return the history of every attribute, given all rows about persons and groups."""
    persons = sum(len(row[0]) for place, row in rows.items() if place.table == "persons") // TOKEN
    found = {}
    for at in sorted({place.attribute for place in rows if place.table == "attributes"}):
        mine = {place: row for place, row in rows.items() if place.attribute == at}
        found[next(iter(mine.values()))[0]] = history_of(mine, persons)
    return found


def history_of(rows: Mapping[RowPlace, Row], persons: int) -> History:
    """Return the history of one attribute, given its rows and how many persons the ledger knows."""
    said = [row for place, row in rows.items() if place.table == "attributes"]
    came = [text for row in said for text in json.loads(row[2])]
    values = sorted_values(came)
    order = {text: place for place, text in enumerate(values)}
    codes = np.array([order[text] for text in came], dtype=np.int64)
    at = next(iter(rows)).attribute
    releases = []
    for number in sorted({place.release for place in rows}):
        offsets, coded, counts, counterfeits, first_shown = rows[RowPlace("groups", number, at)]
        people, groups = map(unpacked, rows[RowPlace("memberships", number, at)])
        members = np.full(persons, -1, dtype=np.int64)
        members[people] = groups
        fake = unpacked(counterfeits).astype(np.int64)
        histogram = Histogram.of_entries(
            np.repeat(np.arange(len(fake)), np.diff(unpacked(offsets))),
            codes[unpacked(coded)],
            unpacked(counts).astype(np.int64),
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


def sorted_values(came: list[str | None]) -> tuple[str | None, ...]:
    """Return the texts of values in the order of their codes in a history; None, the last, is a missing cell."""
    return (*sorted(text for text in came if text is not None), None)
