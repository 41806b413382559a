"""MDAV, V-MDAV and k-member: by questions to a tree of boxes while these are cheap, otherwise by looks at every record.

Both ways give the same groups, so one can go on where the other stopped. `trees_from` is the number of records (for
k-member, of distinct ones) from which on a tree is built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.tables.algorithms.microaggregation._point_clusters import (
    ClusteringState,
    Floats,
    GroupBoxes,
    Growth,
    GrowthCandidates,
    Ints,
    Labels,
    Points,
    ProgressCallback,
    TreeAxes,
    continue_growth,
    continue_mdav,
    continue_v_mdav,
)

# Trees of boxes around points: their memory layout.

Arrays = tuple[npt.NDArray[Any], ...]


@dataclass(frozen=True, eq=False)
class BoxTree:
    """Points cut in two until parts are small, with boxes around them that shrink when points are taken.

    `spots` and `nodes` are described at `sfumato.tables.algorithms.microaggregation._kernels.box_trees`. `shape` has
    the number of the taxonomy of
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
        from sfumato.tables.algorithms.microaggregation._kernels import box_trees as kernel

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


TREE_ROWS = 10_000  # fewer records are looked at one by one
GROWTH_TREE_ROWS = 50_000  # as few distinct ones if groups grow record by record
NODES_PER_CALL = 1 << 18  # that a compiled loop visits before it can be interrupted
NODES_PER_RECORD = 0.05  # visited for a group: if more, looks at all records are cheaper


def cluster_by_mdav(points: Points, least: int, tell: ProgressCallback, *, trees_from: int = TREE_ROWS) -> Labels:
    """Cluster points by MDAV into groups of `least` to `2 * least - 1`, or one of all points if there are fewer."""
    label, groups = np.full(len(points), -1, dtype=np.int32), 0
    if len(points) >= max(trees_from, 2 * least):
        groups = _mdav_by_tree(points, least, label, tell)
    continue_mdav(points, least, label, groups, tell)
    return label


def cluster_by_v_mdav(
    points: Points, least: int, gamma: float, tell: ProgressCallback, *, trees_from: int = TREE_ROWS
) -> Labels:
    """Cluster points by V-MDAV into groups of `least` to `2 * least - 1`; remaining points have label -1."""
    label, groups = np.full(len(points), -1, dtype=np.int32), 0
    far_first = np.argsort(-ClusteringState(points, label, 0).squared_distances_to_center(), kind="stable")
    if len(points) >= max(trees_from, least):
        groups = _v_mdav_by_tree(points, least, gamma, far_first, label, tell)
    continue_v_mdav(points, least, gamma, far_first, label, groups, tell)
    return label


def cluster_by_k_member(
    candidates: GrowthCandidates, least: int, first: int, tell: ProgressCallback, *, trees_from: int = GROWTH_TREE_ROWS
) -> Labels:
    """Grow groups of at least this many records, the first one away from candidate `first`.

    Returns the group of every record, with those of the first candidate first.
    """
    records = int(candidates.counts.sum())
    growth = Growth(first, 0, GroupBoxes(candidates, least), np.full(records, -1, dtype=np.int32))
    if len(candidates) >= trees_from and records >= least:
        growth = _grow_by_tree(candidates, least, growth, tell)
    continue_growth(candidates, least, growth, tell)
    return growth.label


class _QueryBudget:
    """Whether questions to the tree are cheap enough."""

    def __init__(self, state: Ints, tell: ProgressCallback) -> None:
        self.state, self.tell, self.all = state, tell, int(state[0])
        self.cheap, self.groups = True, 0

    def add(self, visited: int) -> None:
        """Compare the nodes visited for the last groups with the records that are free."""
        free, groups = self.state[:2].tolist()
        self.cheap = visited <= NODES_PER_RECORD * free * (groups - self.groups) or visited < NODES_PER_CALL
        self.groups = groups
        self.tell(1 - free / self.all)


def _mdav_by_tree(points: Points, least: int, label: Labels, tell: ProgressCallback) -> int:
    """Label points while questions are cheap and at least two groups can be formed; return the number of groups."""
    from sfumato.tables.algorithms.microaggregation._kernels import tree_clusters as kernel

    loop = ClusteringState(points, label, 0)
    tree, spots = _build_tree(points)
    coded, box = (loop.coded, spots, *loop.room[2:]), tree.empty_box()
    pace, far = _QueryBudget(loop.state, tell), None
    while loop.free >= 2 * least and pace.cheap:
        if far is None or far[4][1] > kernel.READS * far[4][0]:
            center = np.zeros_like(box[0])
            kernel.find_remaining_center(loop.free, loop.left, coded, center)
            far = _sort_by_distance(tree, center, box)
        asked = tree.arrays, points.by_row, coded, loop.left, box, far, loop.state
        pace.add(kernel.mdav_by_tree(*asked, least, NODES_PER_CALL, label))
    return int(loop.state[1])


