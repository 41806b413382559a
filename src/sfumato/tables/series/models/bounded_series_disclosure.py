"""Exposure over a series: all releases together give no value of anybody more than a stated probability."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np

from sfumato._validation import is_finite_number, require
from sfumato.core._descriptions import ModelDescription
from sfumato.tables.models.base import Levels
from sfumato.tables.published.groups import Groups
from sfumato.tables.series._worlds.bound_refinement import DisclosureKnowledge, refine_bounds
from sfumato.tables.series._worlds.differencing import subtract_nested_groups
from sfumato.tables.series._worlds.system import ConstraintSystem
from sfumato.tables.series._worlds.transitions import per_release_probabilities
from sfumato.tables.series.history import History
from sfumato.tables.series.models._base import Answer, SeriesEvaluation, SeriesModel

# Series in which everybody keeps her company: all that is told are groups of persons whom no release tells apart.


def has_constant_groups(history: History) -> bool:
    """Return whether a permanent attribute's series tells nothing but the values of sets of persons who never part.

    Then rows that are recognized in several releases, by what they show beside the value, add nothing: the rows of such
    a set stay in it, and exchanging two of its persons, who are in the same group of every release, turns worlds into
    worlds. A group with counterfeits is no such set.
    """
    if history.transient:
        return False
    system = ConstraintSystem.of(history)
    left = subtract_nested_groups(system)
    inside = left.slots >= 0
    alone = left.histogram.sizes[left.slots.max(axis=0, initial=0)] == system.weight
    return bool((((inside.sum(axis=0) == 1) & alone) | ~system.grouped).all()) and not any(
        np.any(each.counterfeits) for each in history.releases
    )


ROUNDING = 1e-12


class _RequiredParameter:
    """A parameter without a default that has the name of a property of all models, which it takes the place of."""

    def __get__(self, owner: BoundedSeriesDisclosure | None, kind: type) -> float:
        if owner is None:
            raise AttributeError  # which tells that there is no default
        value: float = vars(owner)["limit"]
        return value

    def __set__(self, owner: BoundedSeriesDisclosure, value: float) -> None:
        vars(owner)["limit"] = value


@dataclass(frozen=True, kw_only=True)
class BoundedSeriesDisclosure(SeriesModel):
    r"""Require that all releases of a series together give no value of any person a probability above a limit.

    A world gives every person who was ever in a group one value, so that every group has the values that it shows; all
    worlds are equally likely, and a person's exposure is the probability of her likeliest value. For a transient
    attribute a world is made for each release alone.

    The promise holds if everybody's exposure is shown to be within the limit by an exact step; it is broken if the
    exposure of somebody is above it for certain; otherwise it is *not shown*, which does not count as kept. An
    m-invariant series keeps it with the limit $1/m$. Groups whose rows show something else beside the value, by which
    they can be recognized, leave it not shown, unless nobody is ever told apart from those she came with. In one
    release the exposure is the share of the most frequent value of a person's group. Merged groups have no larger
    shares than their parts, so the model is monotone for one release; for a series it is not.

    Missing values that may be anything (policy matches-all) are all assumed to be the most frequent value; series are
    refused under that policy.

    Parameters
    ----------
    limit : the largest probability, above 0 and at most 1.
    sensitive : the name of the sensitive attribute.

    References
    ----------
    .. [1] Xiao, Tao, "m-Invariance: towards privacy preserving re-publication of dynamic datasets", SIGMOD 2007,
       pages 689-700. https://doi.org/10.1145/1247480.1247556

    Examples
    --------
    >>> groups = Groups.from_counts(disease=[[2, 2], [3, 1]])
    >>> BoundedSeriesDisclosure(limit=0.5, sensitive="disease").satisfied_by(groups)
    array([ True, False])
    """

    name = "series-exposure"
    reference = "after Xiao, Tao 2007, https://doi.org/10.1145/1247480.1247556"
    bound = "max"
    monotone = True
    stricter: ClassVar = {"limit": "smaller"}
    description = ModelDescription(
        title="exposure over a series",
        level="largest probability of anybody's likeliest value",
        promise="All releases of a series together give no value of “{sensitive}” of any person a probability above "
        "{limit}.",
        stops="Combining releases: comparing all that was ever published to leave few values for a person.",
        open="Whoever knows somebody's value already, or how releases were made, may learn more.",
    )

    limit: float = _RequiredParameter()  # type: ignore[assignment]  # a parameter, where other models compute it
    sensitive: str

    def __post_init__(self) -> None:
        fits = is_finite_number(self.limit) and 0 < self.limit <= 1
        require(fits, self, "limit", "a number above 0 and at most 1", self.limit)
        require(isinstance(self.sensitive, str), self, "sensitive", "the name of an attribute", self.sensitive)

    @property
    def min_group_size(self) -> int:
        """A single record has at least the share 1 / size of its group."""
        return ceil(round(1 / self.limit, 9))

    def levels(self, groups: Groups) -> Levels:
        """Divide the largest count of every group by its size, with one correct rounding."""
        counts = groups.histograms[self.sensitive].worst_case
        return counts.reduce(np.maximum, counts.counts) / np.maximum(counts.sizes, 1)

    def evaluate_series(self, history: History, *, linked: int = 0) -> SeriesEvaluation:
        """Compute everybody's exposure; what is known only from below can convict, and never acquit."""
        harmful = 0 if linked and has_constant_groups(history) else linked
        return compare_with_limit(disclosure_by_series(history), self.limit, harmful)


def disclosure_by_series(history: History) -> DisclosureKnowledge:
    """Find what a series tells of everybody whose cell is hidden; who shows hers has no candidates, and no limit."""
    if history.transient:
        return per_release_probabilities(history)
    return refine_bounds(history).known().without(history.unflagged)


def compare_with_limit(known: DisclosureKnowledge, limit: float, linked: int) -> SeriesEvaluation:
    """Compare everybody's exposure with a limit."""
    above = known.top > limit + ROUNDING
    persons = int(np.count_nonzero(above))
    level = float(np.nanmax(known.top)) if len(known.top) and not np.isnan(known.top).all() else 0.0
    answer: Answer = "holds"
    if persons:
        answer = "broken"
    elif linked or not known.sure.all():
        answer = "not shown"
    return SeriesEvaluation(answer, level, persons, linked)
