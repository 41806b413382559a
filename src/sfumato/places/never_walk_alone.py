"""Never Walk Alone: cluster ways that run alike, and move their points together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.exceptions import InfeasibleError
from sfumato.kinds.search import KindRequest, KindSearch
from sfumato.places.cells import SECOND
from sfumato.places.earth import Area
from sfumato.places.interpolating import Places, places_at, spans
from sfumato.places.k_delta import KDelta
from sfumato.places.pivots import MeanDistances, cluster_most
from sfumato.places.publishing import COORDINATE_STEP, published_ways
from sfumato.places.required import refuse_lone_or_unknown
from sfumato.places.trajectories import Points, Trajectories
from sfumato.validation import is_number, require

Integers = npt.NDArray[np.int64]
ROUND = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400)  # seconds
KEPT = 0.9  # of the time of ways that the best span keeps, at least


@dataclass(frozen=True, kw_only=True, repr=False)
class NeverWalkAlone(KindSearch[Trajectories]):
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
    serves: ClassVar = (KDelta,)
    draws = True

    span: float | None = None
    every: float | None = None
    radius: float | None = None
    trash: float = 0.1

    def __post_init__(self) -> None:
        for name in ("span", "every"):
            given = getattr(self, name)
            good = given is None or (is_number(given) and given >= 1)
            require(good, self, name, "a number of seconds, at least 1", given)
        good = self.radius is None or (is_number(self.radius) and self.radius > 0)
        require(good, self, "radius", "a number of meters above 0", self.radius)
        require(
            is_number(self.trash) and 0 <= self.trash < 1, self, "trash", "a share from 0 to less than 1", self.trash
        )

    def find(self, request: KindRequest[Trajectories]) -> Trajectories:
        """Return clusters of ways that keep together."""
        ways, k, delta = request.data, self._k(request), self._delta(request)
        refuse_lone_or_unknown(ways.points, k)
        parts, step = [], int((self.every or usual_step(ways.points)) * SECOND)
        for begin, end, members in classes_of(ways.points, int((self.span or usual_span(ways.points, k)) * SECOND)):
            moments = np.unique(np.append(np.arange(begin, end, step), end))
            places = places_at(ways.points, members, moments, ways.area)
            owner, radius = ways.points.owner[members], self._first_radius(ways.area)
            label, pivots = cluster_most(MeanDistances(places), owner, k, radius=radius, trash=self.trash)
            for cluster in range(len(pivots)):
                inside = label == cluster
                middle = places[inside].mean(axis=0)
                parts.append((members[inside], moments, kept_together(places[inside], middle, delta)))
            request.progress(min(0.9, sum(len(each) for each, _, _ in parts) / len(ways)), "clustering")
        if not parts:
            raise InfeasibleError(
                f"No {k:,} persons have ways over the same span; cut ways to other spans by span=, or ask for less."
            )
        return published_ways(ways, parts, request.stream)

    def _k(self, request: KindRequest[Trajectories]) -> int:
        return max(model.k for model in request.models if isinstance(model, KDelta))

    def _delta(self, request: KindRequest[Trajectories]) -> float:
        """Return the distance to keep: a little less than promised, because published places are rounded."""
        delta = min(model.delta for model in request.models if isinstance(model, KDelta))
        return max(0.0, float(delta) - 2 * COORDINATE_STEP)

    def _first_radius(self, area: Area) -> float:
        return self.radius or max(area.width, area.height) / 10


def kept_together(places: Places, middle: Places, delta: float) -> Places:
    """Move points that are farther than half of delta from the middle of their cluster onto the circle around it.

    >>> places = np.array([[[0.0, 0.0]], [[6.0, 0.0]], [[0.0, 9.0]]])
    >>> kept_together(places, places.mean(axis=0), 4.0)[:, 0].round(6).tolist()
    [[0.8906, 1.335899], [3.6, 1.8], [1.367544, 4.897367]]
    """
    away = places - middle
    far = np.hypot(away[..., 0], away[..., 1])
    share = np.divide(delta / 2, far, out=np.ones_like(far), where=far > delta / 2)
    return np.asarray(middle + away * share[..., None], dtype=np.float64)


def classes_of(points: Points, step: int) -> list[tuple[int, int, Integers]]:
    """Cut ways to multiples of a step, and return those of every span; ways shorter than a step have none."""
    begins, ends = spans(points)
    begins, ends = -(-begins // step) * step, ends // step * step
    usable = np.flatnonzero(ends > begins)
    pairs = np.column_stack([begins, ends])[usable]
    different, label = np.unique(pairs, axis=0, return_inverse=True)
    order = np.argsort(label.ravel(), kind="stable")
    members = np.split(usable[order], np.cumsum(np.bincount(label.ravel(), minlength=len(different)))[:-1])
    return [(int(begin), int(end), each) for (begin, end), each in zip(different, members, strict=False)]


def usual_span(points: Points, k: int) -> float:
    """Return the longest round number of seconds that costs little of the time of ways with k persons of one span."""
    kept = [
        sum(
            (end - begin) / SECOND * len(members)
            for begin, end, members in classes_of(points, seconds * SECOND)
            if len(np.unique(points.owner[members])) >= k
        )
        for seconds in ROUND
    ]
    return float(max(seconds for seconds, each in zip(ROUND, kept, strict=True) if each >= KEPT * max(kept)))


def usual_step(points: Points) -> float:
    """Return the round number of seconds that is next above the median time between two points of a way."""
    steps = np.delete(np.diff(points.times), points.offsets[1:-1] - 1)
    return float(ROUND[min(np.searchsorted(ROUND, np.median(steps) / SECOND), len(ROUND) - 1)]) if len(steps) else 1.0
