"""Which groups keep all models, by themselves and when all others are suppressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.core.groups import Groups
from sfumato.models.base import GroupModel


def find_valid_groups(groups: Groups, models: Sequence[GroupModel]) -> npt.NDArray[np.bool_]:
    """Find the groups that keep every model if all others are suppressed.

    Models that compare groups with the table see the table as it is published. Suppressing groups changes it, so
    the rest is judged again until no more groups fail.
    """
    kept = satisfy_all(groups, models)
    relative = [model for model in models if model.compares_with_table]
    while relative and not kept.all():
        left = np.flatnonzero(kept)
        if not len(left):
            break
        again = satisfy_all(replace(groups.take(left), totals={}), relative)
        if again.all():
            break
        kept[left[~again]] = False
    return kept


def satisfy_all(groups: Groups, models: Sequence[GroupModel]) -> npt.NDArray[np.bool_]:
    """Find the groups that keep every model."""
    kept = np.ones(len(groups), dtype=np.bool_)
    for model in models:
        kept &= model.satisfied_by(groups)
    return kept
