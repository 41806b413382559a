"""Distinct categories: every group has values of at least l categories. A part of other models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sfumato.core._descriptions import ModelDescription
from sfumato.tables.models._attribute_values import category_codes
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Groups


@dataclass(frozen=True, kw_only=True)
class DistinctCategories(GroupModel):
    r"""Require sensitive values of at least $\ell$ categories in every group [1]_.

    A missing value belongs to no category: it adds none to a group with a known one, whatever the policy.

    Parameters
    ----------
    l : the smallest number of categories in a group.
    sensitive : the name of the sensitive attribute.
    categories : the category of every value that occurs.

    References
    ----------
    .. [1] Sun, Wang, Li, Truta, "Enhanced p-sensitive k-anonymity models for privacy preserving data
       publishing", Transactions on Data Privacy 1(2), 2008.
    """

    name = "distinct-categories"
    reference = "Sun, Wang, Li, Truta 2008, Transactions on Data Privacy 1(2)"
    bound = "min"
    monotone = True
    extendable = True
    stricter: ClassVar = {"l": "larger"}
    description = ModelDescription(
        title="distinct categories",
        level="different categories or levels in the least diverse group",
        stops="Similarity: learning the category of a person's value because all values of the group are of one.",
    )

    l: int
    sensitive: str
    categories: Mapping[str, str | int] = field(repr=False, hash=False)

    @property
    def limit(self) -> float:
        """The smallest number of categories."""
        return self.l

    @property
    def min_group_size(self) -> int:
        """A group has at most as many categories as records."""
        return self.l

    def levels(self, groups: Groups) -> Levels:
        """Count the categories of every group."""
        nodes = category_codes(self, groups, self.sensitive, self.categories)
        coarse = groups.histograms[self.sensitive].merge_values(nodes)
        named = coarse.codes < len(set(self.categories.values()))
        return np.maximum(coarse.reduce(np.add, named.astype(np.float64)), groups.sizes > 0)
