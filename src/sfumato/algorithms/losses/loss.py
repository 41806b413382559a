"""Loss: the share of leaves under a published cell, as in the measure of that name."""

from __future__ import annotations

import numpy as np

from sfumato.algorithms.full_domain.ladder import LevelMap
from sfumato.algorithms.losses.additive import AdditiveLoss, Costs


class LeafLoss(AdditiveLoss):
    """Cost of a cell: the share of its attribute's leaves that it may represent, from 0 for one leaf to 1 for all."""

    name = "loss"

    def costs(self, ladder: LevelMap) -> Costs:
        """Scale shares of leaves to costs."""
        return leaf_costs(ladder)


def leaf_costs(ladder: LevelMap) -> Costs:
    """Return for every level the cost of a cell with each code."""
    leaves = len(ladder.domain)
    if leaves < 2:  # noqa: PLR2004 - one value tells nothing, so nothing can be lost
        return [np.zeros(len(nodes)) for nodes in ladder.levels]
    return [
        (shares[nodes] - 1 / leaves) / (1 - 1 / leaves)
        for shares, nodes in zip(ladder.shares, ladder.levels, strict=True)
    ]
