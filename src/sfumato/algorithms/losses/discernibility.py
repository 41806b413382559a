"""Discernibility: how many records each record is indistinguishable from."""

from __future__ import annotations

import numpy as np

from sfumato.algorithms.full_domain.judged_node import NodeCheck
from sfumato.algorithms.full_domain.lattice import Separable
from sfumato.algorithms.losses.base import Numbers, RecodingLoss


class DiscernibilityLoss(RecodingLoss):
    """Sum the size of its group for every record, and all records for a suppressed one."""

    name = "discernibility"
    by_generalization = False

    def value(self, check: NodeCheck) -> float:
        """Sum squared sizes, and all records for each that is suppressed."""
        sizes = check.sizes[check.satisfied].astype(float)
        return float((sizes * sizes).sum()) + float(self.setting.records) * check.suppressed

    def start(self) -> Separable:
        """Nothing need be suppressed."""
        return self.constant(0.0)

    def below(self, check: NodeCheck) -> Separable:
        """Add all records minus its group, which is at most the one here, for each that is suppressed below."""
        firm = check.sizes[check.surely_valid].astype(float)
        return self.constant(float((firm * (self.setting.records - firm)).sum()))

    def above(self, check: NodeCheck) -> Separable:
        """Sum the squares of all groups here: groups only grow."""
        sizes = check.sizes.astype(float)
        return self.constant(float((sizes * sizes).sum()))

    def bound(self, above: Numbers, below: Numbers) -> Numbers:
        """Add both; no record costs less than the smallest group."""
        return np.maximum(above + below, float(self.setting.smallest_group) * self.setting.records)
