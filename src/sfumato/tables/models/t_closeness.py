"""t-closeness: the sensitive values of every group are distributed like those of the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Self

import numpy as np

from sfumato._validation import require
from sfumato.core._descriptions import ModelDescription
from sfumato.encoding.domain import Domain
from sfumato.errors import SchemaError
from sfumato.tables.models._distances import (
    CutDistance,
    as_cut_distance,
    check_distance,
    distances_to_overall_distribution,
    is_convex_distance,
    to_tuples,
)
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Counts, Groups

TABLES = ("published", "original")
ROUNDING = 1e-12  # more than all roundings of a distance and of the limit together


@dataclass(frozen=True, kw_only=True)
class TCloseness(GroupModel):
    r"""Require the distribution of sensitive values in every group to be within $t$ of the table's [1]_.

    An adversary who finds a person's group then learns little more than the table reveals about everybody.
    The level is the earth mover's distance: the smallest work, mass times distance, that turns the table's
    distribution into the group's. The distance of two values is

    - `"equal"`: 1. `"variational"` is another name for it: with all values equally far apart the earth mover's
      distance is the total variation distance $\frac12 \sum_v |q_v - p_v|$;
    - `"ordered"`: the difference of their ranks among all $m$ values of the domain, divided by $m - 1$;
    - `"hierarchical"`: the height of their lowest common ancestor, divided by the height of the hierarchy;
    - `"matrix"`: the entry in `costs`. Every distinct distribution is then a linear program, so large tables take
    minutes to hours; if another distance gives the same result, choose that one.

    `"kl"` is not an earth mover's distance but the Kullback-Leibler divergence $\sum_v q_v \ln(q_v / p_v)$ of the
    group's shares $q$ from the table's $p$, in nats. It has no largest value.

    All of them are convex, so merged groups have at most the largest distance of their parts: the model is
    monotone as long as the table's distribution stays the same. It is not extendable. It says nothing about who is
    in the table, and a small $t$ hides most of the relation between quasi-identifiers and sensitive values.

    A missing value that is a value of its own is at distance 1 from all others (in a hierarchy, right under
    the root; with a matrix, as far as any two values are); for `"ordered"` the level is then an upper bound,
    $(1 - q) D + |q - p|$ but at most 1, with $q$ and $p$ the shares of missing values in group and table and $D$
    the distance between the known ones. Missing values that may be anything (policy matches-all) count as moved
    from end to end: the level is $(1 - q) D + q$ (with a matrix, $q$ times its largest entry), and the table's
    distribution is that of its known values. For `"kl"` they are all assumed to be the worst possible value.
    Divergences are rounded up, and so are levels with a matrix in groups with such cells.

    Parameters
    ----------
    t : the largest distance, a number from 0 to 1; for `"kl"` and `"matrix"` any number of at least 0.
    sensitive : the name of the sensitive attribute.
    distance : `"equal"`, `"variational"`, `"ordered"` (of a numeric or ordinal attribute), `"hierarchical"`, `"kl"`
        or `"matrix"`.
    costs : for `"matrix"`, the distance of every value (row) from every value (column), in the order of the
        domain: as in `Schema.orders` or the hierarchy, otherwise ascending.
    compared_with : the table whose distribution counts, `"published"` or `"original"`. They differ where records are
        suppressed. Anyone can check the first; the second only who has the original, so an audit without it refuses.

    References
    ----------
    .. [1] Li, Li, Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity", ICDE 2007.
       https://doi.org/10.1109/ICDE.2007.367856

    Examples
    --------
    >>> groups = Groups.from_counts(salary=[[2, 2, 0, 0, 0], [1, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    >>> TCloseness(t=0.2, sensitive="salary", distance="equal").levels(groups).round(3)
    array([0.462, 0.288, 0.138])
    >>> TCloseness(t=0.2, sensitive="salary", distance="ordered").satisfied_by(groups)
    array([False,  True,  True])
    """

    name = "t-closeness"
    reference = "Li, Li, Venkatasubramanian 2007, https://doi.org/10.1109/ICDE.2007.367856"
    bound = "max"
    compares_with_table = True
    monotone = True
    stricter: ClassVar = {"t": "smaller"}
    description = ModelDescription(
        title="t-closeness",
        level="distance of the farthest group",
        promise="In {group}, the values of “{sensitive}” are distributed as in the whole {compared_with} table, up to "
        "a distance of {t} ({distance}).",
        stops="Skewness: learning from a group that a value is far more likely for a person than it is in the whole "
        "table.",
        open="It says nothing about who is in the table, and what the table tells about all people of a kind it also "
        "tells about each of them.",
    )

    t: float
    sensitive: str
    distance: Literal["equal", "variational", "ordered", "hierarchical", "kl", "matrix"] = "equal"
    costs: Sequence[Sequence[float]] | None = field(default=None, repr=False)
    compared_with: Literal["published", "original"] = "published"

    _original: ClassVar[tuple[Domain | None, Counts] | None] = None  # of one model, once it is compared to a table

    def __post_init__(self) -> None:
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)
        check_distance(self, self.t, self.distance, self.costs)
        object.__setattr__(self, "costs", to_tuples(self.costs))
        known = self.compared_with in TABLES
        require(known, self, "compared_with", f"one of {', '.join(TABLES)}", self.compared_with)
        object.__setattr__(self, "compares_with_table", self.compared_with == "published")

    @property
    def limit(self) -> float:
        """The largest distance."""
        return self.t

    def levels(self, groups: Groups) -> Levels:
        """Compute the distance of every group from the table, rounded once."""
        return distances_to_overall_distribution(
            self, self._with_published_table(groups), self.sensitive, self.distance, self.costs
        )

    @property
    def needs_original(self) -> bool:
        """Whether groups are compared with the original table."""
        return self.compared_with == "original"

    def with_reference(self, original: Groups) -> Self:
        """Return the model for groups of a table, given all records of its original as one group."""
        if not self.needs_original or self._original is not None or self.sensitive not in original.totals:
            return self
        model = copy(self)
        known = original.domains.get(self.sensitive), original.totals[self.sensitive]
        object.__setattr__(model, "_original", known)
        return model

    def _with_published_table(self, groups: Groups) -> Groups:
        """Return groups with the totals of the table that they are compared with."""
        if not self.needs_original:
            return groups
        if self._original is None:
            raise SchemaError(
                "TCloseness compares with the original table, which is not known here; give the original, or let "
                'compared_with be "published".'
            )
        (domain, totals), own = self._original, groups.domains.get(self.sensitive)
        alike = domain is own or domain is None or own is None or domain.texts == own.texts
        if not alike or len(totals) != groups.histograms[self.sensitive].width:
            raise SchemaError(
                f"Column {self.sensitive!r} has other values here than in the original table; TCloseness compares "
                "with the original that the published table was made of."
            )
        return replace(groups, totals={**groups.totals, self.sensitive: totals})

    def min_violating_records(self, groups: Groups) -> Counts:
        r"""Bound from below how many records of every group are in parts farther than $t$, however it is split.

        The distance $D$ of a group is at most the mean of its parts' distances. Those of valid parts are at most $t$,
        all others at most 1, so at least $|G| (D - t) / (1 - t)$ records are in parts that are not valid.
        """
        groups = self._with_published_table(groups)
        level = self.levels(groups)
        least = np.where(level <= self.t, 0, 1)
        if self.t >= 1 or not is_convex_distance(groups, self.sensitive, self.distance):
            return least
        excess = np.maximum(level - self.t - ROUNDING, 0)
        return np.maximum(least, np.ceil(groups.sizes * excess / (1 - self.t)).astype(np.int64))

    def cut_distance(self, whole: Groups) -> CutDistance | None:
        """Return the distance from a whole table as a sum over cuts, if it is one and that table is the right one."""
        right = self._with_published_table(whole).totals[self.sensitive]
        if not np.array_equal(right, whole.totals[self.sensitive]):
            return None
        return as_cut_distance(self, whole, self.sensitive, self.distance)
