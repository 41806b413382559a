"""Attacks by values that are left: intersection with propagation, critical absence, un-flagging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.attacks.beliefs import Flags, Ints
from sfumato.attacks.series.candidates import NOBODY, Candidates, shown_pairs, single_groups
from sfumato.attacks.series.setting import Claims, SeriesAttack, SeriesOfOne
from sfumato.core.history import GroupedRelease

TWO = 2


@dataclass(frozen=True, kw_only=True)
class Intersection(SeriesAttack):
    """Claim the only value that all groups of a person leave to her.

    `details` are the shares of the persons of the last release who are decided, by intersection alone and in all.

    Parameters
    ----------
    propagate : whether to count in every group who has which value, until nothing more is decided.
    """

    name = "intersection"
    reference = "Xiao, Tao, m-invariance: towards privacy preserving re-publication of dynamic datasets, SIGMOD 2007"
    propagate: bool = True

    def claims(self, one: SeriesOfOne) -> Claims:
        """Claim what is decided."""
        releases = one.releases
        alone = Candidates.by_intersection(releases, one.history.persons)
        left = alone.propagated(releases) if self.propagate else alone
        last = releases[-1].members >= 0
        details = {"last_by_intersection": _share(alone, last), "last_decided": _share(left, last)}
        return Claims(left.decided, details)


@dataclass(frozen=True, kw_only=True)
class CriticalAbsence(SeriesAttack):
    """Claim the value that is left when those are ruled out that a release with the person does not show anywhere.

    When the last other holder of a value leaves, the old set of values cannot be formed again without a counterfeit.
    The adversary needs to know the group of the person in one release only. `details` has the share of the persons
    who lost a value.
    """

    name = "critical-absence"
    reference = "Xiao, Tao, m-invariance: towards privacy preserving re-publication of dynamic datasets, SIGMOD 2007"

    def claims(self, one: SeriesOfOne) -> Claims:
        """Claim what is left of one group."""
        releases, persons = one.releases, one.history.persons
        value = np.full(persons, NOBODY, dtype=np.int64)
        lost = np.zeros(persons, dtype=np.bool_)
        for each in releases:
            person, shown = shown_pairs(each, np.flatnonzero(each.members >= 0))
            kept = _shown_in_all(releases, person, shown)
            fewer = np.isin(np.arange(persons), person[~kept])
            left = Candidates(persons, each.histogram.width, person[kept], shown[kept]).decided
            value = np.where((value == NOBODY) & fewer, left, value)
            lost |= fewer
        return Claims(value, {"lost_a_value": float(lost[one.published].mean())})


@dataclass(frozen=True, kw_only=True)
class Unflagging(SeriesAttack):
    """Take the values of persons whose cells a release shows out of the groups that hid them; claim what is left.

    A cell that is shown is a group of one. `details` has the share of the persons who are shown somewhere. Nothing is
    claimed about them: their values are published.
    """

    name = "un-flagging"
    reference = "Sfumato, specification of series of releases, section 1"

    def claims(self, one: SeriesOfOne) -> Claims:
        """Claim what is left to persons who are never shown."""
        shown, value = shown_cells(one.releases, one.history.persons)
        found = np.full(one.history.persons, NOBODY, dtype=np.int64)
        for each in one.releases:
            inside = np.flatnonzero(each.members >= 0)
            left = Candidates(one.history.persons, each.histogram.width, *shown_pairs(each, inside))
            here = np.flatnonzero(shown & (each.members >= 0))
            left = left.told(here, value[here]).propagated([each])
            found = np.where((found == NOBODY) & ~shown, left.decided, found)
        return Claims(found, {"shown": float(shown[one.published].mean())})

    def refuses(self, one: SeriesOfOne) -> str | None:
        """Require cells that are hidden in one release and shown in another."""
        shown, _ = shown_cells(one.releases, one.history.persons)
        hidden = np.any([_in_larger_group(each) for each in one.releases], axis=0)
        few = super().refuses(one)
        return few or (None if (shown & hidden).any() else "no cell is hidden in one release and shown in another.")


def shown_cells(releases: Sequence[GroupedRelease], persons: int) -> tuple[Flags, Ints]:
    """Return who is alone in a group without counterfeits in some release, and her value there."""
    shown, value = np.zeros(persons, dtype=np.bool_), np.full(persons, NOBODY, dtype=np.int64)
    for each in releases:
        only = np.where(each.histogram.sizes == 1, single_groups(each), NOBODY)
        here = np.flatnonzero(each.members >= 0)
        here = here[only[each.members[here]] >= 0]
        shown[here] = True
        value[here] = only[each.members[here]]
    return shown, value


def _in_larger_group(release: GroupedRelease) -> Flags:
    sizes = np.append(release.histogram.sizes, 0)  # who is in no group is in the last one
    return np.asarray(sizes[release.members] >= TWO)


def _shown_in_all(releases: Sequence[GroupedRelease], person: Ints, value: Ints) -> Flags:
    """Say for pairs of person and value whether every release with the person shows the value somewhere."""
    kept = np.ones(len(person), dtype=np.bool_)
    for each in releases:
        histogram = each.histogram
        anywhere = np.bincount(histogram.codes, minlength=histogram.width) > 0
        kept &= (each.members[person] < 0) | anywhere[value]
    return kept


def _share(left: Candidates, persons: Flags) -> float:
    return float((left.decided[persons] >= 0).mean()) if persons.any() else 0.0
