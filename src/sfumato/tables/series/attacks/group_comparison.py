"""Attacks by comparing groups: one is another plus or minus some persons; and the comparisons of Fung and others."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sfumato._validation import is_finite_number, require
from sfumato.tables.attacks._beliefs import Floats, Ints
from sfumato.tables.published.groups import Histogram
from sfumato.tables.series._worlds.differencing import subtract_nested_groups
from sfumato.tables.series._worlds.system import ConstraintSystem, value_bits
from sfumato.tables.series.attacks._base import NOBODY, AttributeSeries, Claims, SeriesAttack, single_values
from sfumato.tables.series.history import GroupedRelease

ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class GroupDifference(SeriesAttack):
    """Take groups away from groups that contain them; claim the value if the rest shows only one.

    What is left is a group of its own, and is compared with the others again. `details` has the share of the persons
    who are in such a rest.
    """

    name = "difference"
    reference = "Byun, Sohn, Bertino, Li, Secure anonymization for incremental datasets, SDM 2006"

    def claims(self, one: AttributeSeries) -> Claims:
        """Claim what single-valued rests show."""
        whole = ConstraintSystem.of(one.history)
        left = subtract_nested_groups(whole)
        rest = (left.histogram.sizes > 0) & (left.histogram.sizes < whole.histogram.sizes)
        only = np.where(rest, single_values(value_bits(left.histogram)), NOBODY)
        inside = np.asarray(np.append(rest, False)[left.slots].any(axis=0))[left.unit]
        value = np.append(only, NOBODY)[left.slots].max(axis=0)[left.unit]
        return Claims(value, {"in_a_rest": float(inside[one.published].mean())})


@dataclass(frozen=True, kw_only=True)
class GroupComparison(SeriesAttack):
    """Rule out rows of a target's group by comparing it with her group in the release before or after it.

    The adversary knows the groups of one target. Which groups of two releases overlap is taken from who is in both.
    `details` has the mean share of the rows of her group that cannot be hers.

    Parameters
    ----------
    certainty : the smallest share of a value among the rows that are left.
    """

    reference = "Fung, Wang, Fu, Pei, Anonymity for continuous data publishing, EDBT 2008"
    certainty: float = 1.0

    def __post_init__(self) -> None:
        require(
            is_finite_number(self.certainty) and 0 < self.certainty <= 1, self, "certainty", "in (0, 1]", self.certainty
        )

    @abstractmethod
    def targets(self, first: GroupedRelease, second: GroupedRelease) -> Ints:
        """Return the persons whom the comparison of two releases can be about."""

    @abstractmethod
    def _left(self, first: GroupedRelease, second: GroupedRelease, targets: Ints) -> tuple[Any, Ints]:
        """Return the rows by value that are left to each target, as a sparse matrix, and the rows of her group."""

    def claims(self, one: AttributeSeries) -> Claims:
        """Claim the value that is certain enough among the rows that are left."""
        value = np.full(one.history.persons, NOBODY, dtype=np.int64)
        ruled, compared = 0.0, 0
        for first, second in pairwise(one.releases):
            persons = self.targets(first, second)
            if not len(persons):
                continue
            rows, sizes = self._left(first, second, persons)
            remaining = np.asarray(rows.sum(axis=1)).ravel()
            most, top = np.asarray(rows.max(axis=1).todense()).ravel(), np.asarray(rows.argmax(axis=1)).ravel()
            sure = (most > 0) & (most >= (self.certainty - ROUNDING) * remaining)
            value[persons] = np.where((value[persons] == NOBODY) & sure, top, value[persons])
            ruled += float((1 - remaining / sizes).sum())
            compared += len(persons)
        return Claims(value, {"ruled_out": ruled / max(compared, 1)})


class _SharedGroupComparison(GroupComparison):
    """A comparison of the groups of a target who is in both releases."""

    def targets(self, first: GroupedRelease, second: GroupedRelease) -> Ints:
        """Return who is in both."""
        return np.flatnonzero((first.members >= 0) & (second.members >= 0))

    def _left(self, first: GroupedRelease, second: GroupedRelease, targets: Ints) -> tuple[Any, Ints]:
        """Leave of every value as many rows as both groups have."""
        one, two = (
            to_sparse_matrix(first.histogram)[first.members[targets]],
            to_sparse_matrix(second.histogram)[second.members[targets]],
        )
        return one.minimum(two).tocsr(), self.sizes(first, second, targets)

    @abstractmethod
    def sizes(self, first: GroupedRelease, second: GroupedRelease, targets: Ints) -> Ints:
        """Return the rows of the group that is attacked."""


@dataclass(frozen=True, kw_only=True)
class ForwardComparison(_SharedGroupComparison):
    """Rule out rows of the earlier group: with g1(s) and g2(s) rows of value s, at least g1(s) - g2(s) are not hers."""

    name = "forward-comparison"

    def sizes(self, first: GroupedRelease, second: GroupedRelease, targets: Ints) -> Ints:  # noqa: ARG002 - the first is attacked
        """Return the rows of the earlier group."""
        return first.histogram.sizes[first.members[targets]]


@dataclass(frozen=True, kw_only=True)
class CrossComparison(_SharedGroupComparison):
    """Rule out rows of the later group: with g1(s) and g2(s) rows of value s, at least g2(s) - g1(s) are not hers."""

    name = "cross-comparison"

    def sizes(self, first: GroupedRelease, second: GroupedRelease, targets: Ints) -> Ints:  # noqa: ARG002 - the second is attacked
        """Return the rows of the later group."""
        return second.histogram.sizes[second.members[targets]]


@dataclass(frozen=True, kw_only=True)
class BackwardComparison(GroupComparison):
    """Rule out rows of the group of a newcomer that must be old, because everybody before her is still there."""

    name = "backward-comparison"

    def targets(self, first: GroupedRelease, second: GroupedRelease) -> Ints:
        """Return the newcomers, if nobody left; a counterfeit may leave unseen."""
        if ((first.members >= 0) & (second.members < 0)).any() or first.counterfeits.any():
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero((first.members < 0) & (second.members >= 0))

    def check_attribute(self, one: AttributeSeries) -> str | None:
        """Require a release that keeps everybody of the one before and adds others."""
        few = super().check_attribute(one)
        cumulative = any(len(self.targets(first, second)) for first, second in pairwise(one.releases))
        return few or (None if cumulative else "no release keeps everybody of the one before and adds others.")

    def _left(self, first: GroupedRelease, second: GroupedRelease, targets: Ints) -> tuple[Any, Ints]:
        """Leave the rows that may be new."""
        group = second.members[targets]
        rows = to_sparse_matrix(second.histogram) - min_old_rows(first, second)
        rows.eliminate_zeros()
        return rows.tocsr()[group], second.histogram.sizes[group]


def min_old_rows(first: GroupedRelease, second: GroupedRelease) -> Any:
    """Return how many rows of each value and group of the second release must be old, at least (groups by values).

    The rows of a value in the groups of the first release that overlap with a group G must be found in the groups that
    overlap with these; where the others among them have too little room, the rest is in G. And all rows are in G whose
    group overlaps with G alone.
    """
    old, new = to_sparse_matrix(first.histogram), to_sparse_matrix(second.histogram)
    both = np.flatnonzero((first.members >= 0) & (second.members >= 0))
    overlap = _ones(first.members[both], second.members[both], (old.shape[0], new.shape[0]))
    near = overlap.T @ overlap
    near.data[:] = 1
    near.setdiag(0)
    crowded = (overlap.T @ old - near @ new).maximum(0)
    degree = np.asarray(overlap.sum(axis=1)).ravel()
    alone = overlap.multiply((degree == 1)[:, None]).tocsr()
    return crowded.maximum(alone.T @ old).minimum(new).tocsr()


def to_sparse_matrix(histogram: Histogram) -> Any:
    """Return counts as a sparse matrix of groups by values."""
    from scipy.sparse import csr_array

    shape = (len(histogram.offsets) - 1, histogram.width)
    return csr_array((histogram.counts, histogram.codes, histogram.offsets), shape=shape)


def _ones(rows: Ints, columns: Ints, shape: tuple[int, int]) -> Any:
    from scipy.sparse import csr_array

    keys = np.unique(rows * shape[1] + columns)
    ones: Floats = np.ones(len(keys), dtype=np.int64)
    return csr_array((ones, (keys // shape[1], keys % shape[1])), shape=shape)
