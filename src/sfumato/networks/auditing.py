"""Judge a published network by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.exceptions import InvalidParameterError
from sfumato.kinds.audit import KindAudit, audited
from sfumato.kinds.promise import KindPromise
from sfumato.models.base import PrivacyModel
from sfumato.networks.clustered import ClusteredNetwork
from sfumato.networks.promise import Published
from sfumato.networks.promises.k_automorphism import KAutomorphism
from sfumato.networks.promises.persons_keep import PersonsKeep

Promised = KindPromise[Any] | PrivacyModel
UNDECIDED = "promises not decided"


def audit(published: Published, *, models: Sequence[Promised]) -> KindAudit:
    """Judge a published network, and nothing else.

    Parameters
    ----------
    published : the network, or one of super-nodes.
    models : what was promised; models of tables are about the persons of each super-node.

    Examples
    --------
    >>> from sfumato.networks import KDegree, Network
    >>> ring = Network.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> audit(ring, models=[KDegree(k=4)]).holds
    True
    """
    facts: dict[str, float] = {"persons": len(published), "edges": published.size}
    if isinstance(published, ClusteredNetwork):
        inner, between = published.beliefs()
        facts["super-nodes"] = len(published.inner)
        facts["largest belief"] = round(max(float(inner.max(initial=0)), float(between.max(initial=0))), 6)
    else:
        facts["smallest degree class"] = int(np.unique(published.degrees, return_counts=True)[1].min())
    asked = promises(models)
    open_ = sum(isinstance(model, KAutomorphism) and not model.decided(published) for model in asked)
    return audited(asked, published, facts | ({UNDECIDED: open_} if open_ else {}))


def promises(models: Sequence[Promised]) -> tuple[KindPromise[Any], ...]:
    """Return promises about networks, those of tables for the persons of super-nodes."""
    if isinstance(models, KindPromise | PrivacyModel) or not all(
        isinstance(model, KindPromise | PrivacyModel) for model in models
    ):
        raise InvalidParameterError("models must be a list of promises, such as [sf.networks.KDegree(k=5)].")
    if not models:
        raise InvalidParameterError("No model is promised; give at least one, such as sf.networks.KDegree(k=5).")
    return tuple(PersonsKeep(model=model) if isinstance(model, PrivacyModel) else model for model in models)
