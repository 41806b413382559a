"""(k, delta)-anonymity: ways run together in clusters of k persons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Model, Verdict
from sfumato.errors import SchemaError
from sfumato.trajectories._spatiotemporal import max_pairwise_distance, positions_at, time_spans
from sfumato.trajectories.models._base import require_points
from sfumato.trajectories.models._individuals import individuals_per_label
from sfumato.trajectories.trajectories import Integers, Points, Trajectories


@dataclass(frozen=True, kw_only=True, repr=False)
class KDeltaAnonymity(Model[Trajectories]):
    r"""Require ways in clusters of at least k persons who are never more than delta apart [1]_.

    The ways of a cluster begin and end at the same moments, and at every moment between, any two are within delta
    meters, everybody moving straight between points. The moments of all of them are looked at, so ways that share no
    moment are compared, too.

    The promise is weak for large delta: ways that were close together already are not moved at all, and a few known
    points single their owners out as before. Only with delta 0 is it k-anonymity of ways. The report shows unicity
    before and after.

    A cluster hides each way. If somebody has several, each is published with a key of its own, and a cluster holds no
    two of hers. Ways that are joined by one key are judged together: the persons count who are in all her clusters.

    Parameters
    ----------
    k : the least number of different persons in a cluster.
    delta : the largest distance of two of them, in meters.

    References
    ----------
    .. [1] Abul, Bonchi, Nanni, "Never walk alone: uncertainty for anonymity in moving objects databases", ICDE 2008.
       https://doi.org/10.1109/ICDE.2008.4497446
    """

    name = "k-delta"
    reference = "Abul, Bonchi, Nanni 2008, https://doi.org/10.1109/ICDE.2008.4497446"
    bound = "min"
    stricter: ClassVar = {"k": "larger", "delta": "smaller"}
    unit = "clusters"
    words = ModelDescription(
        title="(k, delta)-anonymity",
        level="persons in the smallest cluster that keeps together",
        promise="Every way runs within {delta} m of those of at least {others}, from its first moment to its last.",
        stops="Following: telling who of a cluster a rough track belongs to.",
        open="A few known points can still single somebody out: ways that were within delta anyway are not moved.",
    )

    k: int
    delta: float

    def __post_init__(self) -> None:
        require(is_integer(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)
        require(
            is_finite_number(self.delta) and self.delta >= 0,
            self,
            "delta",
            "a number of meters, at least 0",
            self.delta,
        )

    @property
    def limit(self) -> float:
        """The least number of persons."""
        return self.k

    def evaluate(self, published: Trajectories) -> Verdict:
        """Count the persons who are in all clusters of each person in a cluster; one that runs apart has one."""
        points = require_points(published, self.name)
        if points.clusters is None:
            raise SchemaError("The ways are in no clusters; name the column of clusters with cluster=.")
        if not points.has_coordinates:
            raise SchemaError("The ways have no coordinates; (k, delta)-anonymity is about distances.")
        label = np.unique(points.clusters, return_inverse=True)[1].ravel()
        shared = individuals_per_label(label, points.individual_of)
        order = np.argsort(label, kind="stable")
        for cluster, members in enumerate(np.split(order, np.cumsum(np.bincount(label))[:-1])):
            if not self._colocalized(published, members):
                shared[cluster] = 1
        return Verdict(self, float(shared.min()), int((shared < self.k).sum()))

    def _colocalized(self, ways: Trajectories, members: Integers) -> bool:
        """Return whether the ways of a cluster span the same time and are never more than delta apart."""
        points: Points = ways.points
        begins, ends = (side[members] for side in time_spans(points))
        if len(np.unique(begins)) > 1 or len(np.unique(ends)) > 1:
            return False
        moments = np.unique(np.concatenate([_timestamps(points, int(way)) for way in members]))
        return max_pairwise_distance(positions_at(points, members, moments, ways.area)) <= self.delta


def _timestamps(points: Points, way: int) -> Integers:
    return points.times[points.offsets[way] : points.offsets[way + 1]]
