"""Removal of a sensitive kind of relations, and of as much of the others as betrays it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from sfumato._validation import require
from sfumato.core.algorithm import Request
from sfumato.errors import InfeasibleError, UnsupportedModelError
from sfumato.graphs._edge_types import count_typed_edges, keep_typed_edges, typed_edges, without_edge_type
from sfumato.graphs._kernels.edge_removal import select_within_limit
from sfumato.graphs.algorithms._base import GraphAlgorithm
from sfumato.graphs.algorithms.sangreea import SaNGreeA, merge_until_satisfied, min_cluster_size
from sfumato.graphs.clustered_graph import ClusteredGraph
from sfumato.graphs.graph import Graph
from sfumato.graphs.models._base import PublishedGraph
from sfumato.graphs.models.link_inference import ROUNDING, LinkInference
from sfumato.graphs.models.on_clusters import OnClusters

KEEP_OPTIONS = ("all", "some", "clusters", "capped-clusters", "none")


@dataclass(frozen=True, kw_only=True, repr=False)
class RemoveEdgeType(GraphAlgorithm):
    """Remove all relations of a sensitive kind, and publish those of other kinds as far as the promise allows [1]_.

    Relations whose kind is missing may be sensitive and are removed as well. Other relations are published with their
    kinds. Zheleva and Getoor remove a random share of them; a pair that stays betrays no less for that, so `"some"`
    takes the relations of every pair in random order and removes those with which the belief would exceed the limit.
    Super-nodes are grown and merged as by `Sangreea`, of relations that are not sensitive. Counts that are capped tell
    less than counts that keep the promise: super-nodes merge until the true counts keep it.

    Parameters
    ----------
    sensitive : the kind of relations that are never shown.
    keep : what is published of other kinds: `"all"` relations, or nothing at all if these break the promise; `"some"`,
        as many as the promise allows; `"clusters"`, how many relations of each kind there are inside and between
        super-nodes; `"capped-clusters"`, whether there are any, as a count of 1; or `"none"`.

    References
    ----------
    .. [1] Zheleva, Getoor, "Preserving the privacy of sensitive relationships in graph data", PinKDD 2007.
       https://doi.org/10.1007/978-3-540-78478-4_9
    """

    name = "kind-removal"
    reference = "Zheleva, Getoor 2007, https://doi.org/10.1007/978-3-540-78478-4_9"
    supports: ClassVar = (LinkInference, OnClusters)
    publishes_edge_types: ClassVar = True

    sensitive: str
    keep: Literal["all", "some", "clusters", "capped-clusters", "none"] = "some"

    @classmethod
    def usual(cls, data: PublishedGraph) -> Self:  # noqa: ARG003 - no network tells which of its kinds is sensitive
        """Refuse: which kind is sensitive must be said."""
        raise UnsupportedModelError(
            "Only the algorithm kind-removal keeps these models, and it needs to know the sensitive kind of relations; "
            "name it with sensitive, such as kind-removal:sensitive=love."
        )

    def __post_init__(self) -> None:
        require(bool(self.sensitive), self, "sensitive", "the name of a kind", self.sensitive)
        require(self.keep in KEEP_OPTIONS, self, "keep", f"one of {', '.join(KEEP_OPTIONS)}", self.keep)

    def search(self, request: Request[PublishedGraph]) -> PublishedGraph:
        """Remove relations, or count them."""
        assert isinstance(request.data, Graph)  # noqa: S101 - originals are graphs
        shown = without_edge_type(request.data, self.sensitive)
        limits = [each for each in request.models if isinstance(each, LinkInference)]
        if any(each.base > each.limit for each in limits):
            raise InfeasibleError("The base alone exceeds the limit of the belief; allow a larger belief.")
        if self.keep in {"clusters", "capped-clusters"}:
            label = SaNGreeA().grow_clusters(shown, min_cluster_size(request))
            found = merge_until_satisfied(shown, label, request, count_typed_edges)
            return found if self.keep == "clusters" else _cap_counts(found)
        if self.keep == "none":
            return keep_typed_edges(shown, np.zeros(len(typed_edges(shown)[0]), dtype=np.bool_))
        if self.keep == "some":
            for each in limits:
                shown = _remove_above_limit(shown, each, request)
        if any(each.evaluate(shown).violations for each in limits):
            raise InfeasibleError(
                "All other relations betray more than the limit; keep some, clusters or none of them."
            )
        return shown


def _remove_above_limit(shown: Graph, promise: LinkInference, request: Request[PublishedGraph]) -> Graph:
    """Remove relations, in random order, with which the belief in a pair would exceed the limit."""
    edge, kind, names = typed_edges(shown)
    factors = 1 - promise.leak_probabilities(names)[kind]
    left = np.full(shown.n_edges, 1.0 - promise.base)
    least = 1 - promise.limit - ROUNDING / 2
    return keep_typed_edges(
        shown, select_within_limit(edge, request.stream.permutation(len(edge)), factors, left, least)
    )


def _cap_counts(found: ClusteredGraph) -> ClusteredGraph:
    """Count at most one relation of each kind, as two single persons can have."""
    kinds = {}
    for name, rows in (found.edge_types or {}).items():
        kinds[name] = rows.copy()
        kinds[name][:, 2] = 1
    capped = ClusteredGraph.from_edge_types(found.keys, found.cluster, kinds)
    return replace(found, inner=capped.inner, between=capped.between, edge_types=kinds)
