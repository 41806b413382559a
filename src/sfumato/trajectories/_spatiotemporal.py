"""Cells of a grid, and bins of time: points as coarse as an adversary knows them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, require
from sfumato.errors import SchemaError
from sfumato.trajectories.geometry import Area, Floats
from sfumato.trajectories.grids import PublicCells
from sfumato.trajectories.trajectories import Points, Trajectories

Integers = npt.NDArray[np.int64]

SECOND = 1_000_000  # microseconds


def discretize_points(
    ways: Trajectories, *, meters: float, seconds: float, cells: PublicCells | None = None
) -> Integers:
    """Give a number to the cell and bin of time of every point; points with the same number look alike.

    Where only the names of places are known, a place is a cell.
    """
    require(is_finite_number(seconds) and seconds > 0, "places", "seconds", "a number above 0", seconds)
    bins = ways.points.times // int(seconds * SECOND)
    return label_pairs(spatial_cells(ways, meters, cells), bins - bins.min())


def spatial_cells(ways: Trajectories, meters: float, cells: PublicCells | None = None) -> Integers:
    """Give a number to the square of every point in a grid of so many meters, or to its place if only that is known.

    If there are cells of a public area, their numbers are given instead.
    """
    require(is_finite_number(meters) and meters > 0, "places", "meters", "a number above 0", meters)
    points: Points = ways.points
    if cells is not None:
        require(isinstance(cells, PublicCells), "places", "cells", "SquareGrid or HexagonGrid", type(cells).__name__)
        if not points.has_coordinates:
            raise SchemaError("The ways have no coordinates; leave out cells, and their places are known by name.")
        return cells.encode(points.longitudes, points.latitudes)
    if not points.has_coordinates:
        assert points.places is not None  # noqa: S101 - one of both is known
        return points.places
    x, y = ways.area.to_plane(points.longitudes, points.latitudes)
    return label_pairs((x // meters).astype(np.int64), (y // meters).astype(np.int64))


def label_pairs(first: Integers, second: Integers) -> Integers:
    """Give numbers from 0 on to the different pairs of two columns of numbers."""
    from sfumato.core._kernels.grouping import group_columns

    widths = [int(each.max(initial=0)) + 1 for each in (first, second)]
    return group_columns([first, second], widths).labels.astype(np.int64)


# Where persons are between their points: on the straight line, at an even speed.
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
