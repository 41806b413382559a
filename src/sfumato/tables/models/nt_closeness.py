"""(n,t)-closeness: a small group is distributed like some large set of records around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from sfumato._validation import is_integer, require
from sfumato.core._descriptions import ModelDescription
from sfumato.tables.models._distances import check_distance, distances_to_overall_distribution, to_tuples
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Groups


@dataclass(frozen=True, kw_only=True)
class NTCloseness(GroupModel):
    r"""Require every group to be within $t$ of a set of at least $n$ records that contains it [1]_.

    What an adversary may learn about $n$ or more people at once is not a breach; what a smaller group reveals beyond
    that is. The original definition looks for a *natural superset* of every group, reached by widening the ranges
    of its quasi-identifiers. Here groups are judged by their counts alone, which give two such sets: the group
    itself, if it has at least $n$ records (its level is 0), and the whole table, if it has at least $n$ (the
    level is the distance of `TCloseness`; without $n$ records it is infinite). Other supersets are not
    considered, so a group that fails here may satisfy the original definition; one that passes does satisfy it.

    Groups of $n$ records stay valid whatever joins them, and merged smaller groups are as close to the table as
    their parts: the model is monotone as long as the table's distribution stays the same. It is not extendable,
    because records can spoil a small group. It says nothing about who is in the table.

    Missing values are treated as in `TCloseness`.

    Parameters
    ----------
    n : the number of records about which something may be learned, a whole number of at least 1.
    t : the largest distance, a number from 0 to 1; for `"kl"` and `"matrix"` any number of at least 0.
    sensitive : the name of the sensitive attribute.
    distance : as in `TCloseness`.
    costs : as in `TCloseness`.

    References
    ----------
    .. [1] Li, Li, Venkatasubramanian, "Closeness: a new privacy measure for data publishing", IEEE TKDE 22(7), 2010.
       https://doi.org/10.1109/TKDE.2009.139

    Examples
    --------
    >>> groups = Groups.from_counts(disease=[[1, 0], [3, 0], [0, 2]])
    >>> NTCloseness(n=3, t=0.4, sensitive="disease").levels(groups).round(3)
    array([0.333, 0.   , 0.667])
    """

    name = "nt-closeness"
    reference = "Li, Li, Venkatasubramanian 2010, https://doi.org/10.1109/TKDE.2009.139"
    bound = "max"
    compares_with_table = True
    monotone = True
    stricter: ClassVar = {"n": "larger", "t": "smaller"}
    description = ModelDescription(
        title="(n,t)-closeness",
        level="distance of the farthest small group",
        promise="In {group} of fewer than {n} records, the values of “{sensitive}” are distributed as in the whole "
        "table, up to a distance of {t} ({distance}).",
        stops="Skewness: learning from a small group that a value is far more likely for a person than it is in the "
        "whole table.",
        open="It says nothing about large groups: what is true of that many people may be learned about each of them.",
    )

    n: int
    t: float
    sensitive: str
    distance: Literal["equal", "variational", "ordered", "hierarchical", "kl", "matrix"] = "equal"
    costs: Sequence[Sequence[float]] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        require(is_integer(self.n) and self.n >= 1, self, "n", "a whole number of at least 1", self.n)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)
        check_distance(self, self.t, self.distance, self.costs)
        object.__setattr__(self, "costs", to_tuples(self.costs))

    @property
    def limit(self) -> float:
        """The largest distance."""
        return self.t

    def levels(self, groups: Groups) -> Levels:
        """Compute the distance of every group from the table; 0 for large groups."""
        level = np.full(len(groups), np.inf)
        small = np.flatnonzero(groups.sizes < self.n)
        if len(small) and groups.totals[self.sensitive].sum() >= self.n:
            level[small] = distances_to_overall_distribution(
                self, groups.take(small), self.sensitive, self.distance, self.costs
            )
        level[groups.sizes >= self.n] = 0
        return level
