"""What a recoding can lose, with bounds that let a search skip nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.full_domain.judged_node import NodeCheck
from sfumato.algorithms.full_domain.ladder import LevelMap
from sfumato.algorithms.full_domain.lattice import Separable
from sfumato.algorithms.full_domain.rolling_up import CellCosts

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
