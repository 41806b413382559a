"""Attacks by values that are left: intersection with propagation, critical absence, un-flagging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.attack import LINKABILITY, AttackResult
from sfumato.tables.attacks._beliefs import Flags, Ints
from sfumato.tables.series._worlds.equal_values import value_equivalence_classes
from sfumato.tables.series._worlds.propagation import intersect_candidates
from sfumato.tables.series._worlds.system import ConstraintSystem, count_values, value_bits
from sfumato.tables.series.attacks._base import (
    NOBODY,
    AttributeSeries,
    Claims,
    SeriesAttack,
    SeriesSetting,
    decided_given_known,
    decided_values,
    single_values,
)
from sfumato.tables.series.history import GroupedRelease

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

    def claims(self, one: AttributeSeries) -> Claims:
        """Claim what is decided."""
        alone = decided_values(one.releases, propagate=False)
        left = decided_values(one.releases) if self.propagate else alone
        last = (one.releases[-1].members >= 0) & one.published
        details = {"last_by_intersection": _decided_share(alone, last), "last_decided": _decided_share(left, last)}
        return Claims(left, details)


@dataclass(frozen=True, kw_only=True)
class CriticalAbsence(SeriesAttack):
    """Claim the value that is left when those are ruled out that a release with the person does not show anywhere.

    When the last other holder of a value leaves, the old set of values cannot be formed again without a counterfeit.
    The adversary needs to know the group of the person in one release only. `details` has the share of the persons
    who lost a value.
    """

    name = "critical-absence"
    reference = "Xiao, Tao, m-invariance: towards privacy preserving re-publication of dynamic datasets, SIGMOD 2007"

    def claims(self, one: AttributeSeries) -> Claims:
        """Claim what is left of one group."""
        releases, persons = one.releases, one.history.persons
        value = np.full(persons, NOBODY, dtype=np.int64)
        lost = np.zeros(persons, dtype=np.bool_)
        anywhere = [np.bitwise_or.reduce(value_bits(each.histogram), axis=0) for each in releases]
        for each in releases:
            here = np.flatnonzero(each.members >= 0)
            shown = value_bits(each.histogram)[each.members[here]]
            left = shown.copy()
            for other, bits in zip(releases, anywhere, strict=True):
                left[other.members[here] >= 0] &= bits
            fewer = count_values(left) < count_values(shown)
            value[here] = np.where((value[here] == NOBODY) & fewer, single_values(left), value[here])
            lost[here] |= fewer
        return Claims(value, {"lost_a_value": float(lost[one.published].mean())})


@dataclass(frozen=True, kw_only=True)
class Unflagging(SeriesAttack):
    """Take the values of persons whose cells a release shows out of the groups that hid them; claim what is left.

    A cell that is shown is a group of one. `details` has the number of persons who are shown somewhere. Nothing is
    claimed about them: their values are published.
    """

    name = "un-flagging"
    reference = "Sfumato, specification of series of releases, section 1"

    def claims(self, one: AttributeSeries) -> Claims:
        """Claim what is left to persons who are never shown."""
        shown, value = visible_cells(one.releases, one.history.persons)
        found = np.full(one.history.persons, NOBODY, dtype=np.int64)
        for each in one.releases:
            decided = decided_given_known(each, np.flatnonzero(shown), value[shown])
            found = np.where((found == NOBODY) & ~shown, decided, found)
        return Claims(found, {"shown": float(shown.sum())})

    def check_attribute(self, one: AttributeSeries) -> str | None:
        """Require cells that are hidden in one release and shown in another."""
        shown, _ = visible_cells(one.releases, one.history.persons)
        hidden = np.any([_group_sizes(each) >= TWO for each in one.releases], axis=0)
        few = super().check_attribute(one)
        return few or (None if (shown & hidden).any() else "no cell is hidden in one release and shown in another.")


def visible_cells(releases: Sequence[GroupedRelease], persons: int) -> tuple[Flags, Ints]:
    """Return who is alone in a group without counterfeits in some release, and her value there."""
    shown, value = np.zeros(persons, dtype=np.bool_), np.full(persons, NOBODY, dtype=np.int64)
    for each in releases:
        here = np.flatnonzero((each.members >= 0) & (_group_sizes(each) == 1))
        shown[here] = True
        value[here] = each.histogram.codes[each.histogram.offsets[each.members[here]]]
    return shown, value


def _group_sizes(release: GroupedRelease) -> Ints:
    """Return how many rows everybody's group has; 0 for who is in none."""
    sizes = np.append(release.histogram.sizes, 0)  # who is in no group is in the last one
    return sizes[release.members]


def _decided_share(decided: Ints, persons: Flags) -> float:
    return float((decided[persons] >= 0).mean()) if persons.any() else 0.0


# The attack that proves two persons to have the same value, whichever it is.


@dataclass(frozen=True, kw_only=True)
class ValueEquivalence(SeriesAttack):
    """Claim that two persons have the same value, if two groups that show the same differ in these two only.

    Persons who are proved equal stand for each other in further groups; whom her own groups decide is left out. Who
    learns the value of one learns that of the others. m-invariance does not stop this attack; it is reported, not
    promised against. Guessing names another person at random. `details` are the number of pairs and the size of the
    largest set of equals.
    """

    name = "value-equivalence"
    question = LINKABILITY
    reference = "He, Barman, Naughton, Preventing equivalence attacks in updated, anonymized data, ICDE 2011"

    def claims(self, one: AttributeSeries) -> Claims:
        """Claim for every person who has equals the value of one of them; it is known to nobody but the truth."""
        fellow, sizes = _equivalent_partners(equivalence_numbers(one), one.published)
        value = np.where(fellow >= 0, one.truth[fellow], NOBODY)
        pairs = float((sizes * (sizes - 1) // 2).sum())
        return Claims(value, {"pairs": pairs, "largest_set": float(sizes.max(initial=0))})

    def _evaluate_claims(self, setting: SeriesSetting, name: str, one: AttributeSeries) -> AttackResult:
        found = super()._evaluate_claims(setting, name, one)
        truth = one.truth[one.published]
        shares = np.bincount(truth[truth >= 0]) / max(len(truth), 1)
        return replace(found, baseline=found.claims / found.targets * float((shares**2).sum()))


def equivalence_numbers(one: AttributeSeries) -> Ints:
    """Return the number of a set for every person; persons of one set have the same value in every world.

    Persons with equal histories may exchange their values, so each of them is a set of her own.
    """
    system = ConstraintSystem.of(one.history)
    sets = value_equivalence_classes(system, intersect_candidates(system))[system.unit]
    alike = system.weight[system.unit] > 1
    return np.where(alike, len(system.weight) + np.arange(len(sets)), sets)


def _equivalent_partners(sets: Ints, published: Flags) -> tuple[Ints, Ints]:
    """Return for every person another one of her set, -1 if there is none, and the sizes of sets with several."""
    everybody = np.flatnonzero(published)
    order = everybody[np.argsort(sets[everybody], kind="stable")]
    _, first, size = np.unique(sets[order], return_index=True, return_counts=True)
    following = np.arange(1, len(order) + 1)
    following[first + size - 1] = first
    fellow = np.full(len(sets), NOBODY, dtype=np.int64)
    several = np.repeat(size, size) >= TWO
    fellow[order[several]] = order[following[several]]
    return fellow, size[size >= TWO]
