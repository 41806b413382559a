"""What attacks on a series work on: who was in which group of which release, what was shown, and the truth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from sfumato._randomness import seeded_generator
from sfumato.core.attack import INFERENCE, AttackResult
from sfumato.tables.attacks._beliefs import Flags, Floats, Ints
from sfumato.tables.published.groups import Histogram
from sfumato.tables.series._worlds.propagation import intersect_candidates, propagate_with_conflicts
from sfumato.tables.series._worlds.system import ConstraintSystem, Masks, count_values, single_value
from sfumato.tables.series.history import GroupedRelease, History

TWO = 2


@dataclass(frozen=True, eq=False, repr=False)
class VisibleRows:
    """The published rows of one release: the group of each, its sensitive value, and what else it shows.

    `shown` numbers what the other columns show together, alike in all releases; `group` is -1 for rows in none.
    """

    group: Ints
    value: Ints
    shown: Ints


@dataclass(frozen=True, eq=False, repr=False)
class AttributeSeries:
    """What a series tells about one sensitive attribute, and the truth about it: one permanent value per person.

    `rows` are the published rows of every release, if they show anything else; else there are none.
    """

    history: History
    truth: Ints
    rows: tuple[VisibleRows, ...] = ()

    @property
    def releases(self) -> tuple[GroupedRelease, ...]:
        """The releases in order."""
        return self.history.releases

    @cached_property
    def alone(self) -> Floats:
        """The largest share of a value in any one group of every person: what the best single release tells her."""
        best = np.zeros(self.history.persons)
        for each in self.releases:
            histogram = each.histogram
            share = histogram.reduce(np.maximum, histogram.counts) / np.maximum(histogram.sizes, 1)
            inside = np.flatnonzero(each.members >= 0)
            best[inside] = np.maximum(best[inside], share[each.members[inside]])
        return best

    @cached_property
    def published(self) -> Flags:
        """Who was ever in a group, and whose cell no release shows because she did not flag it."""
        inside = np.any([each.members >= 0 for each in self.releases], axis=0)
        return np.asarray(inside & ~self.history.unflagged)


@dataclass(frozen=True, eq=False, repr=False)
class SeriesSetting:
    """A series of releases, by sensitive attribute, and how many of its persons to attack."""

    attributes: Mapping[str, AttributeSeries]
    targets: int
    seed: int

    def chosen(self, one: AttributeSeries) -> Ints:
        """Draw targets among those who were ever published."""
        everybody = np.flatnonzero(one.published)
        return np.sort(seeded_generator(self.seed).permutation(everybody)[: self.targets])

    def control_targets(self, count: int) -> Ints:
        """Return for every target another one, drawn at random."""
        order = seeded_generator(self.seed + 1).permutation(count)
        stranger = np.empty(count, dtype=np.int64)
        stranger[order] = np.roll(order, 1)
        return stranger


@dataclass(frozen=True, eq=False, repr=False)
class Claims:
    """The value that is claimed of every person, -1 where nothing is claimed; `details` are further shares."""

    value: Ints
    details: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SeriesAttack(ABC):
    """A way to learn something from several releases that none of them tells alone.

    The adversary holds all releases; she knows who is in which version, and in which group everybody is. A claim is
    compared with what the most telling single release says of the target (guessing) and with the value of another
    target (control).
    """

    name: ClassVar[str]
    question: ClassVar[str] = INFERENCE
    reference: ClassVar[str]

    @abstractmethod
    def claims(self, one: AttributeSeries) -> Claims:
        """Make claims about everybody."""

    def check_attribute(self, one: AttributeSeries) -> str | None:
        """Return why the attack does not apply to a sensitive attribute; None if it does."""
        if not one.published.any():
            return "nobody hides a value."
        return None if len(one.releases) >= TWO else "it needs at least two releases."

    def check(self, setting: SeriesSetting) -> str | None:
        """Return why the attack does not apply to any sensitive attribute; None if it does."""
        if not setting.attributes:
            return "there is no sensitive attribute that stays the same."
        why = [self.check_attribute(one) for one in setting.attributes.values()]
        return why[0] if all(why) else None

    def run(self, setting: SeriesSetting) -> Iterator[AttackResult]:
        """Attack the sensitive attributes one by one."""
        for name, one in setting.attributes.items():
            if self.check_attribute(one) is None:
                yield self._evaluate_claims(setting, name, one)

    def _evaluate_claims(self, setting: SeriesSetting, name: str, one: AttributeSeries) -> AttackResult:
        made, targets = self.claims(one), setting.chosen(one)
        value, truth = made.value[targets], one.truth[targets]
        claimed, lonely = value >= 0, len(targets) == 1
        stranger = setting.control_targets(len(targets))
        return AttackResult(
            attack=self.name,
            question=self.question,
            sensitive=name,
            targets=len(targets),
            claims=int(claimed.sum()),
            successes=int((claimed & (value == truth)).sum()),
            baseline=float(np.where(claimed, one.alone[targets], 0.0).mean()),
            control_targets=0 if lonely else len(targets),
            control_successes=0 if lonely else int((claimed & (value == truth[stranger])).sum()),
            details=made.details,
        )


# What a series leaves to every person, as attacks need it: the first steps of the ladder of `models.worlds`.
#
# Only what is impossible is ruled out, so what is decided is certain. What is left may still be impossible: an attack
# needs no more.

NOBODY = -1


def decided_values(releases: Sequence[GroupedRelease], *, propagate: bool = True) -> Ints:
    """Return the value of every person to whom her groups leave only one; -1 for the others.

    With `propagate` it is also counted in every group who has which value, until nothing changes. Groups whose members
    cannot have the values that they show, because a value was taken for known that is not, decide nothing more.
    """
    system = ConstraintSystem.of(History("", len(releases[0].members), tuple(releases)))
    masks = intersect_candidates(system)
    if propagate:
        masks, _ = propagate_with_conflicts(system, masks)
    return np.where(system.grouped, single_values(masks), NOBODY)[system.unit]


def single_values(masks: Masks) -> Ints:
    """Return the value of every mask that has only one; -1 for the others."""
    return np.where(count_values(masks) == 1, single_value(masks), NOBODY)


def release_of_known_values(persons: Ints, values: Ints, everybody: int, width: int) -> GroupedRelease:
    """Return what is known of some persons as a release that shows them alone."""
    members = np.full(everybody, NOBODY, dtype=np.int64)
    members[persons] = np.arange(len(persons))
    once = np.ones(len(persons), dtype=np.int64)
    histogram = Histogram.from_entries(np.arange(len(persons)), values, once, groups=len(persons), width=width)
    return GroupedRelease(members, histogram, np.zeros(len(persons), dtype=np.int64))


def decided_given_known(release: GroupedRelease, persons: Ints, values: Ints) -> Ints:
    """Return whom one release decides if the values of some persons are known; -1 for the others.

    A value that her group does not show is not taken for known.
    """
    group = release.members[persons]
    here = group >= 0
    here[here] = release.histogram.look_up_counts(group[here], values[here]) > 0
    told = release_of_known_values(persons[here], values[here], len(release.members), release.histogram.width)
    return decided_values([release, told])
