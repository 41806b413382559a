"""What promises about networks have in common."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.core.model import AnonymitySetModel, Verdict
from sfumato.errors import UnsupportedModelError
from sfumato.graphs.clustered_graph import ClusteredGraph
from sfumato.graphs.graph import Graph

PublishedGraph: TypeAlias = Graph | ClusteredGraph


class GraphAnonymityModel(AnonymitySetModel[PublishedGraph]):
    """A promise that every person of a published graph looks like at least k - 1 others."""

    unit = "persons"

    def require_graph(self, published: PublishedGraph) -> Graph:
        """Return the graph that is judged, or refuse super-nodes."""
        if isinstance(published, ClusteredGraph):
            raise UnsupportedModelError(
                f"{type(self).__name__} is a promise about a graph, and super-nodes are published; promise a model of "
                "tables, such as sf.models.KAnonymity(k=5), or EdgeDisclosure."
            )
        return published

    def evaluate_classes(self, labels: npt.NDArray[np.integer]) -> Verdict:
        """Judge classes of persons who look alike."""
        sizes = np.bincount(labels)
        return Verdict(self, int(sizes.min()), int(sizes[sizes < self.k].sum()))
