"""Average class size: records per group."""

from __future__ import annotations

import numpy as np

from sfumato.algorithms.full_domain.judged_node import NodeCheck
from sfumato.algorithms.full_domain.lattice import Separable
from sfumato.algorithms.losses.base import Numbers, RecodingLoss


class AverageClassSizeLoss(RecodingLoss):
    """All records divided by the number of groups, where suppressed records form one more group."""

    name = "average-class-size"
    by_generalization = False
    lowest = -np.inf

    def value(self, check: NodeCheck) -> float:
        """Divide by the number of groups."""
        return self._average(int(check.satisfied.sum()) + (check.suppressed > 0))

    def start(self) -> Separable:
        """Let every group have the smallest size."""
        return self.constant(-self.setting.records / self.setting.smallest_group)

    def below(self, check: NodeCheck) -> Separable:
        """Split every group that can have valid parts into as many as its size allows."""
        return self.constant(-float((check.sizes[~check.surely_valid] // self.setting.smallest_group).sum()))

    def above(self, check: NodeCheck) -> Separable:
        """Count groups above: a valid one contains a valid group from here, or enough records of invalid ones."""
        made = check.suppressed // self.setting.smallest_group
        return self.constant(-float(min(check.satisfied.sum() + made, len(check.sizes))))

    def bound(self, above: Numbers, below: Numbers) -> Numbers:
        """Both bounds are negative numbers of groups; suppressed records may form one more."""
        return self.setting.records / (1 - np.maximum(above, below))

    def _average(self, groups: int) -> float:
        return self.setting.records / max(groups, 1)
