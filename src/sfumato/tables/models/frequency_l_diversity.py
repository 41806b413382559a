"""Frequency l-diversity: no sensitive value accounts for more than 1/l of a group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato._validation import is_finite_number, require
from sfumato.core._descriptions import ModelDescription
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Groups


@dataclass(frozen=True, kw_only=True)
class FrequencyLDiversity(GroupModel):
    r"""Require that no sensitive value accounts for more than $1/\ell$ of the records of any group [1]_, [2]_.

    An adversary who knows a person's group then guesses the person's value with a chance of at most $1/\ell$.
    With $n(s)$ records of value $s$ among the $n$ records of a group, every group must satisfy

    $$n / \max_s n(s) \ge \ell .$$

    The largest share in merged groups is at most the largest in their parts, so the model is monotone. It
    is not extendable: records of one value can join. It does not stop an adversary from learning that a value
    has become more likely than it is in the table; see `TCloseness`.

    Missing values that may be anything (policy matches-all) are all assumed to be the most frequent value.

    Parameters
    ----------
    l : the inverse of the largest share, a real number of at least 1.
    sensitive : the name of the sensitive attribute.

    References
    ----------
    .. [1] Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, "l-Diversity: privacy beyond k-anonymity",
       ACM TKDD 1(1), 2007. https://doi.org/10.1145/1217299.1217302
    .. [2] Xiao, Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006, pages 139-150.

    Examples
    --------
    >>> groups = Groups.from_counts(disease=[[2, 1, 1], [3, 1, 1]])
    >>> FrequencyLDiversity(l=2, sensitive="disease").satisfied_by(groups)
    array([ True, False])
    """

    name = "frequency-l-diversity"
    reference = "Machanavajjhala et al. 2007, https://doi.org/10.1145/1217299.1217302"
    bound = "min"
    monotone = True
    stricter: ClassVar = {"l": "larger"}
    description = ModelDescription(
        title="frequency l-diversity",
        level="records per record of the most frequent value, in the worst group",
        promise="In {group}, no value of “{sensitive}” accounts for more than one in {l} records.",
        stops="Probabilistic inference: guessing a person's value because most records of the group share it.",
        open="An attacker may still learn that a value is more likely for a person than it is in the whole table.",
    )

    l: float
    sensitive: str

    def __post_init__(self) -> None:
        require(is_finite_number(self.l) and self.l >= 1, self, "l", "a number of at least 1", self.l)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)

    @property
    def limit(self) -> float:
        """The smallest inverse of the largest share."""
        return self.l

    @property
    def min_group_size(self) -> int:
        """A value that occurs has at least one record."""
        return math.ceil(self.l)

    def levels(self, groups: Groups) -> Levels:
        """Divide the size of every group by its largest count, with one correct rounding."""
        counts = groups.histograms[self.sensitive].worst_case
        return counts.sizes / np.maximum(counts.reduce(np.maximum, counts.counts), 1)
