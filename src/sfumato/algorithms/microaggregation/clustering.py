"""What algorithms that cluster records by their distances have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sfumato.algorithms.base import Algorithm, Shows, Task
from sfumato.algorithms.microaggregation.completing import complete
from sfumato.algorithms.microaggregation.publishing import Shown, publish
from sfumato.algorithms.microaggregation.space import Space
from sfumato.algorithms.publishing import publish_groups
from sfumato.coding.clustering.points import Labels
from sfumato.coding.grouping import group_columns
from sfumato.core.publication import Publication
from sfumato.validation import is_number, require

CLUSTERED = 0.9  # of the work is done when records are clustered


@dataclass(frozen=True, kw_only=True)
class Clustering(Algorithm):
    """Part records into clusters of the smallest size that can be good, unite those that are not, and publish them.

    Parameters
    ----------
    weights : what a distance counts by attribute; 1 where none is given.
    publish : `"centers"` publishes a value in the middle of each group, `"ranges"` what covers its values.
    """

    needs_monotone = "always"
    needs_complete = True

    weights: Mapping[str, float] | None = field(default=None, hash=False)
    publish: Shown = "centers"

    def __post_init__(self) -> None:
        require(self.publish in {"centers", "ranges"}, self, "publish", "'centers' or 'ranges'", self.publish)
        if self.weights is not None:
            wanted = "a mapping from names to numbers of at least 0"
            require(_are_weights(self.weights), self, "weights", wanted, self.weights)
            object.__setattr__(self, "weights", dict(self.weights))

    @abstractmethod
    def cluster(self, space: Space, least: int, task: Task) -> Labels:
        """Part the records into clusters of at least so many, two or more, where there are that many."""

    @property
    def publishes(self) -> Shows:
        """Centers, which need not cover the cells that they stand for, or what covers them."""
        return "centers" if self.publish == "centers" else "covers"

    @property
    def names_quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers that have weights."""
        return tuple(self.weights or ())

    def search(self, task: Task) -> Publication:
        """Find what to publish."""
        table = task.table
        if not table.quasi:
            task.progress(1.0)
            return publish_groups(np.zeros(table.rows, dtype=np.int32), {})
        space = Space.of(table, self.weights)
        least = max((model.smallest_group for model in task.models), default=1)
        if least == 1:
            codes = [column.codes for column in table.quasi]
            labels = group_columns(codes, [len(column.domain) + 1 for column in table.quasi]).labels
        else:
            labels = self.cluster(space, least, task)
        task.progress(CLUSTERED)
        return publish(space, complete(space, labels, task), task, self.publish)


def tell_clustered(task: Task, done: float) -> None:
    """Return the share of records that are in clusters."""
    task.progress(CLUSTERED * done)


def _are_weights(given: object) -> bool:
    return isinstance(given, Mapping) and all(
        isinstance(name, str) and is_number(weight) and weight >= 0 for name, weight in given.items()
    )
