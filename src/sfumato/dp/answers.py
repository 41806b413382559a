"""Answers with differential privacy: the value, its mechanism, its cost, and its possible error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato._neighbors import describe_epsilon
from sfumato.errors import InvalidParameterError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class PrivateAnswer:
    """One number, with noise.

    Parameters
    ----------
    value, lower, upper : the answer, and an interval that contains the true one with the stated confidence. The
        interval accounts only for the noise: values outside the stated bounds were moved to them, and rows beyond the
        stated number per person were left out.
    mechanism, scale : the mechanism and its noise scale, in the units of the answer.
    epsilon : the cost of the answer, an exact decimal number.
    neighbors : what the epsilon is about: which tables it keeps from being told apart.
    steps : what was done to the value after the noise was added.
    """

    question: str
    value: float
    lower: float
    upper: float
    confidence: float
    mechanism: str
    scale: float
    epsilon: str
    neighbors: str
    steps: tuple[str, ...] = ()

    def __repr__(self) -> str:
        span = f"{self.lower:.6g} to {self.upper:.6g} with confidence {self.confidence:g}"
        return f"PrivateAnswer({self.value:.6g}, {span}, {describe_epsilon(self.epsilon, self.neighbors)})"


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivateCounts:
    """Counts of cells, with noise: a histogram, or a contingency table.

    Parameters
    ----------
    columns : the columns that define the cells.
    cells : the label of every cell in every column.
    counts, lower, upper : the counts, and intervals that each contain the true count with the stated confidence.
    tree : all noisy sums of a tree, level by level from the root, before `consistent`; empty otherwise.
    steps : what was done to the counts after the noise was added.
    """

    question: str
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    counts: Floats
    lower: Floats
    upper: Floats
    confidence: float
    mechanism: str
    scale: float
    epsilon: str
    neighbors: str
    tree: tuple[Floats, ...] = ()
    branching: int = 0
    steps: tuple[str, ...] = ()

    def __repr__(self) -> str:
        steps = f", {', '.join(self.steps)}" if self.steps else ""
        cost = describe_epsilon(self.epsilon, self.neighbors)
        return f"PrivateCounts({len(self.cells)} cells of {', '.join(self.columns)}, {cost}{steps})"

    def __getitem__(self, cell: str | tuple[str, ...]) -> float:
        """Return the count of one cell."""
        key = (cell,) if isinstance(cell, str) else tuple(cell)
        if key not in self.cells:
            raise InvalidParameterError(f"There is no such cell of {', '.join(self.columns)}.")
        return float(self.counts[self.cells.index(key)])

    def as_dict(self) -> dict[tuple[str, ...], float]:
        """Return the counts by cell."""
        return dict(zip(self.cells, self.counts.tolist(), strict=True))
