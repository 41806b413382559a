"""Wait For Me: cluster ways that take a similar course, and let all of a cluster follow its pivot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, require
from sfumato.core.algorithm import Algorithm, Request
from sfumato.errors import InfeasibleError
from sfumato.trajectories._publishing import COORDINATE_STEP, publish_clusters
from sfumato.trajectories._spatiotemporal import SECOND, Places, positions_at
from sfumato.trajectories.algorithms._pivot_clustering import cluster_with_trash_limit
from sfumato.trajectories.algorithms.never_walk_alone import translate_into_cylinder
from sfumato.trajectories.models._base import check_timed_individuals
from sfumato.trajectories.models.k_delta_anonymity import KDeltaAnonymity
from sfumato.trajectories.trajectories import Trajectories

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
FIRST_RADIUS = 0.4  # of the points of a way and its pivot, the share that may be created or deleted at first
MAX_CACHED = 32_000_000  # distances that are kept while the radius grows


@dataclass(frozen=True, kw_only=True, repr=False)
class WaitForMe(Algorithm[Trajectories]):
    """Cluster ways by an edit distance, and let the ways of a cluster follow its pivot in space and time [1]_.

    Ways need not span the same time. Each way is turned into its pivot by matching points in order, at most `meters`
    and `seconds` apart, by deleting its own points that match none, and by creating points where those of the pivot
    match none. Matched points take the pivot's moments; created ones are where the person was at that moment, or at
    her nearest end. Points farther than half of delta from the mean of the matched ones go onto the circle around it.

    The distance is the share of points that are created or deleted, and a match counts, too: from nothing at the same
    place to both points at `meters`. This is the edit distance on real sequences of the paper, with a tolerance that
    fades in place of one that ends, so that of two ways within it the nearer one is preferred, and with a replacement
    as what it is here, a deletion and a creation. Ways that match nowhere are never put together.

    Clusters are found as by `NeverWalkAlone`; if more than `trash` of the ways are left out, more points may be created
    and deleted.

    Parameters
    ----------
    meters : how far points that match may be apart; by default a fifth of the area's larger side.
    seconds : how much time may be between them.
    trash : the share of ways that may be left out.

    References
    ----------
    .. [1] Abul, Bonchi, Nanni, "Anonymization of moving objects databases by clustering and perturbation", Information
       Systems 35(8), 2010. https://doi.org/10.1016/j.is.2010.05.003
    """

    name = "wait-for-me"
    reference = "Abul, Bonchi, Nanni 2010, https://doi.org/10.1016/j.is.2010.05.003"
    supports: ClassVar = (KDeltaAnonymity,)
    uses_secret = True

    meters: float | None = None
    seconds: float = 7200.0
    trash: float = 0.1

    def __post_init__(self) -> None:
        good = self.meters is None or (is_finite_number(self.meters) and self.meters > 0)
        require(good, self, "meters", "a number of meters above 0", self.meters)
        require(
            is_finite_number(self.seconds) and self.seconds >= 0,
            self,
            "seconds",
            "a number of at least 0",
            self.seconds,
        )
        share = is_finite_number(self.trash) and 0 <= self.trash < 1
        require(share, self, "trash", "a share from 0 to less than 1", self.trash)

    def search(self, request: Request[Trajectories]) -> Trajectories:
        """Return clusters of ways that follow their pivots."""
        ways, points = request.data, request.data.points
        models = [model for model in request.models if isinstance(model, KDeltaAnonymity)]
        k, delta = max(model.k for model in models), float(min(model.delta for model in models))
        check_timed_individuals(points, k)
        edits = EditDistances(
            ways, self.meters or max(ways.area.width, ways.area.height) / 5, int(self.seconds * SECOND)
        )
        label, pivots = cluster_with_trash_limit(edits, points.individual_of, k, radius=FIRST_RADIUS, trash=self.trash)
        if not len(pivots):
            raise InfeasibleError(
                f"No {k:,} persons have ways that match anywhere; allow for more by meters= or seconds=, or ask for "
                "less."
            )
        parts = []
        for cluster, pivot in enumerate(pivots.tolist()):
            members = np.flatnonzero(label == cluster)
            places = edits.translate_to_pivot(members, pivot, max(0.0, delta - 2 * COORDINATE_STEP))
            parts.append((members, edits.moments(pivot), places))
            request.progress(0.5 + 0.4 * len(parts) / len(pivots), "following pivots")
        return publish_clusters(ways, parts, request.stream)


class EditDistances:
    """What it takes to turn ways into each other: their edit distances, and the points that match."""

    max_radius = 1.0

    def __init__(self, ways: Trajectories, meters: float, window: int) -> None:
        self.points, self.area, self.meters, self.window = ways.points, ways.area, meters, window
        self.distances_to = lru_cache(maxsize=max(1, MAX_CACHED // len(ways)))(self._distances_to)

    @cached_property
    def places(self) -> Floats:
        """Where all points are, in the widest plane of the area."""
        x, y = self.area.to_plane(self.points.longitudes, self.points.latitudes, widest=True)
        return np.ascontiguousarray(np.column_stack([x, y]))

    @property
    def first_pivot(self) -> int:
        """The way that is farthest from the first one; of those that match it nowhere, the first."""
        return int(np.argmax(self.distances_to(0)))

    def _distances_to(self, pivot: int) -> Floats:
        """Return the distance of every way from one; that of ways that match it nowhere is infinite."""
        from sfumato.trajectories._kernels import edit_distances

        found = edit_distances(self.places, self.points.times, self.points.offsets, pivot, self.meters, self.window)
        return np.where(found < self.max_radius, found, np.inf)

    def moments(self, way: int) -> Integers:
        """Return the moments of a way."""
        return self.points.times[self.points.offsets[way] : self.points.offsets[way + 1]]

    def translate_to_pivot(self, members: Integers, pivot: int, delta: float) -> Places:
        """Return where the ways of a cluster are at the moments of their pivot, any two at most delta apart."""
        from sfumato.trajectories._kernels import match_points

        times, offsets = self.points.times, self.points.offsets
        own = offsets[pivot : pivot + 2]
        found = np.stack(
            [match_points(self.places, times, offsets[way : way + 2], own, self.meters, self.window) for way in members]
        )
        matched = (found >= 0)[..., None]
        there = np.where(
            matched, self.places[found], positions_at(self.points, members, self.moments(pivot), self.area)
        )
        middle = np.where(matched, there, 0.0).sum(axis=0) / matched.sum(axis=0)
        return translate_into_cylinder(there, middle, delta)
