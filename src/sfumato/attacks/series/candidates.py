"""The values that are left to every person of a series: pairs of person and value, and how pairs are ruled out.

Only what is impossible is ruled out, so what is decided is certain. What is left may still be impossible: an attack
needs no more. Works on arrays: neither persons nor groups are looped over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.attacks.beliefs import Flags, Ints
from sfumato.core.history import GroupedRelease

NOBODY = -1


@dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """Pairs of a person and a value that she may have, sorted by both; `width` is the number of values."""

    persons: int
    width: int
    person: Ints
    value: Ints

    @classmethod
    def by_intersection(cls, releases: Sequence[GroupedRelease], persons: int) -> Candidates:
        """Leave to every person the values that all of her groups show."""
        width = max((each.histogram.width for each in releases), default=0)
        found = cls(persons, width, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        seen = np.zeros(persons, dtype=np.bool_)
        for each in releases:
            fresh = np.flatnonzero((each.members >= 0) & ~seen)
            person, value = shown_pairs(each, fresh)
            seen[fresh] = True
            found = found.kept(found.shown_by(each)).with_pairs(person, value)
        return found

    def shown_by(self, release: GroupedRelease) -> Flags:
        """Say for every pair whether the person's group shows the value; true where she is in none."""
        group = release.members[self.person]
        inside = np.flatnonzero(group >= 0)
        shown = np.ones(len(self.person), dtype=np.bool_)
        shown[inside] = release.histogram.counts_of(group[inside], self.value[inside]) > 0
        return shown

    def kept(self, flags: Flags) -> Candidates:
        """Keep some pairs."""
        return Candidates(self.persons, self.width, self.person[flags], self.value[flags])

    def with_pairs(self, person: Ints, value: Ints) -> Candidates:
        """Add pairs of persons who had none."""
        keys = np.sort(np.concatenate([self.person * self.width + self.value, person * self.width + value]))
        return Candidates(self.persons, self.width, keys // max(self.width, 1), keys % max(self.width, 1))

    def told(self, persons: Ints, values: Ints) -> Candidates:
        """Leave to some persons one value each, which she must have among hers."""
        only = np.full(self.persons, NOBODY, dtype=np.int64)
        only[persons] = values
        return self.kept((only[self.person] == NOBODY) | (only[self.person] == self.value))

    @property
    def counts(self) -> Ints:
        """How many values are left to every person."""
        return np.bincount(self.person, minlength=self.persons)

    @property
    def decided(self) -> Ints:
        """The value of every person to whom only one is left; -1 for the others."""
        value = np.full(self.persons, NOBODY, dtype=np.int64)
        alone = self.counts[self.person] == 1
        value[self.person[alone]] = self.value[alone]
        return value

    def propagated(self, releases: Sequence[GroupedRelease]) -> Candidates:
        """Rule out by counting in every group, until nothing changes.

        If as many persons of a group are decided for a value as it is shown there, nobody else has it. If no more
        persons are left for a value than must have it, they have it.
        """
        left = self
        places = [_places(left, each) for each in releases]
        while True:
            kept = np.ones(len(left.person), dtype=np.bool_)
            for each, place in zip(releases, places, strict=True):
                kept &= _possible(left, each, place)
            if kept.all():
                return left
            left = left.kept(kept)
            places = [place[kept] for place in places]


def shown_pairs(release: GroupedRelease, persons: Ints) -> tuple[Ints, Ints]:
    """Return for persons who are in a group the values that it shows, as pairs of person and value."""
    histogram, group = release.histogram, release.members[persons]
    spread = np.diff(histogram.offsets)[group]
    stop = np.cumsum(spread)
    entry = np.repeat(histogram.offsets[group] - stop + spread, spread) + np.arange(int(spread.sum()))
    return np.repeat(persons, spread), histogram.codes[entry].astype(np.int64)


def single_groups(release: GroupedRelease) -> Ints:
    """Return the only value of every group that shows one and has no counterfeits; -1 for the others."""
    histogram = release.histogram
    value = np.full(len(histogram.offsets) - 1, NOBODY, dtype=np.int64)
    alone = np.flatnonzero((np.diff(histogram.offsets) == 1) & (release.counterfeits == 0))
    value[alone] = histogram.codes[histogram.offsets[alone]]
    return value


def _places(left: Candidates, release: GroupedRelease) -> Ints:
    """Return for every pair the place of its group and value among the counts of a release; -1 if she is not in it."""
    histogram = release.histogram
    keys = histogram.rows.astype(np.int64) * histogram.width + histogram.codes
    group = release.members[left.person]
    place = np.searchsorted(keys, group * histogram.width + left.value)
    return np.where(group >= 0, place, NOBODY)


def _possible(left: Candidates, release: GroupedRelease, place: Ints) -> Flags:
    """Say which pairs the counts of one release leave possible."""
    histogram, kept = release.histogram, np.ones(len(place), dtype=np.bool_)
    inside = place >= 0
    if not inside.any():
        return kept
    alone = left.counts[left.person] == 1
    entries = len(histogram.codes)
    able = np.bincount(place[inside], minlength=entries)
    decided = np.bincount(place[inside & alone], minlength=entries)
    full = decided >= histogram.counts
    must = able <= histogram.counts - release.counterfeits[histogram.rows]
    kept[inside] = alone[inside] | ~full[place[inside]]
    bound = np.zeros(left.persons, dtype=np.bool_)
    needed = inside & must[place] & kept
    bound[left.person[needed]] = True
    return kept & (~bound[left.person] | needed)
