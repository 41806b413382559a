"""Records from which groups grow: their memory layout, and the loops over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.coding.clustering.points import CELLS_PER_CALL, Codes, Floats, Ints, Labels, Tell


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


def k_member_labels(candidates: GrowthCandidates, least: int, first: int, tell: Tell) -> Labels:
    """Grow groups of at least this many records, the first one away from candidate `first`.

    Returns the group of every record, with those of the first candidate first.
    """
    from sfumato.coding.kernels import box_growing as kernel

    points = candidates.places.copy(), candidates.codes.copy()
    trees, records = candidates.trees.arrays, int(candidates.counts.sum())
    stock = candidates.counts.copy(), np.arange(len(candidates)), np.cumsum(candidates.counts)
    prices = np.zeros(int(candidates.trees.leaves.sum()))
    room = np.zeros(len(candidates)), np.zeros(len(candidates)), prices
    groups = max(1, records // least)
    lines, coded = (groups, len(points[0])), (groups, len(points[1]))
    boxes = np.zeros(lines), np.zeros(lines), np.zeros(coded, dtype=np.int64), np.zeros(coded, dtype=np.int64)
    state = np.array([len(candidates), records, 0], dtype=np.int64)
    label = np.full(records, -1, dtype=np.int32)
    box = boxes[0][0], boxes[1][0], boxes[2][0], boxes[3][0]
    kernel.open_box(points, first, trees, box, prices)
    kernel.measure_growth(points, trees, len(candidates), box, prices, room[0])
    width = max(1, lines[1] + coded[1])
    while state[1] >= least:
        tell(1 - int(state[1]) / records)
        rounds = max(1, CELLS_PER_CALL // (4 * width * int(state[0])))
        kernel.grow(points, trees, stock, room, boxes, state, least, rounds, label)
    sizes = np.full(groups, least, dtype=np.int64)
    kernel.join_rest(points, trees, stock, boxes, sizes, prices, int(state[0]), int(state[2]), label)
    return label
