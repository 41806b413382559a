"""Series in which everybody keeps her company: all that is told are groups of persons whom no release tells apart."""

from __future__ import annotations

import numpy as np

from sfumato.core.history import History
from sfumato.models.worlds.differencing import subtract_nested_groups
from sfumato.models.worlds.system import ConstraintSystem


def has_constant_groups(history: History) -> bool:
    """Return whether a permanent attribute's series tells nothing but the values of sets of persons who never part.

    Then rows that are recognized in several releases, by what they show beside the value, add nothing: the rows of such
    a set stay in it, and exchanging two of its persons, who are in the same group of every release, turns worlds into
    worlds. A group with counterfeits is no such set.
    """
    if history.transient:
        return False
    system = ConstraintSystem.of(history)
    left = subtract_nested_groups(system)
    inside = left.slots >= 0
    alone = left.histogram.sizes[left.slots.max(axis=0, initial=0)] == system.weight
    return bool((((inside.sum(axis=0) == 1) & alone) | ~system.grouped).all()) and not any(
        np.any(each.counterfeits) for each in history.releases
    )
