"""What a search found out about the nodes of a lattice."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.full_domain.lattice import Levels
from sfumato.core.publication import OptimalityProof


class NodeStatus(IntEnum):
    """Whether a node is a solution: too few, enough or an unknown number of its records are in valid groups."""

    NOT_ANONYMOUS = 0
    ANONYMOUS = 1
    BOUNDED = 2


@dataclass(frozen=True, eq=False)
class Exploration:
    """Nodes of a lattice and what is known about each.

    Parameters
    ----------
    names : the quasi-identifiers.
    heights : the last level of each.
    levels : one row per node, one column per quasi-identifier.
    status : a `Status` per node; bounded nodes were not checked, because their loss cannot be the smallest.
    loss : the loss of every node that was judged, NaN for others.
    bound : a lower bound for the loss of every node.
    suppressed : the number of records that every judged node suppresses, -1 for others.
    proof : how good the best node is.
    best : the row of the best node; None if no node is a solution.
    """

    names: tuple[str, ...]
    heights: Levels
    levels: npt.NDArray[np.int16]
    status: npt.NDArray[np.int8]
    loss: npt.NDArray[np.float64]
    bound: npt.NDArray[np.float64]
    suppressed: npt.NDArray[np.int64]
    proof: OptimalityProof
    best: int | None

    def __len__(self) -> int:
        return len(self.levels)

    def node(self, row: int) -> Levels:
        """Return the levels of a node."""
        return tuple(int(level) for level in self.levels[row])

    @property
    def anonymous(self) -> set[Levels]:
        """The nodes that are known to be solutions."""
        return {self.node(int(row)) for row in np.flatnonzero(self.status == NodeStatus.ANONYMOUS)}

    def minimal(self) -> set[Levels]:
        """Find the solutions below which no solution is known."""
        return {self.node(int(row)) for row in np.flatnonzero(self.is_minimal)}

    @cached_property
    def is_minimal(self) -> npt.NDArray[np.bool_]:
        """Whether each node is a solution below which no solution is known."""
        found = np.zeros(len(self), dtype=np.bool_)
        left = np.flatnonzero(self.status == NodeStatus.ANONYMOUS)
        left = left[np.argsort(self.levels[left].sum(axis=1, dtype=np.int64), kind="stable")]
        while len(left):
            lowest = left[0]
            found[lowest] = True
            left = left[~(self.levels[left] >= self.levels[lowest]).all(axis=1)]
        return found
