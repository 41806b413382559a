"""Cells of a grid, and bins of time: points as coarse as an adversary knows them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.exceptions import SchemaError
from sfumato.places.public_places import PublicCells
from sfumato.places.trajectories import Points, Trajectories
from sfumato.validation import is_finite_number, require

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
        require(isinstance(cells, PublicCells), "places", "cells", "Squares or Hexagons", type(cells).__name__)
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
    from sfumato.coding.grouping import group_columns

    widths = [int(each.max(initial=0)) + 1 for each in (first, second)]
    return group_columns([first, second], widths).labels.astype(np.int64)
