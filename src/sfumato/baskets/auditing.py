"""The audit of published sets, from what is published alone."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.baskets.published import PublishedSets, SetPromise
from sfumato.kinds.audit import KindAudit, audited
from sfumato.kinds.promise import KindPromise
from sfumato.validation import require


def audit(published: PublishedSets, *, models: Sequence[SetPromise]) -> KindAudit:
    """Judge published sets by every promise.

    Parameters
    ----------
    published : `release.baskets`, or what was read from its files.
    models : the promises, such as `sf.baskets.KMAnonymity(k=5, m=2)`.
    """
    check_models("audit", models)
    good = isinstance(published, PublishedSets)
    require(good, "audit", "published", "published sets, such as sf.baskets.Baskets", type(published).__name__)
    return audited(models, published, published.facts())


def check_models(owner: str, models: object) -> None:
    """Refuse what is no list of promises about sets."""
    good = isinstance(models, list | tuple) and bool(models) and all(isinstance(each, KindPromise) for each in models)
    require(good, owner, "models", "a list of at least one promise of sf.baskets", type(models).__name__)
