"""MDAV: groups of records around those farthest from the center."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from sfumato._validation import require
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.microaggregation._clustering import ClusteringAlgorithm, report_clustered
from sfumato.tables.algorithms.microaggregation._point_clusters import Labels
from sfumato.tables.algorithms.microaggregation._space import RecordSpace, Scaling, to_points
from sfumato.tables.algorithms.microaggregation._tree_clusters import cluster_by_mdav


@dataclass(frozen=True, kw_only=True)
class MDAV(ClusteringAlgorithm):
    r"""Group the record farthest from the center with its nearest ones, then the record farthest from that one [1]_.

    While at least $3k$ records are free, two groups of $k$ are formed: around the record farthest from the center of
    all free records, and around the one farthest from it. If $2k$ or more are left, one more is formed, and the rest
    is the last group. $k$ is the smallest size that any model allows; without other requirements every group has $k$ to
    $2k - 1$ records. Groups that break a model are then merged with ones nearby. Nothing is suppressed and nothing is
    random. Large tables are searched by a tree of boxes, with the same groups; with many independent attributes the
    work grows as $n^2 / k$ for $n$ records.

    The squared distance of two records is the weighted sum, over the quasi-identifiers, of squared distances on their
    scales: differences of numbers and ranks, the share of levels of a taxonomy on which two values have different
    ancestors, 0 or 1 for nominal values.

    Parameters
    ----------
    weights : the weight of every attribute in a squared distance; 1 by default.
    publish : `"centers"` publishes means, middle ranks, medoids of taxonomies and most frequent values; `"ranges"`
        publishes intervals, nodes and sets that cover a group's values.
    scaling : `"deviation"` divides squared distances of every attribute by their mean to the center of all records,
        which turns numbers into z-scores; `"range"` divides differences by the range.

    References
    ----------
    .. [1] Domingo-Ferrer, Torra, "Ordinal, continuous and heterogeneous k-anonymity through microaggregation",
       Data Mining and Knowledge Discovery 11(2), 2005. https://doi.org/10.1007/s10618-005-0007-5
    """

    name = "mdav"
    reference = "Domingo-Ferrer, Torra 2005, https://doi.org/10.1007/s10618-005-0007-5"

    scaling: Scaling = "deviation"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.scaling in {"deviation", "range"}, self, "scaling", "'deviation' or 'range'", self.scaling)

    def cluster(self, space: RecordSpace, least: int, task: TableRequest) -> Labels:
        """Split the records into groups of k to 2k - 1."""
        return cluster_by_mdav(to_points(space, self.scaling), least, partial(report_clustered, task))
