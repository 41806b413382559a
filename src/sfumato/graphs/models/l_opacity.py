"""L-opacity: of pairs of given degrees, not too many may be near each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Model, Verdict
from sfumato.errors import UnsupportedModelError
from sfumato.graphs._kernels.edge_removal import count_within
from sfumato.graphs.graph import Graph
from sfumato.graphs.models._base import PublishedGraph

Counts = npt.NDArray[np.int64]


# Opacity: how many pairs of persons of given degrees are within some steps of each other.


# Opacity: how many pairs of persons of given degrees are within some steps of each other.


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


@dataclass(frozen=True, kw_only=True, repr=False)
class LOpacity(Model[PublishedGraph]):
    """Require that of all pairs with the same two degrees at most a share is within some steps of each other [1]_.

    The degrees are those of the original, which the adversary knows and which are therefore published with the
    persons. The share is the belief that two persons of whom she knows nothing else are related, or near each other in
    the published graph. A graph with edges that does not say the original degrees gives everything away.

    Parameters
    ----------
    length : the number of steps.
    limit : the largest share, above 0 and at most 1.

    References
    ----------
    .. [1] Nobari, Karras, Pang, Bressan, "L-opacity: linkage-aware graph anonymization", EDBT 2014.
       https://doi.org/10.5441/002/edbt.2014.52
    """

    name = "l-opacity"
    reference = "Nobari, Karras, Pang, Bressan 2014, https://doi.org/10.5441/002/edbt.2014.52"
    bound = "max"
    unit = "types of pairs"
    stricter: ClassVar = {"length": "larger", "limit": "smaller"}
    words = ModelDescription(
        title="L-opacity",
        level="largest share of pairs of one type",
        promise="Of pairs of persons with the same two degrees, at most a share of {limit} is within {length} steps.",
        stops="Learning relations from degrees: who knows how many neighbors two persons had is not sure that they are "
        "near each other.",
        open="Who knows more than the degrees of two persons may know which pair they are.",
    )

    length: int = 1
    limit: float = 0.5

    def __post_init__(self) -> None:
        good = is_integer(self.length) and self.length >= 1
        require(good, self, "length", "a whole number of at least 1", self.length)
        good = is_finite_number(self.limit) and 0 < self.limit <= 1
        require(good, self, "limit", "a number above 0 and at most 1", self.limit)

    def evaluate(self, published: PublishedGraph) -> Verdict:
        """Count the pairs of every type."""
        if not isinstance(published, Graph):
            raise UnsupportedModelError(
                "LOpacity is a promise about a graph, and super-nodes are published; promise EdgeDisclosure."
            )
        if published.original_degrees is None:
            level = float(published.n_edges > 0)
            return Verdict(self, level, int(level > self.limit))
        types = DegreePairTypes.from_degrees(published.original_degrees)
        shares = types.opacities(types.count_within(published, self.length))
        return Verdict(self, float(shares.max(initial=0.0)), int(np.count_nonzero(shares > self.limit)))
