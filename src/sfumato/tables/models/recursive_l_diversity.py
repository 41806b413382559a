"""Recursive (c,l)-diversity: the most frequent value of a group is not too frequent, the rare ones not too rare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core._descriptions import ModelDescription
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Counts, Groups, Histogram


@dataclass(frozen=True, kw_only=True)
class RecursiveLDiversity(GroupModel):
    r"""Require the top count of every group to be less than $c$ times the sum from the $\ell$-th count on [1]_.

    With the counts of a group's $m$ sensitive values in descending order $r_1 \ge \dots \ge r_m$,

    $$r_1 < c \, (r_\ell + r_{\ell+1} + \dots + r_m) ,$$

    so an adversary who rules out one value still faces a recursively $(c, \ell - 1)$-diverse group. The level
    is the ratio of $r_1$ to the sum, infinite if the group has fewer than $\ell$ values. The sums of top counts
    in merged groups are at most those of their parts together, so the model is monotone. It is not extendable. It
    does not stop an adversary from learning that a value has become more likely than it is in the table; see
    `TCloseness`.

    Missing values that may be anything (policy matches-all) are all assumed to be the most frequent value.

    Parameters
    ----------
    c : the bound that the ratio must stay below, a number above 0.
    l : where the sum starts, a whole number of at least 1.
    sensitive : the name of the sensitive attribute.

    References
    ----------
    .. [1] Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, "l-Diversity: privacy beyond k-anonymity",
       ACM TKDD 1(1), 2007. https://doi.org/10.1145/1217299.1217302

    Examples
    --------
    >>> groups = Groups.from_counts(disease=[[3, 2, 1, 1], [4, 2, 1, 1], [4, 4, 0, 0]])
    >>> RecursiveLDiversity(c=2, l=3, sensitive="disease").satisfied_by(groups)
    array([ True, False, False])
    """

    name = "recursive-l-diversity"
    reference = "Machanavajjhala et al. 2007, https://doi.org/10.1145/1217299.1217302"
    bound = "max"
    strict = True
    monotone = True
    stricter: ClassVar = {"c": "smaller", "l": "larger"}
    description = ModelDescription(
        title="recursive (c,l)-diversity",
        level="largest quotient of the most frequent value and the rare ones",
        promise="In {group}, the most frequent value of “{sensitive}” stays below {c} times all values from rank {l} "
        "on together.",
        stops="Background knowledge: ruling out a few values of a group and being nearly sure of the one that is left.",
        open="An attacker may still learn that a value is more likely for a person than it is in the whole table.",
    )

    c: float
    l: int
    sensitive: str

    def __post_init__(self) -> None:
        require(is_finite_number(self.c) and self.c > 0, self, "c", "a number above 0", self.c)
        require(is_integer(self.l) and self.l >= 1, self, "l", "a whole number of at least 1", self.l)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)

    @property
    def limit(self) -> float:
        """The bound that the ratio must stay below."""
        return self.c

    @property
    def min_group_size(self) -> int:
        """A valid group has at least l values."""
        return self.l

    def levels(self, groups: Groups) -> Levels:
        """Divide the top count of every group by the sum from the l-th count on."""
        counts = groups.histograms[self.sensitive].worst_case
        descending, rank = _descending(counts)
        top = counts.reduce(np.add, np.where(rank == 0, descending, 0))
        tail = counts.reduce(np.add, np.where(rank >= self.l - 1, descending, 0))
        level = np.full(len(top), np.inf)
        np.divide(top, tail, out=level, where=tail > 0)
        return level


def _descending(histogram: Histogram) -> tuple[Counts, Counts]:
    """Sort the counts of every group in descending order; return them and the rank of each in its group."""
    rows, span = histogram.rows, int(histogram.counts.max(initial=0)) + 1
    keys = np.sort(rows * span + (span - 1 - histogram.counts))
    return span - 1 - keys % span, np.arange(len(rows)) - histogram.offsets[rows]
