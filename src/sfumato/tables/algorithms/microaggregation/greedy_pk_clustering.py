"""GreedyPKClustering: clusters with enough different sensitive values, each grown by the cheapest record."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.microaggregation._class_growth import AdmissionRule, class_requirements, grow_classes
from sfumato.tables.algorithms.microaggregation._clustering import ClusteringAlgorithm, report_clustered
from sfumato.tables.algorithms.microaggregation._point_clusters import Labels
from sfumato.tables.algorithms.microaggregation._space import RecordSpace

BASE = 10.0  # of logarithms, which no price uses


@dataclass(frozen=True, kw_only=True)
class GreedyPKClustering(ClusteringAlgorithm):
    r"""Grow clusters of $k$ records with $p$ different sensitive values, each time by the cheapest record [1]_.

    A cluster $C$ loses $|C|$ times the sum of its ranges, as in `KMember`. It starts with the record farthest from the
    previous start (the first one from the center of all records). While it has fewer than $p$ values it takes only
    records with a new value, then any, and each time the one that raises its loss the least. When the remaining records
    cannot supply another cluster, each joins the cluster whose loss it raises the least, in the order of their values.

    With `HPKAnonymity` a cluster first takes only records of a new level while it has fewer than $H$. Without any model
    of these kinds, $k$ is the smallest size that the models allow, and clusters that break one of them are merged with
    their nearest ones. Nothing is suppressed and nothing is random. The work grows as $d\,n\,m$ for $n$ records, $m$
    distinct ones and $d$ quasi-identifiers.

    Parameters
    ----------
    weights : the weight of every attribute in a range; 1 by default.
    publish : `"centers"` publishes means, middle ranks, medoids of taxonomies and most frequent values; `"ranges"`
        publishes intervals, nodes and sets that cover a cluster's values.

    References
    ----------
    .. [1] Campan, Truta, Miller, Sinca, "A clustering approach for achieving data privacy", DMIN 2007.
    """

    name = "greedy-pk-clustering"
    reference = "Campan, Truta, Miller, Sinca 2007, A clustering approach for achieving data privacy, DMIN"

    def cluster(self, space: RecordSpace, least: int, task: TableRequest) -> Labels:  # noqa: ARG002 - the demand knows the size
        """Grow clusters with new levels first, then new values, then anyone."""
        demand = class_requirements(task)
        rule = AdmissionRule(0.0, 1.0, [0.0] * demand.level_count, BASE, boxes=True)
        rows = np.arange(task.table.rows)
        return grow_classes(space, rows, demand, rule, progress=partial(report_clustered, task))
