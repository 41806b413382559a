"""Leave out visits that too few persons share, one kind of visit after the other, everywhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.core.algorithm import Algorithm, Request
from sfumato.errors import InfeasibleError
from sfumato.trajectories._publishing import assign_keys, select_points, whole_ways
from sfumato.trajectories._spatiotemporal import SECOND
from sfumato.trajectories._subsequences import count_subsequences
from sfumato.trajectories.models.trajectory_lkc_privacy import TrajectoryLKCPrivacy, encode_visits
from sfumato.trajectories.trajectories import Points, Trajectories

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, repr=False)
class LKCSuppression(Algorithm[Trajectories]):
    """Leave out the visit that is in most broken sequences for the fewest points, until none is broken [1]_.

    A visit is a place within a bin of time; it is left out of all ways. Only sequences whose shorter ones all keep the
    promise are looked at, for the others end with these. Published times are the beginnings of their bins. All trips of
    a person are published as one way.

    References
    ----------
    .. [1] Mohammed, Fung, Debbabi, "Walking in the crowd: anonymizing trajectory data for pattern analysis", CIKM 2009.
       https://doi.org/10.1145/1645953.1646140
    """

    name = "suppress-visits"
    reference = "Mohammed, Fung, Debbabi 2009, https://doi.org/10.1145/1645953.1646140"
    supports: ClassVar = (TrajectoryLKCPrivacy,)
    uses_secret = True

    def search(self, request: Request[Trajectories]) -> Trajectories:
        """Return ways without the visits that break a promise."""
        points = whole_ways(request.data.points)
        models = [model for model in request.models if isinstance(model, TrajectoryLKCPrivacy)]
        if points.n_individuals < max(model.k for model in models):
            raise InfeasibleError(f"There are {points.n_individuals:,} persons, fewer than k; ask for less.")
        kept = points = _discretize(points, min(model.seconds for model in models))
        for model in models:
            for size in range(1, model.l + 1):
                kept = select_points(kept, ~points_to_suppress(kept, model, size))
                if not len(kept):
                    raise InfeasibleError("No visit is left that enough persons share; ask for less.")
                request.progress(min(0.9, 1 - len(kept) / len(points)), "leaving out visits")
        return assign_keys(kept, request.stream)


def _discretize(points: Points, seconds: float) -> Points:
    """Return points at the beginnings of their bins of time; visits that repeat within a bin are one."""
    encode_visits(points, seconds)
    step = int(seconds * SECOND)
    times = points.times // step * step
    assert points.places is not None  # noqa: S101 - visits looked
    order = np.lexsort((points.places, times, points.trajectory))
    moved = replace(points, times=times[order], places=points.places[order])
    again = (np.diff(moved.trajectory) == 0) & (np.diff(moved.times) == 0) & (np.diff(points.places[order]) == 0)
    nowhere = np.full(len(points), np.nan)
    return select_points(replace(moved, longitudes=nowhere, latitudes=nowhere), np.append(True, ~again))


def points_to_suppress(points: Points, model: TrajectoryLKCPrivacy, size: int) -> Flags:
    """Return the points of visits to leave out, so that no sequence of a size is broken.

    Sequences without a visit stay as they are once it is left out, so all are counted only once.
    """
    visit = encode_visits(points, model.seconds)
    gone = np.zeros(int(visit.max()) + 1, dtype=np.bool_)
    sized = list(count_subsequences(visit, points.offsets, points.individual_of, size))
    if len(sized) < size:
        return gone[visit]
    broken = np.sort(sized[-1].sequences[model.violations(sized[-1], points)], axis=1)
    cost = np.bincount(visit)
    while len(broken):
        inside = np.bincount(broken[:, 0], minlength=len(gone))
        for column in range(1, size):
            again = broken[:, column] == broken[:, column - 1]
            inside += np.bincount(broken[~again, column], minlength=len(gone))
        worst = int((inside / cost).argmax())
        gone[worst] = True
        broken = broken[(broken != worst).all(axis=1)]
    return gone[visit]
