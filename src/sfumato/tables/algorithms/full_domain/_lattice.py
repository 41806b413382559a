"""The lattice of full-domain recodings: one level per quasi-identifier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import product
from math import log, prod
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.encoding.domain import Domain
from sfumato.tables.published.solution import (
    SUPPRESSED_TEXT,
    Exact,
    Label,
    MissingCell,
    Node,
    OptimalityProof,
    Suppressed,
)

# A ladder: how one quasi-identifier is generalized level by level, as lookup arrays over its codes.

Nodes = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class LevelMap:
    """The levels of one quasi-identifier, from its values (level 0) to one node for everything (the last).

    `levels[h][code]` is the node above a code on level h; nodes are numbered from 0 and never decrease from
    leaf to leaf. A missing value (the last code) is a node of its own, the last, on every level but the last.
    An attribute without a hierarchy has two levels: values and `*`.
    """

    domain: Domain
    levels: tuple[Nodes, ...]

    @classmethod
    def of(cls, domain: Domain) -> LevelMap:
        """Build the ladder of a domain."""
        leaves = len(domain)
        whole = [np.arange(leaves, dtype=np.int32), np.zeros(leaves, dtype=np.int32)]
        known = whole if domain.hierarchy is None else list(domain.hierarchy.levels)
        below = [np.append(nodes, nodes.max(initial=-1) + 1).astype(np.int32) for nodes in known[:-1]]
        return cls(domain, (*below, np.zeros(leaves + 1, dtype=np.int32)))

    @property
    def height(self) -> int:
        """The number of the last level."""
        return len(self.levels) - 1

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """The number of nodes on every level, including the one for missing values."""
        return tuple(int(nodes.max()) + 1 for nodes in self.levels)

    @cached_property
    def shares(self) -> tuple[npt.NDArray[np.float64], ...]:
        """The share of all leaves under every node of every level; a missing value counts as one leaf."""
        leaves = max(len(self.domain), 1)
        below = [np.bincount(nodes) / leaves for nodes in self.levels[:-1]]
        return (*below, np.ones(1))

    def step(self, lower: int, upper: int) -> Nodes:
        """Return for every node of a level the node above it on a higher level."""
        above = np.zeros(self.widths[lower], dtype=np.int32)
        above[self.levels[lower]] = self.levels[upper]
        return above

    def labels(self, level: int) -> list[Label]:
        """Return the label of every node of a level."""
        if level == self.height:
            return [Suppressed()]
        if level == 0:
            return [*(Exact(value) for value in self.domain.values.to_pylist()), MissingCell()]
        assert self.domain.hierarchy is not None  # noqa: S101 - levels between values and `*` come from a hierarchy
        texts = self.domain.hierarchy.labels[level]
        return [*(Suppressed() if text == SUPPRESSED_TEXT else Node(text) for text in texts), MissingCell()]


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


# What a search found out about the nodes of a lattice.


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
