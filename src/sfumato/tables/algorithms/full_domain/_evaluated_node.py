"""What is known about one node: its groups, what they were counted on, and what the models say about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.tables.algorithms.full_domain._combinations import Combinations, CountedGroups
from sfumato.tables.algorithms.full_domain._lattice import Levels

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RolledUpCounts:
    """Combinations that were rolled up to some levels: nodes at or above these can be checked on them."""

    levels: Levels
    combinations: Combinations


@dataclass(frozen=True, eq=False)
class EvaluatedGroups:
    """What the models say about groups.

    Parameters
    ----------
    kept : which groups are valid.
    firm : which groups are invalid and have no valid part, however they are split.
    torn : how many records of other groups must be suppressed, however they are split.
    """

    kept: Mask
    firm: Mask
    torn: int = 0


@dataclass(frozen=True, eq=False)
class NodeCheck:
    """What is known about one node.

    Parameters
    ----------
    levels : the node.
    source : the combinations that the groups were counted on.
    counted : the groups.
    limit : the largest number of records that may be suppressed.
    suppressed : the number of records in invalid groups.
    lost_below : the smallest number of records that every node below suppresses.
    judge : judges the groups; called only if needed.
    whole : whether all groups are known; if not, they were too many for memory, or a part of them rules the node out.
        Then the numbers are true of that part, and at least as large in the whole table.
    """

    levels: Levels
    source: RolledUpCounts
    counted: CountedGroups
    limit: int
    suppressed: int
    lost_below: int
    judge: Callable[[], EvaluatedGroups]
    whole: bool = True

    @cached_property
    def evaluated(self) -> EvaluatedGroups:
        """What the models say about every group."""
        return self.judge()

    @property
    def satisfied(self) -> Mask:
        """Which groups are valid."""
        return self.evaluated.kept

    @property
    def surely_valid(self) -> Mask:
        """Which groups are invalid and have no valid part, however they are split."""
        return self.evaluated.firm

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of records of every group."""
        return self.counted.sizes

    @property
    def allowed(self) -> bool:
        """Whether few enough records are suppressed for the node to be a solution."""
        return self.suppressed <= self.limit

    def by_class(self, column: int) -> npt.NDArray[np.int64]:
        """Count the values of an additional column in every group."""
        along = self.source.combinations.along[column]
        width = len(along.domain) + 1
        keys = self.counted.labels.astype(np.int64) * width + along.codes
        counts = np.bincount(keys, self.source.combinations.weights, minlength=len(self.sizes) * width)
        return counts.astype(np.int64).reshape(-1, width)

    @cached_property
    def suppressed_histograms(self) -> list[npt.NDArray[np.float64]]:
        """How often every code of every column occurs in invalid groups."""
        return self._histograms(~self.satisfied)

    @cached_property
    def surely_suppressed_histograms(self) -> list[npt.NDArray[np.float64]]:
        """How often every code of every column occurs in groups without a valid part."""
        return (
            self.suppressed_histograms
            if np.array_equal(self.surely_valid, ~self.satisfied)
            else self._histograms(self.surely_valid)
        )

    def _histograms(self, groups: Mask) -> list[npt.NDArray[np.float64]]:
        combinations = self.source.combinations
        return combinations.histograms(np.flatnonzero(groups[self.counted.labels]))
