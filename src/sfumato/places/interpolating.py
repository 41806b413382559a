"""Where persons are between their points: on the straight line, at an even speed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.places.earth import Area, Floats
from sfumato.places.trajectories import Points

Integers = npt.NDArray[np.int64]
Places = npt.NDArray[np.float64]  # ways by moments by two, in meters


def time_spans(points: Points) -> tuple[Integers, Integers]:
    """Return the first and the last moment of every way."""
    return points.times[points.offsets[:-1]], points.times[points.offsets[1:] - 1]


def positions_at(points: Points, ways: Sequence[int] | Integers, moments: Integers, area: Area) -> Places:
    """Return where some ways are at some moments inside their spans, in the widest plane of an area."""
    x, y = area.to_plane(points.longitudes, points.latitudes, widest=True)
    found = np.empty((len(ways), len(moments), 2))
    for number, way in enumerate(ways):
        own = slice(points.offsets[way], points.offsets[way + 1])
        elapsed = (points.times[own] - moments[0]).astype(np.float64)
        asked = (moments - moments[0]).astype(np.float64)
        found[number, :, 0] = np.interp(asked, elapsed, x[own])
        found[number, :, 1] = np.interp(asked, elapsed, y[own])
    return found


def max_pairwise_distance(places: Places) -> float:
    """Return the largest distance of any two ways at any moment, in meters.

    Between two moments at which both have points their distance is convex, so these moments decide.
    """
    most = 0.0
    for number in range(len(places) - 1):
        apart = places[number + 1 :] - places[number]
        most = max(most, float(np.einsum("wmc,wmc->wm", apart, apart).max(initial=0.0)))
    return float(np.sqrt(most))


def mean_distances(places: Places, pivot: Places) -> Floats:
    """Return the mean distance of every way from one, over all moments."""
    apart = places - pivot
    return np.asarray(np.sqrt(np.einsum("wmc,wmc->wm", apart, apart)).mean(axis=1), dtype=np.float64)