def _sort_by_distance(tree: BoxTree, center: Floats, box: Arrays) -> Arrays:
    """Sort spots that have rows by their distance from a center; also count them, and how many were read."""
    from sfumato.tables.algorithms.microaggregation._kernels import tree_clusters as kernel

    apart = np.empty(len(tree.places))
    kernel.measure_spots(center, tree.places, tree.arrays, box, apart)
    order = np.argsort(apart, kind="stable")[np.count_nonzero(apart < 0) :]
    return order, apart[order], tree.places[order], center, np.array([len(order), 0], dtype=np.int64)


def _v_mdav_by_tree(
    points: Points, least: int, gamma: float, far_first: Ints, label: Labels, tell: ProgressCallback
) -> int:
    """Label points while questions are cheap and a group can be formed; return the number of groups."""
    from sfumato.tables.algorithms.microaggregation._kernels import tree_clusters as kernel

    loop = ClusteringState(points, label, 0)
    tree, _ = _build_tree(points)
    pace, box, seeds = _QueryBudget(loop.state, tell), tree.empty_box(), (far_first, tree.point_spots)
    while loop.free >= least and pace.cheap:
        asked = tree.arrays, points.by_row, loop.left, box, seeds, loop.state
        pace.add(kernel.v_mdav_by_tree(*asked, least, float(gamma), NODES_PER_CALL, label))
    return int(loop.state[1])


def _grow_by_tree(candidates: GrowthCandidates, least: int, growth: Growth, tell: ProgressCallback) -> Growth:
    """Grow groups while questions are cheap and a group can be formed."""
    from sfumato.tables.algorithms.microaggregation._kernels import tree_clusters as kernel

    lines, axes = len(candidates.places), len(candidates.places) + len(candidates.codes)
    places = np.repeat(np.vstack([candidates.places, candidates.codes]).T, candidates.counts, axis=0)
    taxonomies = np.where(np.arange(axes) < lines, -1, np.arange(axes) - lines)
    tree = BoxTree.from_points(places, taxonomies, candidates.trees, squared=False)
    candidate = np.repeat(np.arange(len(candidates)), candidates.counts)
    start = tree.point_spots[np.searchsorted(candidate, growth.start)]
    groups = len(growth.boxes.arrays[0])
    boxes = np.zeros((groups, axes)), np.zeros((groups, axes)), np.zeros((groups, axes), dtype=np.int64)
    state = np.array([len(candidate), 0, start], dtype=np.int64)
    pace = _QueryBudget(state, tell)
    while state[0] >= least and pace.cheap:
        pace.add(kernel.grow_by_tree(tree.arrays, tree.empty_box(), boxes, state, least, NODES_PER_CALL, growth.label))
    made = boxes[0][:, :lines], boxes[1][:, :lines], boxes[2][:, lines:], boxes[0][:, lines:]
    for part, found in zip(growth.boxes.arrays, made, strict=True):
        part[:] = found
    seed = candidate[tree.last_row(int(state[2]))]
    return Growth(int(seed), int(state[1]), growth.boxes, growth.label)


def _build_tree(points: Points) -> tuple[BoxTree, Floats]:
    """Build the tree of points, on whose axes ranks are places; also return the place of every code."""
    axes, lines = points.axes, len(points.places)
    trees = np.flatnonzero(axes.heights > 0)
    taxonomies = np.full(lines + len(points.codes), -1, dtype=np.int64)
    taxonomies[lines + trees] = np.arange(len(trees))
    spots = axes.ranks.copy()
    places = np.empty((len(points), len(taxonomies)))
    places[:, :lines] = points.places.T
    for j, column in enumerate(points.codes):
        mine = slice(int(axes.places[j]), int(axes.places[j] + axes.leaves[j]))
        if axes.heights[j] > 0:
            spots[mine] = np.arange(axes.leaves[j])
        places[:, lines + j] = spots[mine][column]
    return BoxTree.from_points(places, taxonomies, _squared_tree_axes(points, trees), squared=True), spots


def _squared_tree_axes(points: Points, trees: Ints) -> TreeAxes:
    """Describe taxonomies whose costs are squared distances, rounded as loops round them."""
    axes = points.axes
    leaves, heights = axes.leaves[trees], axes.heights[trees]
    costs = [np.zeros(0)]
    for j, height in zip(trees, heights.tolist(), strict=True):
        apart = np.arange(height + 1) / height
        costs.append(axes.weights[j] * (apart * apart))
    steps = np.cumsum(heights + 1) - heights - 1
    return TreeAxes(
        leaves, heights, axes.starts[trees], np.cumsum(leaves) - leaves, steps, axes.nodes, np.concatenate(costs)
    )
