"""What algorithms that cluster records by their distances have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from sfumato.algorithms.base import Algorithm, Task
from sfumato.algorithms.microaggregation.completing import complete
from sfumato.algorithms.microaggregation.publishing import Shown, publish
from sfumato.algorithms.microaggregation.space import Space, refused_missing
from sfumato.algorithms.publishing import publish_one_group
from sfumato.coding.clustering.points import Labels
from sfumato.coding.grouping import group_columns
from sfumato.core.publication import Publication
from sfumato.validation import are_weights, did_you_mean, require

CLUSTERED = 0.9  # of the work is done when records are clustered


@dataclass(frozen=True, kw_only=True)
class Clustering(Algorithm):
    """Part records into clusters of the smallest size that can be good, unite those that are not, and publish them.

    Parameters
    ----------
    weights : what a distance counts by attribute; 1 where none is given.
    publish : `"centers"` publishes a value in the middle of each group, `"ranges"` what covers its values.
    """

    needs_monotone = True

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
        """Part the records into clusters of at least so many, two or more, where there are that many."""

    @property
    def centers(self) -> bool:
        """Whether published cells are centers, which need not cover the cells that they stand for."""
        return self.publish == "centers"

    def refusal(self, task: Task) -> str | None:
        """Refuse missing cells, unknown weights, and models for which good clusters do not make a good whole."""
        name = type(self).__name__
        known = [column.name for column in task.table.quasi]
        for weighted in self.weights or {}:
            if weighted not in known:
                hint = did_you_mean(weighted, known) or "; drop it."
                return f"{name} has a weight for {weighted!r}, which is no quasi-identifier{hint}"
        return refused_missing(name, task) or super().refusal(task)

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
    """Return the share of records that are in clusters."""
    task.progress(CLUSTERED * done)
