"""What algorithms that cluster records by their distances share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from sfumato.algorithms.base import Algorithm, Shows, Task
from sfumato.algorithms.microaggregation.completing import complete
from sfumato.algorithms.microaggregation.publishing import Shown, publish
from sfumato.algorithms.microaggregation.space import Space
from sfumato.algorithms.publishing import publish_one_group
from sfumato.coding.clustering.points import Labels
from sfumato.coding.grouping import group_columns
from sfumato.core.publication import Publication
from sfumato.validation import are_weights, require

CLUSTERED = 0.9  # of the work is done when records are clustered


@dataclass(frozen=True, kw_only=True)
class Clustering(Algorithm):
    """Split records into clusters of the smallest valid size, merge those that are not valid, and publish them.

    Parameters
    ----------
    weights : the weight of every attribute in a distance; 1 by default.
    publish : `"centers"` publishes a value in the middle of each group, `"ranges"` a cover of its values.
    """

    needs_monotone = "always"
    needs_complete = True

    weights: Mapping[str, float] | None = field(default=None, hash=False)
    publish: Shown = "centers"

    def __post_init__(self) -> None:
        require(self.publish in {"centers", "ranges"}, self, "publish", "'centers' or 'ranges'", self.publish)
        if self.weights is not None:
            wanted = "a mapping from names to numbers of at least 0"
            require(are_weights(self.weights), self, "weights", wanted, self.weights)
            object.__setattr__(self, "weights", dict(self.weights))

    @abstractmethod
    def cluster(self, space: Space, least: int, task: Task) -> Labels:
        """Split the records into clusters of at least this many, two or more, if there are that many."""

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
            return publish_one_group(task)
        space = Space.of(table, self.weights)
        least = task.smallest_group
        if least == 1:
            codes = [column.codes for column in table.quasi]
            labels = group_columns(codes, [len(column.domain) + 1 for column in table.quasi]).labels
        else:
            labels = self.cluster(space, least, task)
        task.progress(CLUSTERED)
        return publish(space, complete(space, labels, task), task, self.publish)


def tell_clustered(task: Task, done: float) -> None:
    """Report the share of records that are in clusters."""
    task.progress(CLUSTERED * done)
