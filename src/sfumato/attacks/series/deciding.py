"""What a series leaves to every person, as attacks need it: the first steps of the ladder of `models.worlds`.

Only what is impossible is ruled out, so what is decided is certain. What is left may still be impossible: an attack
needs no more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.attacks.beliefs import Ints
from sfumato.core.groups import Histogram
from sfumato.core.history import GroupedRelease, History
from sfumato.models.worlds.propagating import intersect_candidates, propagate_with_conflicts
from sfumato.models.worlds.system import ConstraintSystem, Masks, count_values, single_value

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
