"""delta-presence: nobody can be sure that a person is in the table, or is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato._validation import is_finite_number, require
from sfumato.core._descriptions import SHARE, ModelDescription
from sfumato.errors import SchemaError
from sfumato.tables.models._conjunction import Conjunction
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Groups


@dataclass(frozen=True, kw_only=True)
class DeltaPresence(Conjunction):
    r"""Require that the chance of being in the table lies within two bounds for everybody in the population [1]_.

    In a group of $f$ records that covers $F$ people of the population, each of them is in the table with
    probability $f / F$, which must lie in $[\delta_{min}, \delta_{max}]$; if groups overlap, a person's highest
    probability is the sum over all groups that cover them. People whom no group covers are certainly not in the
    table, which breaks any positive $\delta_{min}$. Merging two valid groups gives a valid group, as its ratio lies
    between theirs. The model needs a population table that contains every record, and says nothing about sensitive
    values.

    Parameters
    ----------
    delta_min, delta_max : the lowest and highest probability of presence, 0 <= delta_min <= delta_max <= 1.

    References
    ----------
    .. [1] Nergiz, Atzori, Clifton, "Hiding the presence of individuals from shared databases", SIGMOD 2007.
       https://doi.org/10.1145/1247480.1247554

    Examples
    --------
    >>> groups = Groups(np.array([1, 3]), population=np.array([4, 4]))
    >>> DeltaPresence(delta_min=0.1, delta_max=0.5).satisfied_by(groups)
    array([ True, False])
    """

    name = "delta-presence"
    reference = "Nergiz, Atzori, Clifton 2007, https://doi.org/10.1145/1247480.1247554"
    monotone = True
    extendable = False
    stricter: ClassVar = {"delta_min": "larger", "delta_max": "smaller"}
    description = ModelDescription(
        title="delta-presence",
        level=SHARE,
        promise="Nobody of the population is known to be in the table with a probability below {delta_min} or above "
        "{delta_max}.",
        stops="Membership: learning whether a person is in the table at all.",
        open="It says nothing about sensitive values: a group whose records all share one value gives it away.",
    )

    delta_min: float
    delta_max: float

    def __post_init__(self) -> None:
        low, high = self.delta_min, self.delta_max
        require(is_finite_number(low) and 0 <= low <= 1, self, "delta_min", "a number from 0 to 1", low)
        good = is_finite_number(high) and low <= high <= 1
        require(good, self, "delta_max", f"a number from delta_min = {low:g} to 1", high)

    @property
    def parts(self) -> tuple[GroupModel, ...]:
        """No presence below the lowest probability, none above the highest."""
        return MinPresence(least=self.delta_min), MaxPresence(highest=self.delta_max)


@dataclass(frozen=True, kw_only=True)
class MinPresence(GroupModel):
    """The half of delta-presence that keeps absence uncertain."""

    name = "least-presence"
    reference = DeltaPresence.reference
    bound = "min"
    stricter: ClassVar = {"least": "larger"}
    description = ModelDescription(
        title="least presence",
        level="lowest probability of being in the table",
        stops="Membership: ruling out that a person is in the table.",
    )

    least: float

    @property
    def needs_population(self) -> bool:
        """Always: presence refers to the population."""
        return True

    @property
    def limit(self) -> float:
        """The lowest probability of presence."""
        return self.least

    def levels(self, groups: Groups) -> Levels:
        """Divide records by people; certain absence of anybody counts for all groups."""
        return np.zeros(len(groups)) if groups.uncovered else presence_probabilities(groups)


@dataclass(frozen=True, kw_only=True)
class MaxPresence(GroupModel):
    """The half of delta-presence that keeps presence uncertain."""

    name = "highest-presence"
    reference = DeltaPresence.reference
    bound = "max"
    stricter: ClassVar = {"highest": "smaller"}
    description = ModelDescription(
        title="highest presence",
        level="highest probability of being in the table",
        stops="Membership: being nearly sure that a person is in the table.",
    )

    highest: float

    @property
    def needs_population(self) -> bool:
        """Always: presence refers to the population."""
        return True

    @property
    def limit(self) -> float:
        """The highest probability of presence."""
        return self.highest

    def levels(self, groups: Groups) -> Levels:
        """Divide records by people, summed over all groups that cover a person, if known."""
        return presence_probabilities(groups) if groups.presence is None else groups.presence


def presence_probabilities(groups: Groups) -> Levels:
    """Divide the records of every group by the people it covers."""
    if groups.population is None:
        raise SchemaError("DeltaPresence needs a population; give the audit a population table.")
    return groups.sizes / np.maximum(groups.population, 1)
