"""(epsilon,m)-anonymity: at most one in m records of a group has a number close to any of its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core._descriptions import ModelDescription
from sfumato.errors import SchemaError
from sfumato.tables.models._attribute_values import numeric_values
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Counts, Groups

SLACK = 4  # neighboring floats by which a difference may be off


@dataclass(frozen=True, kw_only=True)
class EpsilonMAnonymity(GroupModel):
    r"""Require that at most one in $m$ records of a group has a number close to any number of the group [1]_.

    Close to $x$ is every number within $\varepsilon$ of it, or within $\varepsilon |x|$ if `relative`. An adversary
    who knows a person's group then places the person's number in such an interval with a chance of at most $1/m$.
    The level of a group is its size divided by the largest number of records that are close to one of its
    numbers, counting that record itself; it must be at least $m$.

    The model is **not monotone**: a number of one group can be close to several numbers of another that are not
    close to each other. So algorithms that need merged valid groups to be valid refuse it. It is not extendable
    either.

    Numbers whose distance is within rounding of $\varepsilon$ count as close. Missing values that may be anything
    (policy matches-all) are all assumed to be the value of the domain that is close to most numbers of the group; a
    missing value that is a value of its own is close only to other missing ones.

    Parameters
    ----------
    epsilon : the largest distance of close numbers, at least 0: in the unit of the attribute (days
        for dates, microseconds for datetimes), or as a share of the number if `relative`.
    m : the inverse of the largest share of close records, a whole number of at least 1.
    sensitive : the name of the sensitive attribute, which must be numeric.
    relative : whether epsilon is a share of the number it is compared with.

    References
    ----------
    .. [1] Li, Tao, Xiao, "Preservation of proximity privacy in publishing numerical sensitive data", SIGMOD 2008,
       pages 473-486.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sfumato.schema.roles import Scale
    >>> from sfumato.encoding.domain import Domain
    >>> salary = Domain("salary", Scale.NUMERIC, pa.array([1000, 1010, 1020, 5000]))
    >>> groups = Groups.from_counts(salary=[[1, 1, 1, 1], [1, 0, 0, 1]], domains={"salary": salary})
    >>> EpsilonMAnonymity(epsilon=20, m=2, sensitive="salary").levels(groups).round(2)
    array([1.33, 2.  ])
    """

    name = "epsilon-m-anonymity"
    reference = "Li, Tao, Xiao 2008, SIGMOD, pages 473-486"
    bound = "min"
    monotone = False
    numeric = True
    stricter: ClassVar = {"epsilon": "larger", "m": "larger"}
    description = ModelDescription(
        title="(epsilon,m)-anonymity",
        level="records per record in the most crowded place of the worst group",
        promise="In {group}, at most one in {m} records has a number of “{sensitive}” within {epsilon} of any number "
        "of the group.",
        stops="Proximity: learning a person's number roughly because many numbers of the group lie close together.",
        open="An attacker may still learn that a range of numbers is more likely for a person than in the whole table.",
        further={
            "relative": "The distance is a share of that number.",
        },
    )

    epsilon: float
    m: int
    sensitive: str
    relative: bool = False

    def __post_init__(self) -> None:
        at_least_0 = is_finite_number(self.epsilon) and self.epsilon >= 0
        require(at_least_0, self, "epsilon", "a number of at least 0", self.epsilon)
        require(is_integer(self.m) and self.m >= 1, self, "m", "a whole number of at least 1", self.m)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)
        require(isinstance(self.relative, bool), self, "relative", "true or false", self.relative)

    @property
    def limit(self) -> float:
        """The smallest inverse of the largest share."""
        return self.m

    @property
    def min_group_size(self) -> int:
        """A record is close to itself."""
        return self.m

    def levels(self, groups: Groups) -> Levels:
        """Divide the size of every group by the largest number of records that are close together."""
        counts = groups.histograms[self.sensitive]
        low, high = self._close_codes(groups)
        running, rows = np.append(0, np.cumsum(counts.counts)), counts.rows.astype(np.int64) * counts.width
        keys = rows + counts.codes

        def records_before(code: Counts) -> Counts:
            return np.asarray(running[np.searchsorted(keys, rows + code)])

        close = records_before(high[counts.codes]) - records_before(low[counts.codes])
        crowd: Counts = counts.reduce(np.maximum, close)
        if counts.missing.any():
            reach = np.zeros(counts.width, dtype=np.int64)
            np.maximum.at(reach, low, high)
            reach = np.maximum.accumulate(reach)
            from_here = records_before(reach[counts.codes]) - running[:-1]
            crowd = np.where(counts.missing > 0, counts.reduce(np.maximum, from_here) + counts.missing, crowd)
        return counts.sizes / np.maximum(crowd, 1)

    def _close_codes(self, groups: Groups) -> tuple[Counts, Counts]:
        """Return the first code that is close to every code, and the one after the last."""
        numbers = numeric_values(self, groups, self.sensitive)
        if self.relative and pa.types.is_temporal(groups.domains[self.sensitive].values.type):
            raise SchemaError(
                f"Column {self.sensitive!r} contains dates, which have no relative distance; set relative to false."
            )
        reach = self.epsilon * np.abs(numbers) if self.relative else np.full_like(numbers, self.epsilon)
        reach += SLACK * np.spacing(np.abs(numbers) + reach)
        beyond = np.arange(len(numbers), groups.histograms[self.sensitive].width)
        low = np.searchsorted(numbers, numbers - reach, side="left")
        high = np.searchsorted(numbers, numbers + reach, side="right")
        return np.append(low, beyond), np.append(high, beyond + 1)
