"""A release of a network: what is published, what it keeps, what it lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sfumato.core.audit import Audit, evaluate_models
from sfumato.core.model import Model
from sfumato.core.release import Release
from sfumato.errors import InvalidParameterError
from sfumato.graphs._figures import plot_candidates, plot_degrees, plot_super_nodes
from sfumato.graphs.clustered_graph import ClusteredGraph
from sfumato.graphs.graph import Graph
from sfumato.graphs.io import DESCRIPTIONS, equal_published, read_published, write_published
from sfumato.graphs.metrics import largest_eigenvalues
from sfumato.graphs.models._base import PublishedGraph
from sfumato.graphs.models.k_automorphism import KAutomorphism
from sfumato.graphs.models.on_clusters import OnClusters
from sfumato.report.page import ReportSection
from sfumato.tables.models.base import GroupModel

# Judge a published network by itself.

AnyGraphModel = Model[Any] | GroupModel
UNDECIDED = "promises not decided"


def audit(published: PublishedGraph, *, models: Sequence[AnyGraphModel]) -> Audit:
    """Judge a published network, and nothing else.

    Parameters
    ----------
    published : the network, or one of super-nodes.
    models : what was promised; models of tables are about the persons of each super-node.

    Examples
    --------
    >>> from sfumato.graphs import KDegreeAnonymity, Graph
    >>> ring = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> audit(ring, models=[KDegreeAnonymity(k=4)]).holds
    True
    """
    facts: dict[str, float] = {"persons": len(published), "edges": published.n_edges}
    if isinstance(published, ClusteredGraph):
        inner, between = published.edge_probabilities()
        facts["super-nodes"] = len(published.inner)
        facts["largest belief"] = round(max(float(inner.max(initial=0)), float(between.max(initial=0))), 6)
    else:
        facts["smallest degree class"] = int(np.unique(published.degrees, return_counts=True)[1].min())
    asked = as_models(models)
    open_ = sum(isinstance(model, KAutomorphism) and not model.is_decided(published) for model in asked)
    return evaluate_models(asked, published, facts | ({UNDECIDED: open_} if open_ else {}))


def as_models(models: Sequence[AnyGraphModel]) -> tuple[Model[Any], ...]:
    """Return promises about networks, those of tables for the persons of super-nodes."""
    if isinstance(models, Model | GroupModel) or not all(isinstance(model, Model | GroupModel) for model in models):
        raise InvalidParameterError("models must be a list of promises, such as [sf.graphs.KDegreeAnonymity(k=5)].")
    if not models:
        raise InvalidParameterError("No model is promised; give at least one, such as sf.graphs.KDegreeAnonymity(k=5).")
    return tuple(OnClusters(model=model) if isinstance(model, GroupModel) else model for model in models)


METRICS_NOTE = (
    "Distances are means: of degrees in neighbors per person, of the ten largest eigenvalues in their own size. "
    "Communities are kept wholly at 1, and no better than by chance at 0. Paths are measured from everybody, or from "
    "1,000 persons if there are more; then the range in brackets holds the mean of all with a confidence of 95 %."
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GraphRelease(Release[PublishedGraph]):
    """A published network with its audit, what it lost, and what made it.

    Parameters
    ----------
    published, audit, metrics, recipe, internal : as for every kind of data.
    original : the network that it was made of, which the report compares it with.
    """

    title: ClassVar[str] = "a network"
    original: Graph

    @property
    def graph(self) -> PublishedGraph:
        """The published network: a graph, or super-nodes."""
        return self.published

    def _write_files(self, folder: Path, table_format: str) -> None:
        write_published(self.published, folder, table_format)

    def _read_files(self, folder: Path) -> PublishedGraph:
        found = read_published(folder, self.published.schema)
        if isinstance(found, Graph) and isinstance(self.published, Graph):
            return replace(found, alignment=self.published.alignment)  # the owner's proof is in no public file
        return found

    def _audit(self, published: PublishedGraph, models: Sequence[Model[Any]]) -> Audit:
        return audit(published, models=models)

    def _equals_published(self, read: PublishedGraph) -> bool:
        return equal_published(read, self.published)

    def _describe_files(self, folder: Path) -> Mapping[str, str]:
        return {path.name: DESCRIPTIONS[path.stem] for path in sorted(folder.iterdir())}

    def _sections(self) -> Sequence[ReportSection]:
        found, drawn = self.published, self.published
        told = [METRICS_NOTE]
        pictures = []
        if isinstance(found, ClusteredGraph):
            drawn = found.sample(seed=0)
            told.append(
                "Edges are published as counts of super-nodes: figures are means over 20 graphs with these counts, and "
                "degrees and eigenvalues below are those of one of them. Everybody in a super-node looks alike. Counts "
                "between groups are edges between persons with two values of an attribute, and their error is relative."
            )
            pictures = [plot_super_nodes(found)]
        assert isinstance(drawn, Graph)  # noqa: S101 - what is no super-nodes is a network
        rows = [
            (title, *(f"{each:,.4g}" for each in largest_eigenvalues(graph).tolist()))
            for title, graph in (("original", self.original), ("published", drawn))
        ]
        head = ("largest eigenvalues", *(str(place) for place in range(1, len(rows[0]))))
        shown = [plot_degrees(self.original, drawn), plot_candidates(self.original, found), *pictures]
        return [ReportSection(title="Structure", sentences=told, head=head, rows=rows, pictures=shown)]
