"""Average class size: records per group."""

from __future__ import annotations

import numpy as np

from sfumato.algorithms.full_domain.lattice import Separable
from sfumato.algorithms.full_domain.recodings import Check
from sfumato.algorithms.losses.base import Numbers, RecodingLoss


class AverageClassSizeLoss(RecodingLoss):
    """All records over the number of groups, where suppressed records make one group more."""

    name = "average-class-size"
    by_generalization = False
    lowest = -np.inf

    def value(self, check: Check) -> float:
        """Divide by the number of groups."""
        return self._average(int(check.kept.sum()) + (check.suppressed > 0))

    def start(self) -> Separable:
        """Let every group have the least size."""
        return self.constant(-self.setting.records / self.setting.smallest_group)

    def below(self, check: Check) -> Separable:
        """Part every group that can have good parts into as many as its size allows."""
        return self.constant(-float((check.sizes[~check.firm] // self.setting.smallest_group).sum()))

    def above(self, check: Check) -> Separable:
        """Count groups above: a good one holds a good group from here, or enough records of bad ones."""
        made = check.suppressed // self.setting.smallest_group
        return self.constant(-float(min(check.kept.sum() + made, len(check.sizes))))

    def bound(self, above: Numbers, below: Numbers) -> Numbers:
        """Both bounds are numbers of groups, below 0; suppressed records may make one more."""
        return self.setting.records / (1 - np.maximum(above, below))

    def _average(self, groups: int) -> float:
        return self.setting.records / max(groups, 1)
