"""What a recoding can lose, with bounds that let a search leave nodes unchecked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.full_domain.ladder import Ladder
from sfumato.algorithms.full_domain.lattice import Separable
from sfumato.algorithms.full_domain.recodings import Check

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LossSetting:
    """The table that recodings are compared on.

    Parameters
    ----------
    ladders : the levels of every quasi-identifier.
    histograms : how often every code of every quasi-identifier occurs.
    smallest_group : a size below which no group is good.
    weights : how much every attribute counts, by name; 1 if not named.
    suppression_factor : 0.5 counts suppression and generalization in full; below, a suppressed record costs
        `2 * suppression_factor` of that; above, generalization costs `2 - 2 * suppression_factor` of it.
    stays_good : whether a record in a good group is in a good group of all nodes above.
    classes : which of the columns that came along is to be predicted, if any.
    """

    ladders: Sequence[Ladder]
    histograms: Sequence[npt.NDArray[np.float64]]
    smallest_group: int
    weights: Mapping[str, float]
    suppression_factor: float
    stays_good: bool
    classes: int | None = None

    @cached_property
    def records(self) -> int:
        """How many records there are."""
        return round(float(self.histograms[0].sum()))

    @cached_property
    def attribute_weights(self) -> npt.NDArray[np.float64]:
        """How much every attribute counts, as shares of 1."""
        given = np.array([self.weights.get(ladder.domain.name, 1.0) for ladder in self.ladders])
        return np.asarray(given / given.sum())

    @property
    def generalization_cost(self) -> float:
        """How much generalization counts."""
        return min(1.0, 2 - 2 * self.suppression_factor)

    @property
    def suppression_cost(self) -> float:
        """How much suppression counts."""
        return min(1.0, 2 * self.suppression_factor)


class RecodingLoss(ABC):
    """A number to be made small, computed from the groups of a node.

    Every bound is admissible: no node that it speaks of, and that is a solution, has a smaller loss.
    """

    name: ClassVar[str]
    weighted: ClassVar[bool] = False  # whether attributes and suppression can be weighted
    needs_classes: ClassVar[bool] = False
    by_generalization: ClassVar[bool] = True  # whether the start tells nodes apart
    lowest: ClassVar[float] = 0.0  # what is known from nodes under a node before any was checked

    def __init__(self, setting: LossSetting) -> None:
        self.setting = setting

    @abstractmethod
    def value(self, check: Check) -> float:
        """Compute the loss of a node whose models were judged."""

    @abstractmethod
    def start(self) -> Separable:
        """Bound the loss of every node before any was checked."""

    @abstractmethod
    def below(self, check: Check) -> Separable:
        """Bound what the nodes at or below one that was checked lose by what they must suppress."""

    def above(self, check: Check) -> Separable | None:  # noqa: ARG002 - some losses know a bound
        """Bound what the nodes at or above one that was checked lose; levels are counted from those of that node."""
        return None

    def bound(self, above: Numbers, below: Numbers) -> Numbers:
        """Bound the loss of nodes by what is known from nodes under them and from nodes over them."""
        return above + below

    def constant(self, bound: float) -> Separable:
        """Return the same bound to all nodes that are asked for."""
        return Separable(bound, tuple(np.zeros(1) for _ in self.setting.ladders))
