"""m-invariance: every release shows a person among the same m values, however often it is published."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sfumato.core._descriptions import ModelDescription
from sfumato.tables.models.base import Levels
from sfumato.tables.published.groups import Groups
from sfumato.tables.series._worlds.system import ConstraintSystem
from sfumato.tables.series.history import History
from sfumato.tables.series.models._base import SeriesEvaluation, UniformGroups, count_uniform_values
from sfumato.tables.series.models.bounded_series_disclosure import ROUNDING, compare_with_limit, disclosure_by_series


@dataclass(frozen=True, kw_only=True)
class MInvariance(UniformGroups):
    r"""Require $m$ values in every group, each equally often, and the same values for a person in all releases [1]_.

    The set of values that a person's group shows is her signature. Whoever holds all releases, and knows in which
    groups a person was, finds the same set $S$ of at least $m$ values in each of them. Exchanging values of $S$ turns
    every possible world into another one, so each has the same probability $1/|S| \le 1/m$ for her.

    A table alone can only be checked for the first part: at least $m$ different values in every group, each equally
    often. Merging such groups can make a value more frequent than another, so the model is not monotone. The paper has
    every value once; equally often is enough. A signature is kept however long a person was away.

    It does not hide that two persons have the same value; see the page on series. Missing values that may be anything
    (policy matches-all) break the promise.

    Parameters
    ----------
    m : the smallest number of different values in a group.
    sensitive : the name of the sensitive attribute.

    References
    ----------
    .. [1] Xiao, Tao, "m-Invariance: towards privacy preserving re-publication of dynamic datasets", SIGMOD 2007,
       pages 689-700. https://doi.org/10.1145/1247480.1247556

    Examples
    --------
    >>> groups = Groups.from_counts(disease=[[2, 2, 0], [2, 1, 1]])
    >>> MInvariance(m=2, sensitive="disease").satisfied_by(groups)
    array([ True, False])
    """

    name = "m-invariance"
    reference = "Xiao, Tao 2007, https://doi.org/10.1145/1247480.1247556"
    description = ModelDescription(
        title="m-invariance",
        level="different values, all equally often, in the worst group",
        promise="{Group} shows at least {m} different values of “{sensitive}”, each equally often, and a person's "
        "group shows the same values in every release of a series.",
        stops="Intersection: comparing several releases, in which a person's groups have only one value in common.",
        open="Several releases can prove that two persons have the same value, so whoever learns one learns the other.",
    )

    def levels(self, groups: Groups) -> Levels:
        """Count the values of every group that has each equally often; 0 for any other."""
        return count_uniform_values(groups.histograms[self.sensitive])

    def evaluate_series(self, history: History, *, linked: int = 0) -> SeriesEvaluation:
        """Check all groups, everybody's signatures, and that rows of a group show nothing else.

        A cell that its person did not flag is no group. Where one is shown of somebody who was hidden before or after,
        signatures prove nothing: then everybody's exposure must be shown to be within 1/m, too.
        """
        system = ConstraintSystem.of(history.without_unflagged)
        level = count_uniform_values(system.histogram)
        worst = self.worst_level(level)
        low = level < self.m
        moved = changed_signatures(system)
        hit = moved | np.concatenate([low, [False]])[system.slots].any(axis=0)
        persons = int(hit[system.unit].sum())
        kept = not low.any() and not moved[system.unit].any() and not linked
        reached = 0.0 if moved[system.unit].any() or linked else worst
        found = SeriesEvaluation("holds" if kept else "broken", reached, persons, int(low.sum()) + linked)
        return self._with_visible_cells(history, found) if history.unflagged.any() and not history.transient else found

    def _with_visible_cells(self, history: History, found: SeriesEvaluation) -> SeriesEvaluation:
        """Judge by exposure, too, because some cells are shown."""
        exposed = compare_with_limit(disclosure_by_series(history), 1 / self.m, 0)
        level = min(found.level, float(np.floor(1 / exposed.level + ROUNDING))) if exposed.level else found.level
        if found.answer == "broken" or exposed.answer == "holds":
            return replace(found, level=level)
        return SeriesEvaluation(exposed.answer, level, max(found.individuals, exposed.individuals), found.groups)


def changed_signatures(system: ConstraintSystem) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which units were in groups that show different sets of values."""
    masks = system.masks()
    first = np.full(len(system.weight), -1)
    changed = np.zeros(len(system.weight), dtype=np.bool_)
    for row in system.slots:
        first = np.where(first < 0, row, first)
        changed |= (row >= 0) & (masks[row] != masks[first]).any(axis=1)
    return changed
