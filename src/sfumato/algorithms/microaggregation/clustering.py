"""What algorithms that cluster records by their distances share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from sfumato.algorithms.base import Shows, TableAlgorithm, TableRequest
from sfumato.algorithms.microaggregation.completing import merge_invalid_clusters
from sfumato.algorithms.microaggregation.publishing import Shown, label_clusters
from sfumato.algorithms.microaggregation.space import RecordSpace
from sfumato.algorithms.publishing import label_single_group
from sfumato.coding.clustering.points import Labels
from sfumato.coding.grouping import group_columns
from sfumato.core.publication import TableSolution
from sfumato.validation import is_weight_mapping, require

CLUSTERED = 0.9  # of the work is done when records are clustered


@dataclass(frozen=True, kw_only=True)
class ClusteringAlgorithm(TableAlgorithm):
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
            require(is_weight_mapping(self.weights), self, "weights", wanted, self.weights)
            object.__setattr__(self, "weights", dict(self.weights))

    @abstractmethod
    def cluster(self, space: RecordSpace, least: int, task: TableRequest) -> Labels:
        """Split the records into clusters of at least this many, two or more, if there are that many."""

    @property
    def publishes(self) -> Shows:
        """Centers, which need not cover the cells that they stand for, or what covers them."""
        return "centers" if self.publish == "centers" else "covers"

    @property
    def named_quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers that have weights."""
        return tuple(self.weights or ())

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        table = task.table
        if not table.quasi:
            return label_single_group(task)
        space = RecordSpace.of(table, self.weights)
        least = task.min_group_size
        if least == 1:
            codes = [column.codes for column in table.quasi]
            labels = group_columns(codes, [len(column.domain) + 1 for column in table.quasi]).labels
        else:
            labels = self.cluster(space, least, task)
        task.progress(CLUSTERED)
        return label_clusters(space, merge_invalid_clusters(space, labels, task), task, self.publish)


def report_clustered(task: TableRequest, done: float) -> None:
    """Report the share of records that are in clusters."""
    task.progress(CLUSTERED * done)
