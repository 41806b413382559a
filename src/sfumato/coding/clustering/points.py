"""Points that are clustered by their squared distances: their memory layout, and the loops over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Labels = npt.NDArray[np.int32]
ProgressCallback = Callable[[float], None]

STEP = 2.0**-28  # places are rounded to multiples of this, so that their sums are exact in any order
CELLS_PER_CALL = 1 << 26  # that a compiled loop visits before it can be interrupted


@dataclass(frozen=True, eq=False)
class CodedAxes:
    """Axes of ranks and of trees.

    Axis j has `leaves[j]` codes. Ranks (`heights[j] == 0`) lie at `ranks`, from `places[j]` on, which carry their
    weight. A tree has `heights[j]` levels below its root; `nodes` is the node above every leaf, level by
    level from `starts[j]` on, and the squared distance of two leaves, the share of levels on which their nodes differ
    squared, is multiplied by `weights[j]`.
    """

    leaves: Ints
    heights: Ints
    starts: Ints
    places: Ints
    weights: Floats
    nodes: Codes
    ranks: Floats

    @property
    def arrays(self) -> tuple[npt.NDArray[np.generic], ...]:
        """All arrays, as compiled loops read them."""
        return self.leaves, self.heights, self.starts, self.places, self.weights, self.nodes, self.ranks


@dataclass(frozen=True, eq=False)
class Points:
    """Points on lines (`places`, axis by point, with weights in them) and on coded axes (`codes`, axis by point)."""

    places: Floats
    codes: Codes
    axes: CodedAxes

    def __len__(self) -> int:
        return int(self.places.shape[1])

    @property
    def by_row(self) -> tuple[Floats, Codes, Ints]:
        """All arrays in the order of rows, and where the codes of every axis begin."""
        return self.places, self.codes, self.axes.places

    @property
    def cells(self) -> int:
        """The number of coordinates."""
        return max(1, len(self.places) + len(self.codes)) * len(self)


class ClusteringState:
    """Copies of the points in no group that a loop reorders, and what it keeps between two calls."""

    def __init__(self, points: Points, label: Labels, groups: int) -> None:
        rows = np.flatnonzero(label < 0)
        self.points = points.places[:, rows].copy(), points.codes[:, rows].copy()
        self.coded = points.axes.arrays
        place_of = np.full(len(points), len(points))
        place_of[rows] = np.arange(len(rows))
        self.order = rows, place_of
        width = int(points.axes.leaves.sum())
        counts = np.zeros(width, dtype=np.int64)
        for place, column in zip(points.axes.places.tolist(), self.points[1], strict=True):
            counts[place:] += np.bincount(column, minlength=width - place)
        self.left = self.points[0].sum(axis=1), counts
        self.room = (
            np.zeros(len(rows)),
            np.zeros(width),
            np.zeros(len(points.places)),
            np.zeros(len(points.codes), dtype=np.int32),
        )
        self.state = np.array([len(rows), groups, 0], dtype=np.int64)

    @property
    def free(self) -> int:
        """The number of points in no group."""
        return int(self.state[0])

    def squared_distances_to_center(self) -> Floats:
        """Compute the squared distance of every point to their center."""
        from sfumato.coding.kernels import clustering as kernel

        kernel.find_center(*self.left, self.free, self.coded, self.room[2:])
        kernel.measure(self.points, self.coded, self.free, self.room[2:], self.room[1], self.room[0])
        return self.room[0]


def continue_mdav(points: Points, least: int, label: Labels, groups: int, tell: ProgressCallback) -> None:
    """Cluster points without a label by MDAV, with a look at every one of them at every step."""
    from sfumato.coding.kernels import clustering as kernel

    loop = ClusteringState(points, label, groups)
    while loop.free >= 2 * least:
        tell(1 - loop.free / len(points))
        rounds = _rounds_per_call(points, loop.free, 3)
        kernel.mdav(loop.points, loop.coded, loop.order, loop.left, loop.room, loop.state, least, rounds, label)
    label[label < 0] = loop.state[1]


def continue_v_mdav(
    points: Points, least: int, gamma: float, far_first: Ints, label: Labels, groups: int, tell: ProgressCallback
) -> None:
    """Cluster points without a label by V-MDAV, with a look at every one of them at every step."""
    from sfumato.coding.kernels import clustering as kernel

    loop = ClusteringState(points, label, groups)
    while loop.free >= least:
        tell(1 - loop.free / len(points))
        rounds = _rounds_per_call(points, loop.free, 4)
        kernel.v_mdav(
            loop.points,
            loop.coded,
            loop.order,
            loop.left,
            loop.room,
            loop.state,
            least,
            float(gamma),
            far_first,
            rounds,
            label,
        )


def find_nearest_points(points: Points, asked: Points, skipped: Ints, most: int = 1) -> tuple[Ints, Floats]:
    """Find the points nearest to each requested one, a row each, the first ones among equals; and squared distances.

    `skipped` names a point for each that comes last, infinitely far away, or is -1.
    """
    from sfumato.coding.kernels import clustering as kernel

    found = np.zeros((len(asked), min(most, len(points))), dtype=np.int64)
    apart = np.empty(found.shape)
    among, wanted = (points.places, points.codes), (asked.places, asked.codes)
    step = max(1, CELLS_PER_CALL // points.cells)
    for first in range(0, len(asked), step):
        last = min(first + step, len(asked))
        kernel.find_nearest_points(among, points.axes.arrays, wanted, skipped, first, last, found, apart)
    return found, apart


def _rounds_per_call(points: Points, free: int, scans: int) -> int:
    """Return how many rounds of some scans one call may do."""
    width = points.cells // len(points)
    return max(1, CELLS_PER_CALL // (scans * width * free))
