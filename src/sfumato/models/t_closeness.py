"""t-closeness: the sensitive values of every group are distributed nearly as in the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from sfumato.exceptions import SchemaError
from sfumato.groups import Groups
from sfumato.models.base import Levels, PrivacyModel
from sfumato.models.earth_mover import over_line, over_tree
from sfumato.validation import is_number, require

DISTANCES = ("equal", "ordered", "hierarchical")


@dataclass(frozen=True, kw_only=True)
class TCloseness(PrivacyModel):
    r"""Require the distribution of sensitive values in every group to be within $t$ of the table's [1]_.

    An adversary who finds a person's group then learns little more than the table tells about everybody.
    The level is the earth mover's distance: the least mass times distance by which the table's
    distribution becomes the group's. Two values are apart

    - `"equal"`: 1;
    - `"ordered"`: the difference of their ranks among all $m$ values of the domain, over $m - 1$;
    - `"hierarchical"`: the height of their lowest common ancestor over the height of the hierarchy.

    The distance is convex, so a union of groups has at most the largest distance of its parts: the model is
    monotone while the table's distribution stays. It is not extendable. It says nothing about who is in the
    table, and a small $t$ leaves little to learn about how quasi-identifiers and sensitive values relate.

    A missing value that is a value of its own is at distance 1 from all others (in a hierarchy, right under
    the root); for `"ordered"` the level is then an upper bound, $(1 - q) D + |q - p|$ but at most 1, with $q$
    and $p$ the shares of missing values in group and table and $D$ the distance between the known ones.
    Missing values that may be anything (policy matches-all) count as moved from end to end: the level is
    $(1 - q) D + q$, and the table's distribution is that of its known values.

    Parameters
    ----------
    t : the largest distance, a number from 0 to 1.
    sensitive : the name of the sensitive attribute.
    distance : `"equal"`, `"ordered"` (of a numeric or ordinal attribute) or `"hierarchical"`.

    References
    ----------
    .. [1] Li, Li, Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity", ICDE 2007.
       https://doi.org/10.1109/ICDE.2007.367856

    Examples
    --------
    >>> groups = Groups.from_counts(salary=[[2, 2, 0, 0, 0], [1, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    >>> TCloseness(t=0.2, sensitive="salary", distance="equal").level(groups).round(3)
    array([0.462, 0.288, 0.138])
    >>> TCloseness(t=0.2, sensitive="salary", distance="ordered").kept_by(groups)
    array([False,  True,  True])
    """

    name = "t-closeness"
    reference = "Li, Li, Venkatasubramanian 2007, https://doi.org/10.1109/ICDE.2007.367856"
    bound = "max"
    monotone = True
    stricter: ClassVar = {"t": "smaller"}

    t: float
    sensitive: str
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"

    def __post_init__(self) -> None:
        require(is_number(self.t) and 0 <= self.t <= 1, self, "t", "a number from 0 to 1", self.t)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)
        require(self.distance in DISTANCES, self, "distance", f"one of {', '.join(DISTANCES)}", self.distance)

    @property
    def limit(self) -> float:
        """The largest distance."""
        return self.t

    def level(self, groups: Groups) -> Levels:
        """Compute the distance of every group from the table; a true fraction is rounded once."""
        histogram, totals = groups.histograms[self.sensitive], groups.totals[self.sensitive]
        if self.distance == "ordered":
            return over_line(histogram, totals, self._ranks(groups))
        if self.distance == "hierarchical":
            return over_tree(histogram, totals, self._nodes(groups))
        return over_tree(histogram, totals, [np.arange(histogram.width)])

    def _ranks(self, groups: Groups) -> int:
        domain = groups.domains.get(self.sensitive)
        if domain is None:
            return groups.histograms[self.sensitive].width
        if not domain.scale.ordered:
            raise SchemaError(
                f"Column {self.sensitive!r} is {domain.scale} and has no order for TCloseness; give one in "
                "Schema.orders, or use another distance."
            )
        return len(domain)

    def _nodes(self, groups: Groups) -> list[npt.NDArray[np.integer]]:
        domain, width = groups.domains.get(self.sensitive), groups.histograms[self.sensitive].width
        if domain is None or domain.hierarchy is None:
            raise SchemaError(
                f"Column {self.sensitive!r} has no hierarchy for TCloseness; give one in Schema.hierarchies, "
                "or use another distance."
            )
        below_root = domain.hierarchy.levels[:-1]
        return [np.append(nodes, nodes.max(initial=-1) + 1)[:width] for nodes in below_root]
