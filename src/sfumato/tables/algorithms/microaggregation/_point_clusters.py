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
        from sfumato.tables.algorithms.microaggregation._kernels import mdav as kernel

        kernel.find_center(*self.left, self.free, self.coded, self.room[2:])
        kernel.measure(self.points, self.coded, self.free, self.room[2:], self.room[1], self.room[0])
        return self.room[0]


def continue_mdav(points: Points, least: int, label: Labels, groups: int, tell: ProgressCallback) -> None:
    """Cluster points without a label by MDAV, with a look at every one of them at every step."""
    from sfumato.tables.algorithms.microaggregation._kernels import mdav as kernel

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
    from sfumato.tables.algorithms.microaggregation._kernels import mdav as kernel

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
    from sfumato.tables.algorithms.microaggregation._kernels import mdav as kernel

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


# Records from which groups grow: their memory layout, and the loops over them.


@dataclass(frozen=True, eq=False)
class TreeAxes:
    """Axes of trees.

    Tree j has `leaves[j]` leaves and `heights[j]` levels below its root; `nodes` is the node above every leaf,
    level by level from `starts[j]`. `places[j]` leaves are in the trees before. A box whose leaves lie under
    different nodes on h levels costs `costs[steps[j] + h]`.
    """

    leaves: Ints
    heights: Ints
    starts: Ints
    places: Ints
    steps: Ints
    nodes: Codes
    costs: Floats

    @property
    def arrays(self) -> tuple[npt.NDArray[np.generic], ...]:
        """All arrays, as compiled loops read them."""
        return self.leaves, self.heights, self.starts, self.places, self.steps, self.nodes, self.costs


@dataclass(frozen=True, eq=False)
class GrowthCandidates:
    """Distinct records on lines (`places`, weights in them) and trees (`codes`), and how often each occurs."""

    places: Floats
    codes: Codes
    counts: Ints
    trees: TreeAxes

    def __len__(self) -> int:
        return len(self.counts)


class GroupBoxes:
    """The boxes of groups, one row each: lower and upper corners on lines, heights and a leaf on trees."""

    def __init__(self, candidates: GrowthCandidates, least: int) -> None:
        groups = max(1, int(candidates.counts.sum()) // least)
        lines, coded = (groups, len(candidates.places)), (groups, len(candidates.codes))
        self.arrays = (
            np.zeros(lines),
            np.zeros(lines),
            np.zeros(coded, dtype=np.int64),
            np.zeros(coded, dtype=np.int64),
        )


@dataclass(frozen=True, eq=False)
class Growth:
    """Groups that have grown so far: the candidate that the last one started with, their number and boxes, and labels.

    Records are numbered candidate by candidate, and the first ones of a candidate are taken first.
    """

    start: int
    groups: int
    boxes: GroupBoxes
    label: Labels


def continue_growth(candidates: GrowthCandidates, least: int, growth: Growth, tell: ProgressCallback) -> None:
    """Grow groups of at least this many records from those without a label, with a look at each at every step."""
    from sfumato.tables.algorithms.microaggregation._kernels import k_member as kernel

    everyone, boxes, label = len(growth.label), growth.boxes.arrays, growth.label
    trees, prices = candidates.trees.arrays, np.zeros(int(candidates.trees.leaves.sum()))
    room = np.zeros(len(candidates)), np.zeros(len(candidates)), prices
    box = boxes[0][0].copy(), boxes[1][0].copy(), boxes[2][0].copy(), boxes[3][0].copy()
    kernel.open_box((candidates.places, candidates.codes), growth.start, trees, box, prices)
    counts = np.bincount(np.repeat(np.arange(len(candidates)), candidates.counts)[label < 0], minlength=len(candidates))
    rest = np.flatnonzero(counts)
    points = candidates.places[:, rest].copy(), candidates.codes[:, rest].copy()
    stock = counts[rest], rest, np.cumsum(candidates.counts)
    state = np.array([len(rest), counts.sum(), growth.groups], dtype=np.int64)
    kernel.measure_growth(points, trees, len(rest), box, prices, room[0])
    width = max(1, len(points[0]) + len(points[1]))
    while state[1] >= least:
        tell(1 - int(state[1]) / everyone)
        rounds = max(1, CELLS_PER_CALL // (4 * width * int(state[0])))
        kernel.grow_groups(points, trees, stock, room, boxes, state, least, rounds, label)
    sizes = np.full(len(boxes[0]), least, dtype=np.int64)
    kernel.assign_remaining(points, trees, stock, boxes, sizes, prices, int(state[0]), int(state[2]), label)
