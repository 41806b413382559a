"""What promises about networks have in common."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.exceptions import UnsupportedModelError
from sfumato.kinds.crowd_promise import CrowdPromise
from sfumato.kinds.promise import KindVerdict
from sfumato.networks.clustered import ClusteredNetwork
from sfumato.networks.network import Network

Published: TypeAlias = Network | ClusteredNetwork


class GraphPromise(CrowdPromise[Published]):
    """A promise that every person of a published graph looks like at least k - 1 others."""

    counted = "persons"

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
