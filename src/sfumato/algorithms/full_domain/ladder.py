"""A ladder: how one quasi-identifier is generalized level by level, as lookup arrays over its codes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.coding.domain import Domain
from sfumato.core.publication import SUPPRESSED_TEXT, Exact, Label, MissingCell, Node, Suppressed

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
