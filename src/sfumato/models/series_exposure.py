"""Exposure over a series: all releases together give no value of anybody more than a stated probability."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np

from sfumato.core.groups import Groups
from sfumato.core.history import History
from sfumato.models.base import Levels
from sfumato.models.series_model import Answer, SeriesEvaluation, SeriesModel
from sfumato.models.words import ModelDescription
from sfumato.models.worlds.company import has_constant_groups
from sfumato.models.worlds.known import DisclosureKnowledge
from sfumato.models.worlds.ladder import refine_bounds
from sfumato.models.worlds.paths import per_release_probabilities
from sfumato.validation import is_finite_number, require

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
