"""Leave out visits that too few persons share, one kind of visit after the other, everywhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.coding.sequences import selections
from sfumato.exceptions import InfeasibleError
from sfumato.kinds.search import KindRequest, KindSearch
from sfumato.places.cells import SECOND
from sfumato.places.lkc_ways import LKC, visits
from sfumato.places.publishing import only_points, renumbered, whole_ways
from sfumato.places.trajectories import Points, Trajectories

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, repr=False)
class SuppressVisits(KindSearch[Trajectories]):
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
    serves: ClassVar = (LKC,)
    draws = True

    def find(self, request: KindRequest[Trajectories]) -> Trajectories:
        """Return ways without the visits that break a promise."""
        points = whole_ways(request.data.points)
        models = [model for model in request.models if isinstance(model, LKC)]
        if points.persons < max(model.k for model in models):
            raise InfeasibleError(f"There are {points.persons:,} persons, fewer than k; ask for less.")
        kept = points = _in_bins(points, min(model.seconds for model in models))
        for model in models:
            for size in range(1, model.l + 1):
                kept = only_points(kept, ~left_out(kept, model, size))
                if not len(kept):
                    raise InfeasibleError("No visit is left that enough persons share; ask for less.")
                request.progress(min(0.9, 1 - len(kept) / len(points)), "leaving out visits")
        return renumbered(kept, request.stream)


def _in_bins(points: Points, seconds: float) -> Points:
    """Return points at the beginnings of their bins of time; visits that repeat within a bin are one."""
    visits(points, seconds)
    step = int(seconds * SECOND)
    times = points.times // step * step
    assert points.places is not None  # noqa: S101 - visits looked
    order = np.lexsort((points.places, times, points.way))
    moved = replace(points, times=times[order], places=points.places[order])
    again = (np.diff(moved.way) == 0) & (np.diff(moved.times) == 0) & (np.diff(points.places[order]) == 0)
    nowhere = np.full(len(points), np.nan)
    return only_points(replace(moved, longitudes=nowhere, latitudes=nowhere), np.append(True, ~again))


def left_out(points: Points, model: LKC, size: int) -> Flags:
    """Return the points of visits to leave out, so that no sequence of a size is broken.

    Sequences without a visit stay as they are once it is left out, so all are counted only once.
    """
    visit = visits(points, model.seconds)
    gone = np.zeros(int(visit.max()) + 1, dtype=np.bool_)
    sized = list(selections(visit, points.offsets, points.owner, size))
    if len(sized) < size:
        return gone[visit]
    broken = np.sort(sized[-1].sequences[model.broken(sized[-1], points)], axis=1)
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
