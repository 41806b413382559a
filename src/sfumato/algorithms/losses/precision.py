"""Precision: how high cells are generalized in their hierarchies."""

from __future__ import annotations

import numpy as np

from sfumato.algorithms.full_domain.ladder import LevelMap
from sfumato.algorithms.losses.additive import AdditiveLoss, Costs


class PrecisionLoss(AdditiveLoss):
    """Cost of a cell: its level over the height of its hierarchy; 1 minus this mean is Sweeney's precision."""

    name = "precision"

    def costs(self, ladder: LevelMap) -> Costs:
        """Scale levels to costs."""
        return [np.full(len(nodes), level / ladder.height) for level, nodes in enumerate(ladder.levels)]
