"""V-MDAV: groups of records around those farthest from the center, of as many as lie close together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from sfumato._validation import is_finite_number, require
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.microaggregation._clustering import (
    ClusteringAlgorithm,
    assign_to_nearest,
    report_clustered,
)
from sfumato.tables.algorithms.microaggregation._point_clusters import Labels
from sfumato.tables.algorithms.microaggregation._space import RecordSpace, Scaling, to_points
from sfumato.tables.algorithms.microaggregation._tree_clusters import cluster_by_v_mdav


@dataclass(frozen=True, kw_only=True)
class VMDAV(ClusteringAlgorithm):
    r"""Group the record farthest from the center with its nearest ones, and with others that are closer still [1]_.

    While at least $k$ records are free, the one farthest from the center of *all* records and its $k - 1$ nearest
    form a group. Up to a size of $2k - 1$ the free record nearest to any member joins if that distance is less than
    $\gamma$ times its distance to the nearest other free record. Remaining records join the group with the nearest
    center. $k$ is the smallest size that any model allows; groups that break a model are then merged with ones nearby.
    Nothing is suppressed and nothing is random. Distances are those of `Mdav`, and so is the work.

    Parameters
    ----------
    weights : the weight of every attribute in a squared distance; 1 by default.
    publish : `"centers"` publishes means, middle ranks, medoids of taxonomies and most frequent values; `"ranges"`
        publishes intervals, nodes and sets that cover a group's values.
    gamma : how readily groups grow, at least 0; 0.2 suits scattered records, 1.1 records in clusters.
    scaling : `"deviation"` divides squared distances of every attribute by their mean to the center of all records,
        which turns numbers into z-scores; `"range"` divides differences by the range.

    References
    ----------
    .. [1] Solanas, Martínez-Ballesté, "V-MDAV: a multivariate microaggregation with variable group size",
       COMPSTAT 2006.
    """

    name = "v-mdav"
    reference = "Solanas, Martínez-Ballesté 2006, V-MDAV, COMPSTAT 2006"

    gamma: float = 0.2
    scaling: Scaling = "deviation"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(is_finite_number(self.gamma) and self.gamma >= 0, self, "gamma", "a number of at least 0", self.gamma)
        require(self.scaling in {"deviation", "range"}, self, "scaling", "'deviation' or 'range'", self.scaling)

    def cluster(self, space: RecordSpace, least: int, task: TableRequest) -> Labels:
        """Split the records into groups, and let the remaining ones join the nearest."""
        points = to_points(space, self.scaling)
        if len(points) < least:
            return np.zeros(len(points), dtype=np.int32)
        return assign_to_nearest(
            space, points, cluster_by_v_mdav(points, least, self.gamma, partial(report_clustered, task))
        )
