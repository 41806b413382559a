"""What algorithms that cluster records by their distances share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sfumato.algorithms.base import Algorithm, Task
from sfumato.algorithms.microaggregation.completing import complete
from sfumato.algorithms.microaggregation.publishing import Shown, publish
from sfumato.algorithms.microaggregation.space import Space, refused_missing
from sfumato.algorithms.publishing import publish_groups
from sfumato.coding.clustering.points import Labels
from sfumato.coding.grouping import group_columns
from sfumato.core.publication import Publication
from sfumato.validation import did_you_mean, is_number, require

CLUSTERED = 0.9  # of the work is done when records are clustered


@dataclass(frozen=True, kw_only=True)
class Clustering(Algorithm):
    """Split records into clusters of the smallest valid size, merge those that are not valid, and publish them.

    Parameters
    ----------
    weights : the weight of every attribute in a distance; 1 by default.
    publish : `"centers"` publishes a value in the middle of each group, `"ranges"` a cover of its values.
    """

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
        """Split the records into clusters of at least this many, two or more, if there are that many."""

    @property
    def centers(self) -> bool:
        """Whether published cells are centers, which need not cover the cells they represent."""
        return self.publish == "centers"

    def refusal(self, task: Task) -> str | None:
        """Refuse missing cells, unknown weights, and models that merging valid groups may break."""
        name = type(self).__name__
        known = [column.name for column in task.table.quasi]
        for weighted in self.weights or {}:
            if weighted not in known:
                hint = did_you_mean(weighted, known) or "; drop it."
                return f"{name} has a weight for {weighted!r}, which is not a quasi-identifier{hint}"
        for model in task.models:
            if not model.monotone:
                return (
                    f"{name} does not support {model!r}, because merging valid groups can break it; "
                    "use another algorithm."
                )
        return refused_missing(name, task) or super().refusal(task)

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
    """Report the share of records that are in clusters."""
    task.progress(CLUSTERED * done)


def _are_weights(given: object) -> bool:
    return isinstance(given, Mapping) and all(
        isinstance(name, str) and is_number(weight) and weight >= 0 for name, weight in given.items()
    )
