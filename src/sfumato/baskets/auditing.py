"""The audit of published sets, from what is published alone."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.baskets.published import PublishedTransactions, TransactionModel
from sfumato.kinds.audit import Audit, evaluate_models
from sfumato.kinds.promise import Model
from sfumato.validation import require


def audit(published: PublishedTransactions, *, models: Sequence[TransactionModel]) -> Audit:
    """Judge published sets by every promise.

    Parameters
    ----------
    published : `release.baskets`, or what was read from its files.
    models : the promises, such as `sf.baskets.KmAnonymity(k=5, m=2)`.
    """
    check_models("audit", models)
    good = isinstance(published, PublishedTransactions)
    require(good, "audit", "published", "published sets, such as sf.baskets.Transactions", type(published).__name__)
    return evaluate_models(models, published, published.summary())


def check_models(owner: str, models: object) -> None:
    """Refuse what is no list of promises about sets."""
    good = isinstance(models, list | tuple) and bool(models) and all(isinstance(each, Model) for each in models)
    require(good, owner, "models", "a list of at least one promise of sf.baskets", type(models).__name__)
