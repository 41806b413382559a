"""Judge a published network by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.exceptions import InvalidParameterError
from sfumato.kinds.audit import Audit, evaluate_models
from sfumato.kinds.promise import Model
from sfumato.models.base import GroupModel
from sfumato.networks.clustered import ClusteredGraph
from sfumato.networks.promise import PublishedGraph
from sfumato.networks.promises.k_automorphism import KAutomorphism
from sfumato.networks.promises.persons_keep import OnClusters

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
    >>> from sfumato.networks import KDegreeAnonymity, Graph
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
        raise InvalidParameterError("models must be a list of promises, such as [sf.networks.KDegreeAnonymity(k=5)].")
    if not models:
        raise InvalidParameterError(
            "No model is promised; give at least one, such as sf.networks.KDegreeAnonymity(k=5)."
        )
    return tuple(OnClusters(model=model) if isinstance(model, GroupModel) else model for model in models)
