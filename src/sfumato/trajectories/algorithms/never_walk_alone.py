"""Never Walk Alone: cluster ways that run alike, and move their points together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, require
from sfumato.core.algorithm import Algorithm, Request
from sfumato.errors import InfeasibleError
from sfumato.trajectories._publishing import COORDINATE_STEP, publish_clusters
from sfumato.trajectories._spatiotemporal import SECOND, Places, positions_at, time_spans
from sfumato.trajectories.algorithms._pivot_clustering import MeanEuclideanDistances, cluster_with_trash_limit
from sfumato.trajectories.geometry import Area
from sfumato.trajectories.models._base import check_timed_individuals
from sfumato.trajectories.models.k_delta_anonymity import KDeltaAnonymity
from sfumato.trajectories.trajectories import Points, Trajectories

Integers = npt.NDArray[np.int64]
ROUND_SECONDS = (
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    10_800,
    21_600,
    43_200,
    86_400,
)  # seconds
MIN_COVERED = 0.9  # of the time of ways that the best span keeps, at least


@dataclass(frozen=True, kw_only=True, repr=False)
class NeverWalkAlone(Algorithm[Trajectories]):
    """Cluster ways around pivots, and move the points of a cluster onto a circle where they are too far apart [1]_.

    Ways are cut to spans that begin and end at full steps of `span`, and only ways of the same span are put together.
    Each pivot is the way farthest from all pivots before it, with the nearest k - 1 other persons within `radius`; the
    rest joins the nearest pivot within `radius`, or is left out. If more than `trash` of the ways are left out, the
    radius grows by half.

    Parameters
    ----------
    span : ways begin and end at multiples of so many seconds; by default the longest round time that costs at most a
        tenth of what the best one keeps of all ways together.
    every : where persons are is published every so many seconds; by default the round time that is next above the
        median one between two points of a way.
    radius : how far from its pivot a way may run on average, in meters, at first; by default a tenth of the area's
        larger side.
    trash : the share of ways that may be left out.

    References
    ----------
    .. [1] Abul, Bonchi, Nanni, "Never walk alone: uncertainty for anonymity in moving objects databases", ICDE 2008.
       https://doi.org/10.1109/ICDE.2008.4497446
    """

    name = "never-walk-alone"
    reference = "Abul, Bonchi, Nanni 2008, https://doi.org/10.1109/ICDE.2008.4497446"
    supports: ClassVar = (KDeltaAnonymity,)
    uses_secret = True

    span: float | None = None
    every: float | None = None
    radius: float | None = None
    trash: float = 0.1

    def __post_init__(self) -> None:
        for name in ("span", "every"):
            given = getattr(self, name)
            good = given is None or (is_finite_number(given) and given >= 1)
            require(good, self, name, "a number of seconds, at least 1", given)
        good = self.radius is None or (is_finite_number(self.radius) and self.radius > 0)
        require(good, self, "radius", "a number of meters above 0", self.radius)
        require(
            is_finite_number(self.trash) and 0 <= self.trash < 1,
            self,
            "trash",
            "a share from 0 to less than 1",
            self.trash,
        )

    def search(self, request: Request[Trajectories]) -> Trajectories:
        """Return clusters of ways that keep together."""
        ways, k, delta = request.data, self._k(request), self._delta(request)
        check_timed_individuals(ways.points, k)
        parts, step = [], int((self.every or choose_step(ways.points)) * SECOND)
        for begin, end, members in time_span_classes(
            ways.points, int((self.span or choose_span(ways.points, k)) * SECOND)
        ):
            moments = np.unique(np.append(np.arange(begin, end, step), end))
            places = positions_at(ways.points, members, moments, ways.area)
            owner, radius = ways.points.individual_of[members], self._first_radius(ways.area)
            label, pivots = cluster_with_trash_limit(
                MeanEuclideanDistances(places), owner, k, radius=radius, trash=self.trash
            )
            for cluster in range(len(pivots)):
                inside = label == cluster
                middle = places[inside].mean(axis=0)
                parts.append((members[inside], moments, translate_into_cylinder(places[inside], middle, delta)))
            request.progress(min(0.9, sum(len(each) for each, _, _ in parts) / len(ways)), "clustering")
        if not parts:
            raise InfeasibleError(
                f"No {k:,} persons have ways over the same span; cut ways to other spans by span=, or ask for less."
            )
        return publish_clusters(ways, parts, request.stream)

    def _k(self, request: Request[Trajectories]) -> int:
        return max(model.k for model in request.models if isinstance(model, KDeltaAnonymity))

    def _delta(self, request: Request[Trajectories]) -> float:
        """Return the distance to keep: a little less than promised, because published places are rounded."""
        delta = min(model.delta for model in request.models if isinstance(model, KDeltaAnonymity))
        return max(0.0, float(delta) - 2 * COORDINATE_STEP)

    def _first_radius(self, area: Area) -> float:
        return self.radius or max(area.width, area.height) / 10


def translate_into_cylinder(places: Places, middle: Places, delta: float) -> Places:
    """Move points that are farther than half of delta from the middle of their cluster onto the circle around it.

    >>> places = np.array([[[0.0, 0.0]], [[6.0, 0.0]], [[0.0, 9.0]]])
    >>> translate_into_cylinder(places, places.mean(axis=0), 4.0)[:, 0].round(6).tolist()
    [[0.8906, 1.335899], [3.6, 1.8], [1.367544, 4.897367]]
    """
    away = places - middle
    far = np.hypot(away[..., 0], away[..., 1])
    share = np.divide(delta / 2, far, out=np.ones_like(far), where=far > delta / 2)
    return np.asarray(middle + away * share[..., None], dtype=np.float64)


def time_span_classes(points: Points, step: int) -> list[tuple[int, int, Integers]]:
    """Cut ways to multiples of a step, and return those of every span; ways shorter than a step have none."""
    begins, ends = time_spans(points)
    begins, ends = -(-begins // step) * step, ends // step * step
    usable = np.flatnonzero(ends > begins)
    pairs = np.column_stack([begins, ends])[usable]
    different, label = np.unique(pairs, axis=0, return_inverse=True)
    order = np.argsort(label.ravel(), kind="stable")
    members = np.split(usable[order], np.cumsum(np.bincount(label.ravel(), minlength=len(different)))[:-1])
    return [(int(begin), int(end), each) for (begin, end), each in zip(different, members, strict=False)]


def choose_span(points: Points, k: int) -> float:
    """Return the longest round number of seconds that costs little of the time of ways with k persons of one span."""
    kept = [
        sum(
            (end - begin) / SECOND * len(members)
            for begin, end, members in time_span_classes(points, seconds * SECOND)
            if len(np.unique(points.individual_of[members])) >= k
        )
        for seconds in ROUND_SECONDS
    ]
    return float(
        max(seconds for seconds, each in zip(ROUND_SECONDS, kept, strict=True) if each >= MIN_COVERED * max(kept))
    )


def choose_step(points: Points) -> float:
    """Return the round number of seconds that is next above the median time between two points of a way."""
    steps = np.delete(np.diff(points.times), points.offsets[1:-1] - 1)
    return (
        float(ROUND_SECONDS[min(np.searchsorted(ROUND_SECONDS, np.median(steps) / SECOND), len(ROUND_SECONDS) - 1)])
        if len(steps)
        else 1.0
    )
