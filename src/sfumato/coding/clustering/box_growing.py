"""Records from which groups grow: their memory layout, and the loops over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.coding.clustering.points import CELLS_PER_CALL, Codes, Floats, Ints, Labels, ProgressCallback


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
    from sfumato.coding.kernels import box_growing as kernel

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
