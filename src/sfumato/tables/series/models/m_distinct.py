"""m-distinct: m-invariance for values that change, by classes of values that can become each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.core._descriptions import ModelDescription
from sfumato.tables.models._attribute_values import get_domain
from sfumato.tables.models.base import Levels
from sfumato.tables.published.groups import Groups
from sfumato.tables.series._worlds.transitions import (
    check_transitions,
    refine_path_bounds,
    transition_matrix,
    transition_matrix_of_history,
)
from sfumato.tables.series.history import History
from sfumato.tables.series.models._base import SeriesEvaluation, UniformGroups, count_uniform_values
from sfumato.tables.series.models.bounded_series_disclosure import compare_with_limit
from sfumato.tables.series.models.m_invariance import MInvariance

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class MDistinct(UniformGroups):
    r"""Require $m$ classes of values in every group, each equally often, and the same classes for a person always [1]_.

    A transient value, such as an illness, can become another one. `stays` says which: it maps a value to those that it
    can become, and each can stay what it is. Values that are joined by such changes, in whatever direction, are one
    class. If inside every class each value can become each other one, then m-invariance of the classes gives nobody's
    value a probability above $1/m$ over all releases, because exchanging classes turns worlds into worlds. For any
    other relation the promise is judged by counting all worlds, or not shown.

    A table alone is checked for at least $m$ classes in every group, each equally often. The model is not monotone.
    Missing values that may be anything (policy matches-all) break the promise; under the policy own-value a missing
    value is a class of its own.

    Parameters
    ----------
    m : the smallest number of different classes in a group.
    sensitive : the name of the sensitive attribute.
    stays : the values that a value can become, by the text of the value; values that are not named stay.

    References
    ----------
    .. [1] After Li, Zhou, arXiv:0806.4703, 2008; their own condition is on sets of values that a change can lead to.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sfumato.encoding.domain import Domain
    >>> from sfumato.schema.roles import Scale
    >>> disease = Domain("disease", Scale.NOMINAL, pa.array(["HIV", "cold", "flu"]))
    >>> groups = Groups.from_counts(disease=[[1, 0, 1], [0, 1, 1]], domains={"disease": disease})
    >>> MDistinct(m=2, sensitive="disease", stays={"cold": ["flu"], "flu": ["cold"]}).satisfied_by(groups)
    array([ True, False])
    """

    name = "m-distinct"
    reference = "after Li, Zhou 2008, arXiv:0806.4703"
    description = ModelDescription(
        title="m-distinct",
        level="different classes of values, all equally often, in the worst group",
        promise="{Group} shows values of “{sensitive}” from at least {m} classes, each equally often, and a person's "
        "group shows the same classes in every release of a series, though values may change inside a class.",
        stops="Intersection: comparing several releases, in which a person's groups have only one class in common.",
        open="Several releases can prove that two persons' values are of one class.",
    )

    stays: Mapping[str, Sequence[str]] = field(repr=False, hash=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "stays", check_transitions("MDistinct", self.stays))

    def levels(self, groups: Groups) -> Levels:
        """Count the classes of every group that has each equally often; 0 for any other."""
        histogram = groups.histograms[self.sensitive]
        texts = get_domain(self, groups, self.sensitive).texts
        return count_uniform_values(histogram.merge_values(self.classes(texts, histogram.width)))

    def classes(self, texts: Sequence[str], width: int) -> Ints:
        """Return the class of every coded value: the components of what can become what."""
        from scipy.sparse.csgraph import connected_components

        whole = connected_components(transition_matrix(self.stays, texts, width), directed=False)[1][:width]
        return np.unique(whole, return_inverse=True)[1].astype(np.int64)

    def evaluate_series(self, history: History, *, linked: int = 0) -> SeriesEvaluation:
        """Judge the classes as m-invariance does where that is enough, and count worlds where it is not."""
        relation = transition_matrix_of_history(self.stays, history, "MDistinct")
        classes = self.classes(history.values[: history.width], history.width)
        occurring = relation[: history.width, : history.width]
        complete = bool((occurring == (classes[:, None] == classes[None, :])).all())
        invariance = MInvariance(m=self.m, sensitive=self.sensitive)
        found = invariance.evaluate_series(history.merge_values(classes), linked=linked)
        if (
            history.unflagged.any() and found.answer != "broken"
        ):  # a value that is shown tells its class for all releases
            return SeriesEvaluation("not shown", found.level, found.individuals, found.groups)
        if complete or found.answer == "broken":
            return found
        counted = compare_with_limit(refine_path_bounds(history, relation), 1 / self.m, linked)
        return SeriesEvaluation(counted.answer, found.level, counted.individuals, counted.groups)
