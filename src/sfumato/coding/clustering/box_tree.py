"""Trees of boxes around points: their memory layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.coding.clustering.box_growing import TreeAxes
from sfumato.coding.clustering.points import Floats, Ints

Arrays = tuple[npt.NDArray[Any], ...]


@dataclass(frozen=True, eq=False)
class BoxTree:
    """Points cut in two until parts are small, with boxes around them that shrink when points are taken.

    `spots` and `nodes` are described at `sfumato.coding.kernels.box_trees`. `shape` has the number of the taxonomy of
    every axis (-1: a line), whether costs of axes are squared, and the middle of all points. `waiting` is room for
    questions. `places` are the coordinates of spots by their number (spot by axis).
    """

    places: Floats
    spots: Arrays
    nodes: Arrays
    shape: tuple[Ints, Ints, Floats]
    trees: TreeAxes
    waiting: tuple[Ints, Floats, Floats]

    @classmethod
    def from_points(cls, places: Floats, taxonomies: Ints, trees: TreeAxes, *, squared: bool) -> BoxTree:
        """Build the tree of points (point by axis); on a taxonomy, places are leaves in their order."""
        from sfumato.coding.kernels import box_trees as kernel

        order, lines = np.arange(len(places)), taxonomies < 0
        shape = taxonomies, np.array([squared], dtype=np.int64), np.where(lines, places.mean(axis=0), 0.0)
        second, above, begin, end, depth = kernel.cut_points(places, shape, trees.arrays, order)
        fresh = np.zeros(len(places), dtype=np.bool_)
        fresh[begin] = True
        for column in places.T:
            line = column[order]
            fresh[1:] |= line[1:] != line[:-1]
        starts = np.flatnonzero(fresh)
        ends, numbers = np.append(starts[1:], len(places)), np.arange(len(starts))
        chosen = places[order[starts]]
        away = np.where(lines, chosen - shape[2], 0.0)
        axes = np.zeros(
            (len(taxonomies) + 1, max(2, len(chosen))), order="F"
        )  # loops are compiled for this order alone
        axes[:-1, : len(chosen)] = chosen.T
        axes[-1, : len(chosen)] = (away * away if squared else np.abs(away)).sum(axis=1)
        spots = axes, ends, ends - starts, order, numbers, numbers.copy(), np.zeros_like(numbers)
        first, last = np.searchsorted(starts, begin), np.searchsorted(starts, end)
        boxes = np.empty((2, len(second), len(axes)))
        nodes = second, above, first, last, boxes[0], boxes[1], np.full(len(second), -1, dtype=np.int64)
        kernel.fit_all(spots, nodes)
        waiting = np.zeros(depth + 2, dtype=np.int64), np.zeros(depth + 2), np.zeros(kernel.LEAF)
        return cls(chosen, spots, nodes, shape, trees, waiting)

    @property
    def point_spots(self) -> Ints:
        """The spot of every point."""
        found = np.empty(len(self.spots[3]), dtype=np.int64)
        found[self.spots[3]] = np.repeat(np.arange(len(self.spots[1])), np.diff(self.spots[1], prepend=0))
        return found

    def last_row(self, spot: int) -> int:
        """Return the last of the points that are equal to a spot."""
        return int(self.spots[3][self.spots[1][self.spots[5][spot]] - 1])

    def empty_box(self) -> Arrays:
        """Make room for a box: corners, heights on taxonomies, and prices of their leaves."""
        axes = len(self.shape[0])
        return np.zeros(axes), np.zeros(axes), np.zeros(axes, dtype=np.int64), np.zeros(int(self.trees.leaves.sum()))

    @property
    def arrays(self) -> tuple[Any, ...]:
        """All arrays, as compiled loops read them."""
        return self.spots, self.nodes, self.shape, self.trees.arrays, self.waiting
