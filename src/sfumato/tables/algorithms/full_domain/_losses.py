"""Losses by which recodings can be compared, by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.tables.algorithms.full_domain._evaluated_node import NodeCheck
from sfumato.tables.algorithms.full_domain._lattice import LevelMap, Separable
from sfumato.tables.algorithms.full_domain._rollup import CellCosts

# What a recoding can lose, with bounds that let a search skip nodes.

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LossSetting:
    """The table that recodings are compared on.

    Parameters
    ----------
    ladders : the levels of every quasi-identifier.
    histograms : how often every code of every quasi-identifier occurs.
    smallest_group : a size below which no group is valid.
    weights : the weight of every attribute, by name; 1 if not named.
    suppression_factor : 0.5 counts suppression and generalization in full; with less, a suppressed record costs
        `2 * suppression_factor` of that; with more, generalization costs `2 - 2 * suppression_factor` of it.
    stays_good : whether a record in a valid group is in a valid group of all nodes above.
    classes : which of the additional columns is to be predicted, if any.
    """

    ladders: Sequence[LevelMap]
    histograms: Sequence[npt.NDArray[np.float64]]
    smallest_group: int
    weights: Mapping[str, float]
    suppression_factor: float
    stays_good: bool
    classes: int | None = None

    @cached_property
    def records(self) -> int:
        """The number of records."""
        return round(float(self.histograms[0].sum()))

    @cached_property
    def attribute_weights(self) -> npt.NDArray[np.float64]:
        """The weight of every attribute, as a share of 1."""
        given = np.array([self.weights.get(ladder.domain.name, 1.0) for ladder in self.ladders])
        return np.asarray(given / given.sum())

    @property
    def generalization_cost(self) -> float:
        """The weight of generalization."""
        return min(1.0, 2 - 2 * self.suppression_factor)

    @property
    def suppression_cost(self) -> float:
        """The weight of suppression."""
        return min(1.0, 2 * self.suppression_factor)


class RecodingLoss(ABC):
    """A number to minimize, computed from the groups of a node.

    Every bound is admissible: no solution among the nodes it covers has a smaller loss.
    """

    name: ClassVar[str]
    weighted: ClassVar[bool] = False  # whether attributes and suppression can be weighted
    needs_classes: ClassVar[bool] = False
    by_generalization: ClassVar[bool] = True  # whether the start distinguishes nodes
    lowest: ClassVar[float] = 0.0  # what is known from nodes below before any was checked

    def __init__(self, setting: LossSetting) -> None:
        self.setting = setting

    @abstractmethod
    def value(self, check: NodeCheck) -> float:
        """Compute the loss of a node whose models were judged."""

    @abstractmethod
    def start(self) -> Separable:
        """Bound the loss of every node before any was checked."""

    @abstractmethod
    def below(self, check: NodeCheck) -> Separable:
        """Bound the loss of nodes at or below a checked one by what they must suppress."""

    def above(self, check: NodeCheck) -> Separable | None:  # noqa: ARG002 - some losses know a bound
        """Bound the loss of nodes at or above a checked one; levels are counted from those of that node."""
        return None

    def cell_costs(self) -> CellCosts | None:
        """Return what single cells cost, if the loss is a sum over cells."""
        return None

    def bound(self, above: Numbers, below: Numbers) -> Numbers:
        """Bound the loss of nodes by what is known from nodes below and above them."""
        return above + below

    def constant(self, bound: float) -> Separable:
        """Return the same bound for all requested nodes."""
        return Separable(bound, tuple(np.zeros(1) for _ in self.setting.ladders))


# Losses that are sums over cells: loss and precision.

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


# Average class size: records per group.


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


# Classification: how many records the majority class of a group gets wrong.


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


# Discernibility: how many records each record is indistinguishable from.


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


# Non-uniform entropy: how many bits it takes to recover the values.


class EntropyLoss(RecodingLoss):
    r"""Bits that the published values leave open, averaged over attributes.

    A value that occurs $f$ times and is published as a node with $g$ records leaves $\log_2(g / f)$ bits open. For
    suppressed records the node is lost, too: with $s$ of them, $c$ at the same node, this adds $\log_2(s / c)$ bits
    each.
    """

    name = "entropy"
    weighted = True

    def value(self, check: NodeCheck) -> float:
        """Add what generalization and what suppression leave open."""
        return self._generalized.at(check.levels) + self._suppressed(check, check.suppressed_histograms)

    def start(self) -> Separable:
        """Count generalization alone."""
        return self._generalized

    def below(self, check: NodeCheck) -> Separable:
        """Add what suppression leaves open: it grows with every further record and with every finer node."""
        addends = (part[: level + 1] for part, level in zip(self._generalized.addends, check.levels, strict=True))
        return Separable(self._suppressed(check, check.surely_suppressed_histograms), tuple(addends))

    @cached_property
    def _generalized(self) -> Separable:
        addends = []
        for ladder, counts, weight in zip(
            self.setting.ladders, self.setting.histograms, self.setting.attribute_weights, strict=True
        ):
            own = _bits(counts)
            bits = [own - _bits(np.bincount(nodes, counts)) for nodes in ladder.levels]
            addends.append(self.setting.generalization_cost * weight * np.maximum(bits, 0.0))
        return Separable(0.0, tuple(addends))

    def _suppressed(self, check: NodeCheck, lost: Sequence[npt.NDArray[np.float64]]) -> float:
        bits = 0.0
        for ladder, counts, level, weight in zip(
            self.setting.ladders,
            lost,
            check.levels,
            self.setting.attribute_weights,
            strict=True,
        ):
            bits += weight * _bits(np.bincount(ladder.levels[level], counts))
        return self.setting.suppression_cost * float(bits)


def _bits(counts: npt.NDArray[np.floating | np.integer]) -> float:
    """Return the bits that distinguish records of several kinds: the entropy of their kinds, times their number."""
    known = counts[counts > 0]
    return float((known * np.log2(known.sum() / known)).sum())


# Loss: the share of leaves under a published cell, as in the measure of that name.


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


# Precision: how high cells are generalized in their hierarchies.


class PrecisionLoss(AdditiveLoss):
    """Cost of a cell: its level over the height of its hierarchy; 1 minus this mean is Sweeney's precision."""

    name = "precision"

    def costs(self, ladder: LevelMap) -> Costs:
        """Scale levels to costs."""
        return [np.full(len(nodes), level / ladder.height) for level, nodes in enumerate(ladder.levels)]


LOSSES: dict[str, type[RecodingLoss]] = {
    loss.name: loss
    for loss in (
        LeafLoss,
        PrecisionLoss,
        DiscernibilityLoss,
        AverageClassSizeLoss,
        EntropyLoss,
        ClassificationLoss,
    )
}
