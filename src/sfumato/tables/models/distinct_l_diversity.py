"""Distinct l-diversity: every group has at least l different sensitive values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato._validation import is_integer, require
from sfumato.core._descriptions import ModelDescription
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Groups


@dataclass(frozen=True, kw_only=True)
class DistinctLDiversity(GroupModel):
    r"""Require at least $\ell$ different sensitive values in every group [1]_.

    An adversary who knows a person's group can then neither be sure of the person's value nor rule out all but
    $\ell - 1$ values. Groups only gain values when they are merged or grow, so the model is monotone and
    extendable. It does not stop an adversary from being nearly sure: of 100 records, 99 may share
    one value; see `FrequencyLDiversity`.

    A missing value that may be anything (policy matches-all) adds no value to a group with a known one.

    Parameters
    ----------
    l : the smallest number of different values in a group, a whole number of at least 1.
    sensitive : the name of the sensitive attribute.

    References
    ----------
    .. [1] Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, "l-Diversity: privacy beyond k-anonymity",
       ACM TKDD 1(1), 2007. https://doi.org/10.1145/1217299.1217302

    Examples
    --------
    >>> groups = Groups.from_counts(disease=[[9, 1, 0], [1, 1, 1]])
    >>> DistinctLDiversity(l=3, sensitive="disease").satisfied_by(groups)
    array([False,  True])
    """

    name = "distinct-l-diversity"
    reference = "Machanavajjhala et al. 2007, https://doi.org/10.1145/1217299.1217302"
    bound = "min"
    monotone = True
    extendable = True
    stricter: ClassVar = {"l": "larger"}
    description = ModelDescription(
        title="distinct l-diversity",
        level="different values in the least diverse group",
        promise="{Group} shows at least {l} different values of “{sensitive}”.",
        stops="Homogeneity: reading off a person's value because all records of the group share it.",
        open="One value may be far more frequent than the others of its group, so that an attacker can be nearly sure "
        "of it.",
    )

    l: int
    sensitive: str

    def __post_init__(self) -> None:
        require(is_integer(self.l) and self.l >= 1, self, "l", "a whole number of at least 1", self.l)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)

    @property
    def limit(self) -> float:
        """The smallest number of different values."""
        return self.l

    @property
    def min_group_size(self) -> int:
        """A group has at most as many values as records."""
        return self.l

    def levels(self, groups: Groups) -> Levels:
        """Count the different values of every group."""
        return np.diff(groups.histograms[self.sensitive].worst_case.offsets).astype(np.float64)
