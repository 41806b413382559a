"""Losses that are sums over cells: loss and precision."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.full_domain.judged_node import NodeCheck
from sfumato.algorithms.full_domain.ladder import LevelMap
from sfumato.algorithms.full_domain.lattice import Separable
from sfumato.algorithms.full_domain.rolling_up import CellCosts
from sfumato.algorithms.losses.base import LossSetting, Numbers, RecodingLoss

Costs = list[npt.NDArray[np.float64]]


class AdditiveLoss(RecodingLoss):
    """A loss that is the mean cost of all cells, where a suppressed cell costs as much as the root."""

    weighted = True

    def __init__(self, setting: LossSetting) -> None:
        super().__init__(setting)
        self._shares = setting.attribute_weights / setting.records

    @abstractmethod
    def costs(self, ladder: LevelMap) -> Costs:
        """Return for every level the cost of a cell with each code, from 0 to 1, never decreasing with the level."""

    def value(self, check: NodeCheck) -> float:
        """Average the costs of published and suppressed cells."""
        setting, published = self.setting, 0.0
        for share, counts, lost, costs, level in zip(
            self._shares, setting.histograms, check.suppressed_histograms, self._costs, check.levels, strict=True
        ):
            published += share * float(counts @ costs[level] - lost @ costs[level])
        return setting.generalization_cost * published + setting.suppression_cost * self._cost_of_suppressed(
            check.suppressed
        )

    def cell_costs(self) -> CellCosts:
        """Return what cells add to the loss."""
        factor = self.setting.generalization_cost
        cells = [
            [factor * share * cost for cost in costs] for share, costs in zip(self._shares, self._costs, strict=True)
        ]
        return CellCosts(cells, self.setting.suppression_cost * self._root)

    def start(self) -> Separable:
        """Count every record as published, at the smaller of both costs."""
        return Separable(0.0, tuple(self._addends))

    def below(self, check: NodeCheck) -> Separable:
        """Count as suppressed the records that are suppressed below, and as published all others."""
        addends = []
        for j, (lost, costs) in enumerate(zip(check.surely_suppressed_histograms, self._costs, strict=True)):
            exact = check.source.levels[j]
            firm, torn = lost.sum(), check.evaluated.torn
            gone = [
                torn * dearest + (lost @ cost if h >= exact else firm * dearest)
                for h, (cost, dearest) in enumerate(zip(costs, self._max_cost[j], strict=True))
            ]
            share = self._lesser * self._shares[j]
            kept = self._addends[j] - share * np.array(gone)
            addends.append(np.maximum(kept[: check.levels[j] + 1], 0.0))
        return Separable(self.setting.suppression_cost * self._cost_of_suppressed(check.lost_below), tuple(addends))

    def above(self, check: NodeCheck) -> Separable | None:
        """Count what is published here as published above, if that costs more than suppression."""
        dearer = self.setting.generalization_cost - self._lesser
        if not dearer or not self.setting.stays_good or not check.allowed:
            return None
        addends = []
        for j, (counts, lost, level) in enumerate(
            zip(self.setting.histograms, check.suppressed_histograms, check.levels, strict=True)
        ):
            kept = np.array([counts @ cost - lost @ cost for cost in self._costs[j][level:]])
            addends.append(self._addends[j][level:] + dearer * self._shares[j] * kept)
        return Separable(0.0, tuple(addends))

    def bound(self, above: Numbers, below: Numbers) -> Numbers:
        """Both bounds count all records."""
        return np.maximum(above, below)

    @cached_property
    def _lesser(self) -> float:
        return min(self.setting.generalization_cost, self.setting.suppression_cost)

    @cached_property
    def _costs(self) -> list[Costs]:
        return [self.costs(ladder) for ladder in self.setting.ladders]

    @cached_property
    def _max_cost(self) -> list[list[float]]:
        """The largest cost of a cell on every level, among values that occur."""
        return [
            [float(cost[counts > 0].max()) for cost in costs]
            for counts, costs in zip(self.setting.histograms, self._costs, strict=True)
        ]

    @cached_property
    def _addends(self) -> list[npt.NDArray[np.float64]]:
        return [
            np.array([self._lesser * share * (counts @ cost) for cost in costs])
            for share, counts, costs in zip(self._shares, self.setting.histograms, self._costs, strict=True)
        ]

    def _cost_of_suppressed(self, records: int) -> float:
        """Return the cost of suppressed records, all cells at the root's cost."""
        return records * self._root

    @cached_property
    def _root(self) -> float:
        return sum(float(share * costs[-1].max()) for share, costs in zip(self._shares, self._costs, strict=True))
