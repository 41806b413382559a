"""The lattice of full-domain recodings: one level per quasi-identifier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import log, prod
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.full_domain.ladder import LevelMap

Levels: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Separable:
    """A number for every node: a constant plus one term per attribute for its level, or one for all levels."""

    constant: float
    addends: tuple[npt.NDArray[np.float64], ...]

    def at(self, levels: Levels) -> float:
        """Return the number of one node."""
        parts = zip(self.addends, levels, strict=True)
        return self.constant + sum(float(part[level] if len(part) > 1 else part[0]) for part, level in parts)

    def dense(self) -> npt.NDArray[np.float64]:
        """Return the numbers of all nodes, one axis per attribute."""
        total = np.full((1,) * len(self.addends), self.constant)
        for axis, part in enumerate(self.addends):
            total = total + part.reshape([-1 if other == axis else 1 for other in range(len(self.addends))])
        return total


@dataclass(frozen=True, eq=False)
class Lattice:
    """All ways to choose a level for every quasi-identifier; higher nodes are more general."""

    ladders: tuple[LevelMap, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of every attribute."""
        return tuple(len(ladder.levels) for ladder in self.ladders)

    @property
    def size(self) -> int:
        """The number of nodes."""
        return prod(self.shape)

    @property
    def top(self) -> Levels:
        """The most general node."""
        return tuple(ladder.height for ladder in self.ladders)

    def nodes(self) -> Iterator[Levels]:
        """Yield all nodes, with the level of the last attribute changing fastest."""
        return product(*(range(levels) for levels in self.shape))

    def at_height(self, height: int) -> Iterator[Levels]:
        """Yield the nodes whose levels sum to a height."""
        return _summing(self.top, height)

    def above(self, levels: Levels) -> Iterator[Levels]:
        """Yield the direct generalizations of a node."""
        for j, (level, most) in enumerate(zip(levels, self.top, strict=True)):
            if level < most:
                yield (*levels[:j], level + 1, *levels[j + 1 :])

    def below(self, levels: Levels) -> Iterator[Levels]:
        """Yield the direct specializations of a node."""
        for j, level in enumerate(levels):
            if level > 0:
                yield (*levels[:j], level - 1, *levels[j + 1 :])

    def cells(self) -> Separable:
        """Return the logarithm of the number of cells that every node can distinguish."""
        parts = tuple(np.array([log(width) for width in ladder.widths]) for ladder in self.ladders)
        return Separable(0.0, parts)


def nodes_below(levels: Sequence[int]) -> tuple[slice, ...]:
    """Index all nodes at or below a node in an array of all nodes."""
    return tuple(slice(0, level + 1) for level in levels)


def nodes_above(levels: Sequence[int]) -> tuple[slice, ...]:
    """Index all nodes at or above a node in an array of all nodes."""
    return tuple(slice(level, None) for level in levels)


def is_specialization(lower: Levels, upper: Levels) -> bool:
    """Return whether one node is at or below another."""
    return all(low <= high for low, high in zip(lower, upper, strict=True))


def _summing(most: Sequence[int], total: int) -> Iterator[Levels]:
    if not most:
        if total == 0:
            yield ()
        return
    rest = sum(most[1:])
    for level in range(max(0, total - rest), min(most[0], total) + 1):
        for others in _summing(most[1:], total - level):
            yield (level, *others)
