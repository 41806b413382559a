"""A model that combines several simpler models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.published.groups import Counts, Groups

JUST_BELOW = np.nextafter(1.0, 0.0)


class Conjunction(GroupModel):
    """A promise that holds if all its parts hold.

    The level of a group is the smallest of its parts' levels, each relative to the limit of the part: level over
    limit if the part is bounded below, limit over level if it is bounded above (infinite for level 0). So the
    limit is 1, and a level of 0.5 means that some part reaches half of its limit or exceeds it twofold.
    """

    bound = "min"

    @property
    @abstractmethod
    def parts(self) -> tuple[GroupModel, ...]:
        """The models that must all hold."""

    @property
    def limit(self) -> float:
        """Every part reaches its limit."""
        return 1

    @property
    def sensitive_attributes(self) -> tuple[str, ...]:
        """The sensitive attributes of all parts."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.sensitive_attributes))

    @property
    def needs_population(self) -> bool:
        """Whether any part compares with a population."""
        return any(part.needs_population for part in self.parts)

    @property
    def protected_values(self) -> tuple[str, ...]:
        """The values that any part protects by name."""
        return tuple(dict.fromkeys(value for part in self.parts for value in part.protected_values))

    @property
    def min_group_size(self) -> int:
        """The largest of the minimum sizes of the parts."""
        return max(part.min_group_size for part in self.parts)

    def levels(self, groups: Groups) -> Levels:
        """Compute the smallest level over the parts, relative to their limits."""
        return np.asarray(np.minimum.reduce([_relative_level(part, groups) for part in self.parts]))

    def satisfied_by(self, groups: Groups) -> npt.NDArray[np.bool_]:
        """Return for every group whether it keeps all parts."""
        return np.asarray(np.logical_and.reduce([part.satisfied_by(groups) for part in self.parts]))

    def min_violating_records(self, groups: Groups) -> Counts:
        """Take for every group the largest number over the parts of the model."""
        return np.asarray(np.maximum.reduce([part.min_violating_records(groups) for part in self.parts]))


def _relative_level(part: GroupModel, groups: Groups) -> Levels:
    """Divide the level by the limit, or the limit by the level: at least 1 if and only if the part holds."""
    level = part.levels(groups)
    limit = np.full_like(level, part.limit)
    good, bad = (level, limit) if part.bound == "min" else (limit, level)
    share = np.full_like(level, np.inf)
    np.divide(good, bad, out=share, where=bad > 0)
    return np.where(share == 1, JUST_BELOW, share) if part.strict else share


# Several requirements at once, and which of them the others imply.


def drop_implied(models: Sequence[GroupModel]) -> tuple[GroupModel, ...]:
    """Drop every k-anonymity that another one implies: on fewer quasi-identifiers, with a k that is no larger.

    Groups on fewer quasi-identifiers are unions of groups on more, so they are at least as large.

    >>> drop_implied([KAnonymity(k=5, quasi=["age", "zip"]), KAnonymity(k=3, quasi=["age"])])
    (KAnonymity(k=5, quasi=['age', 'zip']),)
    """
    kept: list[GroupModel] = []
    for place, model in enumerate(models):
        others = [*kept, *models[place + 1 :]]
        if not isinstance(model, KAnonymity) or not any(_implies(other, model) for other in others):
            kept.append(model)
    return tuple(kept)


def _implies(strong: GroupModel, weak: KAnonymity) -> bool:
    if not isinstance(strong, KAnonymity) or strong.k < weak.k:
        return False
    return not strong.scope or (bool(weak.scope) and set(weak.scope) <= set(strong.scope))


# Which groups keep all models, by themselves and when all others are suppressed.


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
