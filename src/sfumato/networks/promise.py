"""What promises about networks have in common."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.exceptions import UnsupportedModelError
from sfumato.kinds.promise import KindPromise, KindVerdict
from sfumato.networks.clustered import ClusteredNetwork
from sfumato.networks.network import Network
from sfumato.validation import is_whole, require

Published: TypeAlias = Network | ClusteredNetwork


class GraphPromise(KindPromise[Published]):
    """A promise that every person of a published graph looks like at least k - 1 others."""

    bound = "min"
    counted = "persons"
    stricter: ClassVar = {"k": "larger"}
    k: int

    def __post_init__(self) -> None:
        require(is_whole(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)

    @property
    def limit(self) -> float:
        """The least number of persons who look alike."""
        return self.k

    def graph(self, published: Published) -> Network:
        """Return the graph that is judged, or refuse super-nodes."""
        if isinstance(published, ClusteredNetwork):
            raise UnsupportedModelError(
                f"{type(self).__name__} is a promise about a graph, and super-nodes are published; promise a model of "
                "tables, such as sf.KAnonymity(k=5), or EdgeConfidence."
            )
        return published

    def of_classes(self, labels: npt.NDArray[np.integer]) -> KindVerdict:
        """Judge classes of persons who look alike."""
        sizes = np.bincount(labels)
        return KindVerdict(self, int(sizes.min()), int(sizes[sizes < self.k].sum()))
