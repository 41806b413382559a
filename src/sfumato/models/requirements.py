"""Several requirements at once, and which of them the others imply."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.models.base import GroupModel
from sfumato.models.k_anonymity import KAnonymity


def drop_implied(models: Sequence[GroupModel]) -> tuple[GroupModel, ...]:
    """Drop every k-anonymity that another one implies: on fewer quasi-identifiers, with a k that is no larger.

    Groups on fewer quasi-identifiers are unions of groups on more, so they are at least as large.

    >>> drop_implied([KAnonymity(k=5, quasi=["age", "zip"]), KAnonymity(k=3, quasi=["age"])])
    (KAnonymity(k=5, quasi=['age', 'zip']),)
    """
    kept: list[GroupModel] = []
    for place, model in enumerate(models):
        others = [*kept, *models[place + 1 :]]
        if not isinstance(model, KAnonymity) or not any(_implies(other, model) for other in others):
            kept.append(model)
    return tuple(kept)


def _implies(strong: GroupModel, weak: KAnonymity) -> bool:
    if not isinstance(strong, KAnonymity) or strong.k < weak.k:
        return False
    return not strong.scope or (bool(weak.scope) and set(weak.scope) <= set(strong.scope))
