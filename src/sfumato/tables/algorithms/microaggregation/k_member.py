"""k-member clustering: each cluster takes the records that enlarge its ranges the least."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.microaggregation._clustering import ClusteringAlgorithm, report_clustered
from sfumato.tables.algorithms.microaggregation._point_clusters import Labels
from sfumato.tables.algorithms.microaggregation._space import RecordSpace, to_boxes
from sfumato.tables.algorithms.microaggregation._tree_clusters import cluster_by_k_member


@dataclass(frozen=True, kw_only=True)
class KMember(ClusteringAlgorithm):
    r"""Grow clusters of $k$ records, each time by the record that loses the least information [1]_.

    A cluster $C$ loses $|C|$ times the sum of its ranges: the range of numbers and ranks over that of all records,
    the height of the lowest common ancestor over the height of a taxonomy, and 0 or 1 for nominal values. The first
    cluster starts with the record farthest from one drawn at random, each later one with the record farthest from the
    previous start. Remaining records join the cluster that loses the least. $k$ is the smallest size that any model
    allows; clusters that break a model are then merged with ones nearby. Nothing is suppressed. Large tables are
    searched by a tree of boxes, with the same clusters; where it does not help the work grows as $n\,m / k$ for $n$
    records, $m$ of them distinct, and as $n\,m$ in the worst case.

    Parameters
    ----------
    weights : the weight of every attribute in a range; 1 by default.
    publish : `"centers"` publishes means, middle ranks, medoids of taxonomies and most frequent values; `"ranges"`
        publishes intervals, nodes and sets that cover a cluster's values.

    References
    ----------
    .. [1] Byun, Kamra, Bertino, Li, "Efficient k-anonymization using clustering techniques", DASFAA 2007.
       https://doi.org/10.1007/978-3-540-71703-4_18
    """

    name = "k-member"
    reference = "Byun, Kamra, Bertino, Li 2007, https://doi.org/10.1007/978-3-540-71703-4_18"

    def cluster(self, space: RecordSpace, least: int, task: TableRequest) -> Labels:
        """Grow clusters of k records."""
        candidates, rows = to_boxes(space)
        first = int(np.searchsorted(np.cumsum(candidates.counts), task.rng.integers(len(rows)), side="right"))
        labels = np.empty(len(rows), dtype=np.int32)
        labels[rows] = cluster_by_k_member(candidates, least, first, partial(report_clustered, task))
        return labels
