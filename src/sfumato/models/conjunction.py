"""A model that combines several simpler models."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import numpy.typing as npt

from sfumato.core.groups import Counts, Groups
from sfumato.models.base import GroupModel, Levels

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
