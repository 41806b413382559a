"""What searches for a network to publish have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sfumato.core.algorithm import Algorithm, Request
from sfumato.graphs.graph import Graph
from sfumato.graphs.models._base import PublishedGraph


class GraphAlgorithm(Algorithm[PublishedGraph]):
    """A search for a graph or super-nodes. Persons keep their numbers; whoever publishes gives them others.

    `shows_kinds` says whether kinds of edges are published.
    """

    publishes_edge_types: ClassVar[bool] = False

    def search_metrics(self, original: Graph, request: Request[PublishedGraph]) -> Mapping[str, float]:  # noqa: ARG002 - most tell nothing more
        """Return figures of the search besides what was lost, such as bounds."""
        return {}


def required_k(request: Request[PublishedGraph]) -> int:
    """Return the largest k of all promises that have one."""
    return max((int(getattr(model, "k", 1)) for model in request.models), default=1)
