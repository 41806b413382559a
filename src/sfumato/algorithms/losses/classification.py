"""Classification: how many records the majority class of a group gets wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.full_domain.judged_node import NodeCheck
from sfumato.algorithms.full_domain.lattice import Separable
from sfumato.algorithms.losses.base import RecodingLoss


class ClassificationLoss(RecodingLoss):
    """The share of records that are suppressed or not in the most frequent class of their group."""

    name = "classification"
    needs_classes = True
    by_generalization = False

    def value(self, check: NodeCheck) -> float:
        """Count suppressed records and minorities."""
        return (check.suppressed + int(self._minorities(check)[check.satisfied].sum())) / self.setting.records

    def start(self) -> Separable:
        """Every group may agree on its class."""
        return self.constant(0.0)

    def below(self, check: NodeCheck) -> Separable:
        """Add the majority records here that are suppressed below."""
        agreeing = check.sizes - self._minorities(check)
        return self.constant(int(agreeing[check.surely_valid].sum()) / self.setting.records)

    def above(self, check: NodeCheck) -> Separable:
        """Minorities of merged groups are at least those of the parts; suppressed records are all lost."""
        return self.constant(int(self._minorities(check).sum()) / self.setting.records)

    def _minorities(self, check: NodeCheck) -> npt.NDArray[np.int64]:
        assert self.setting.classes is not None  # noqa: S101 - asked for by `needs_classes`
        return np.asarray(check.sizes - check.by_class(self.setting.classes).max(axis=1, initial=0))
