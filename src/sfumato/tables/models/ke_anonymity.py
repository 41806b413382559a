"""(k,e)-anonymity: every group has at least k different numbers, which range over at least e."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core._descriptions import SHARE, ModelDescription
from sfumato.tables.models._attribute_values import numeric_values
from sfumato.tables.models._conjunction import Conjunction
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.published.groups import Groups

MOST_DECIMALS = 15


@dataclass(frozen=True, kw_only=True)
class MinRange(GroupModel):
    """Require the numbers of every group to range over at least e; a part of `KEAnonymity`."""

    name = "least-range"
    reference = "Zhang, Koudas, Srivastava, Yu 2007, https://doi.org/10.1109/ICDE.2007.367857"
    bound = "min"
    monotone = True
    extendable = True
    numeric = True
    stricter: ClassVar = {"e": "larger"}
    description = ModelDescription(
        title="range",
        level="largest less the least number, in the narrowest group",
        stops="Proximity: learning the size of a person's number because all numbers of the group are alike.",
    )

    e: float
    sensitive: str

    @property
    def limit(self) -> float:
        """The smallest range."""
        return self.e

    def levels(self, groups: Groups) -> Levels:
        """Subtract the smallest from the largest number of every group; decimals are exact."""
        numbers, histogram = numeric_values(self, groups, self.sensitive), groups.histograms[self.sensitive]
        known = histogram if histogram.width == len(numbers) else histogram.separate_missing()
        filled = np.flatnonzero(np.diff(known.offsets))
        level = np.zeros(len(groups))
        first, last = known.offsets[filled], known.offsets[filled + 1] - 1
        level[filled] = numbers[known.codes[last]] - numbers[known.codes[first]]
        return np.round(level, _decimals(numbers))


@dataclass(frozen=True, kw_only=True)
class KEAnonymity(Conjunction):
    r"""Require at least $k$ different numbers in every group, the largest at least $e$ above the smallest [1]_.

    An adversary who knows a person's group then learns neither the number nor an interval narrower than $e$ that
    must contain it. Groups only gain values when they are merged or grow, so the model is monotone and extendable.
    It does not stop most numbers of a group from lying close together; see `EpsilonMAnonymity`.

    Some authors require $k$ records instead of $k$ different numbers; this is the stricter, original definition. A
    missing value adds nothing to the range; one that is a value of its own counts toward the $k$.

    Parameters
    ----------
    k : the smallest number of different values in a group, a whole number of at least 1.
    e : the smallest range, a number of at least 0 in the unit of the attribute (days for dates, microseconds for
        datetimes).
    sensitive : the name of the sensitive attribute, which must be numeric.

    References
    ----------
    .. [1] Zhang, Koudas, Srivastava, Yu, "Aggregate query answering on anonymized tables", ICDE 2007.
       https://doi.org/10.1109/ICDE.2007.367857

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sfumato.schema.roles import Scale
    >>> from sfumato.encoding.domain import Domain
    >>> salary = Domain("salary", Scale.NUMERIC, pa.array([30, 31, 32, 50]))
    >>> groups = Groups.from_counts(salary=[[1, 1, 1, 0], [1, 1, 0, 1]], domains={"salary": salary})
    >>> KEAnonymity(k=3, e=10, sensitive="salary").satisfied_by(groups)
    array([False,  True])
    """

    name = "ke-anonymity"
    reference = "Zhang, Koudas, Srivastava, Yu 2007, https://doi.org/10.1109/ICDE.2007.367857"
    monotone = True
    extendable = True
    numeric = True
    stricter: ClassVar = {"k": "larger", "e": "larger"}
    description = ModelDescription(
        title="(k,e)-anonymity",
        level=SHARE,
        promise="{Group} shows at least {k} different numbers of “{sensitive}”, the largest at least {e} above the "
        "least.",
        stops="Proximity: learning the size of a person's number because all numbers of the group lie close together.",
        open="Most numbers of a group may lie close together, so that an attacker can be nearly sure of their size.",
    )

    k: int
    e: float
    sensitive: str

    def __post_init__(self) -> None:
        require(is_integer(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)
        require(is_finite_number(self.e) and self.e >= 0, self, "e", "a number of at least 0", self.e)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)

    @property
    def parts(self) -> tuple[GroupModel, ...]:
        """The number of different values, and their range."""
        return DistinctLDiversity(l=self.k, sensitive=self.sensitive), MinRange(e=self.e, sensitive=self.sensitive)


def _decimals(numbers: Levels) -> int:
    """Count the decimals that the numbers are written with."""
    return next((d for d in range(MOST_DECIMALS) if np.array_equal(np.round(numbers, d), numbers)), MOST_DECIMALS)
