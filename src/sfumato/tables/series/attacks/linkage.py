"""The attack that recognizes a published row in two releases by what else it shows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sfumato.core.attack import LINKABILITY
from sfumato.tables.attacks._beliefs import Ints
from sfumato.tables.series.attacks._base import (
    NOBODY,
    AttributeSeries,
    Claims,
    SeriesAttack,
    VisibleRows,
    decided_given_known,
)
from sfumato.tables.series.history import GroupedRelease


@dataclass(frozen=True, kw_only=True)
class RowLinking(SeriesAttack):
    """Claim the value of a row that is recognized in two releases, if one person only is in both of its groups.

    A row is recognized if what its other columns show is in one row only of either release, with the same sensitive
    value. Those who share a group with a person who is found this way lose her value. `details` has the share of the
    persons whose row was found.
    """

    name = "row-linking"
    question = LINKABILITY
    reference = "Sfumato, specification of series of releases, section 1"

    def check_attribute(self, one: AttributeSeries) -> str | None:
        """Require rows that show something else."""
        few = super().check_attribute(one)
        return few or (None if one.rows else "the rows show nothing but the sensitive attribute and what is known.")

    def claims(self, one: AttributeSeries) -> Claims:
        """Claim the values of rows that were found, and what they leave to others."""
        persons = one.history.persons
        told = np.full(persons, NOBODY, dtype=np.int64)
        torn = np.zeros(persons, dtype=np.bool_)
        for (first, shown), (second, again) in combinations(zip(one.releases, one.rows, strict=True), 2):
            person, value = _linked_values(first, second, shown, again)
            torn[person] |= (told[person] != NOBODY) & (told[person] != value)
            told[person] = value
        told[torn] = NOBODY
        found = np.flatnonzero(told >= 0)
        claimed = told.copy()
        for each in one.releases:
            decided = decided_given_known(each, found, told[found])
            claimed = np.where(claimed == NOBODY, decided, claimed)
        return Claims(claimed, {"rows_found": float((told[one.published] >= 0).mean())})


def _linked_values(
    first: GroupedRelease, second: GroupedRelease, shown: VisibleRows, again: VisibleRows
) -> tuple[Ints, Ints]:
    """Return persons and values of the rows that are recognized in two releases and can be one person's only."""
    one, two = _unique_rows(shown), _unique_rows(again)
    _, left, right = np.intersect1d(shown.shown[one], again.shown[two], assume_unique=True, return_indices=True)
    left, right = one[left], two[right]
    same = shown.value[left] == again.value[right]
    left, right = left[same], right[same]
    both = np.flatnonzero((first.members >= 0) & (second.members >= 0))
    width = len(second.histogram.offsets)
    places, at, count = np.unique(
        first.members[both] * width + second.members[both], return_index=True, return_counts=True
    )
    wanted = shown.group[left] * width + again.group[right]
    place = np.minimum(np.searchsorted(places, wanted), max(len(places) - 1, 0))
    if not len(places):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    hit = (places[place] == wanted) & (count[place] == 1)
    person: Ints = both[at[place[hit]]]
    return person, shown.value[left[hit]]


def _unique_rows(rows: VisibleRows) -> Ints:
    """Return the rows in groups whose other columns show what no other row does."""
    _, first, count = np.unique(rows.shown, return_index=True, return_counts=True)
    unique = first[count == 1]
    found: Ints = unique[rows.group[unique] >= 0]
    return found
