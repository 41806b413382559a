"""A lower bound for the loss of every local recoding of a table, proven by walks over all boxes that there are.

The weak bound adds up what every row costs in its cheapest box with enough rows. The strong one adds up worths that are
feasible for every box. Both hold for any grouping whose groups have enough rows, whatever else models ask for.
"""

from __future__ import annotations

import numpy as np

from sfumato.algorithms.local.guiding import MAX_NODE_COMBINATIONS, CoveringProblem
from sfumato.coding.covering.boxes import BoxSearch
from sfumato.coding.regrouping.rows import Ints

FEWER_COMBINATIONS = 1 << 8  # that can be walked through in any table


def min_point_losses(coverer: BoxSearch, cover: CoveringProblem) -> Ints:
    """Find what every point costs at least, in any box with enough rows.

    If there are too many combinations of levels, or the walk takes too long, only the first trees are looked at: other
    nodes can only add to the price.
    """
    found = coverer.cheapest(
        cover.points.select_trees(max(1, cover.is_enumerable(MAX_NODE_COMBINATIONS))), cover.least, cover.max_visits
    )
    if found is None:
        few = cover.points.select_trees(max(1, cover.is_enumerable(FEWER_COMBINATIONS)))
        found = coverer.cheapest(few, cover.least, np.iinfo(np.int64).max)
    assert found is not None  # noqa: S101 - without a limit a walk ends
    return found


def sum_of_min_losses(cover: CoveringProblem, cheapest: Ints) -> int:
    """Add up what all rows cost at least."""
    return int((cheapest * cover.points.weight).sum())


def dual_bound(coverer: BoxSearch, cover: CoveringProblem, worths: Ints) -> int:
    """Add up worths that are feasible for all boxes, at most those given; 0 if the walk takes too long."""
    found = coverer.feasible(cover.points.coarser(cover.grain), cover.least, worths, cover.max_visits)
    return 0 if found is None else int((found * cover.points.weight).sum()) * cover.grain
