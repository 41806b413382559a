"""Opacity: how many pairs of persons of given degrees are within some steps of each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.coding.kernels.opacity import count_within
from sfumato.networks.network import Graph

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DegreePairTypes:
    """Types of pairs: the two degrees of their persons, wherever there is such a pair.

    Arrays of types are flat: that of degrees number a and b, a no larger than b, is at a * classes + b.

    Parameters
    ----------
    label : the number of everybody's degree, ascending.
    pairs : the number of pairs of each type.
    """

    label: Counts
    pairs: Counts

    @classmethod
    def from_degrees(cls, degrees: Counts) -> DegreePairTypes:
        """Find the types of pairs of persons with these degrees."""
        _, label, sizes = np.unique(degrees, return_inverse=True, return_counts=True)
        sizes = sizes.astype(np.int64)
        pairs = np.triu(np.outer(sizes, sizes), 1)
        np.fill_diagonal(pairs, sizes * (sizes - 1) // 2)
        return cls(label.reshape(-1).astype(np.int64), pairs.reshape(-1))

    @property
    def classes(self) -> int:
        """The number of degrees."""
        return int(self.label.max()) + 1

    def edge_pair_types(self, edges: npt.NDArray[np.integer]) -> Counts:
        """Return the type of each of some pairs."""
        ends = np.sort(self.label[edges], axis=1)
        return np.asarray(ends[:, 0] * self.classes + ends[:, 1])

    def count_within(self, network: Graph, length: int) -> Counts:
        """Count the pairs of each type that are within some steps of each other."""
        return np.asarray(count_within(network.offsets, network.neighbors, self.label, self.classes, length))

    def opacities(self, within: Counts) -> npt.NDArray[np.float64]:
        """Return the share of pairs that are, for each type; 0 where there are no pairs."""
        return np.asarray(within / np.maximum(self.pairs, 1))

    def max_pairs(self, limit: float) -> Counts:
        """Return how many pairs of each type may be, so that no share exceeds a limit."""
        found = np.floor(limit * self.pairs + 1e-9).astype(np.int64)
        return np.asarray(found - (self.opacities(found) > limit))
